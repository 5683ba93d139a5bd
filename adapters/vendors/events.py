"""What a vendor's agent says while it works: one JSON object a line, of which only the end is of use to us."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from domain.role import PassReport

SAID_CHARACTERS = 300


class Heard(NamedTuple):
    """The end of an agent's work, in its own words. A claim, and no more."""

    report: PassReport | None = None
    """None: it ended without one, whatever it calls that."""
    trouble: str = ""


def spoken(output: str) -> Iterator[Mapping[str, Any]]:
    """Each whole object. Lines that are none were cut, or are words for a person."""
    for line in output.splitlines():
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield cast("Mapping[str, Any]", found)


def part(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object in an object; an empty one, where there is none."""
    found = said.get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def report_in(given: object) -> PassReport | None:
    """A report that keeps to its form, as an object or as its text."""
    try:
        if isinstance(given, str):
            given = json.loads(given)
        return PassReport.model_validate(given)
    except (ValueError, ValidationError, RecursionError):
        return None


def brief(text: object) -> str:
    return " ".join(str(text or "").split())[:SAID_CHARACTERS]
