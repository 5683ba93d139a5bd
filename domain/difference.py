"""What differs between what stands on a server and what a file asks for."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, cast

from domain.value import Value

What = Literal["work pool", "deployment", "automation"]
SHOWN = 120
"""Characters of a value that are shown."""


class Difference(Value):
    """One field, before and after."""

    field: str
    before: str
    after: str


class Change(Value):
    """What a deploy does, or would do, to one thing on the server."""

    what: What
    name: str
    new: bool = False
    gone: bool = False
    """It left the file, and is taken from the server."""
    differences: tuple[Difference, ...] = ()

    @property
    def needed(self) -> bool:
        return self.new or self.gone or bool(self.differences)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Field by field, as `a.b.c`; what only the server has is told too."""
    return tuple(_differences(before, after, ""))


def told_as_one(found: Iterable[Difference], within: str, name: str) -> tuple[Difference, ...]:
    """What differs `within` a field becomes one difference: a person reads a form on its page, not as a schema."""
    found = tuple(found)
    inside = [one for one in found if one.field.split(".")[0] == within]
    rest = tuple(one for one in found if one not in inside)
    said = Difference(field=name, before="another one", after="as the flow has it now")
    return (*rest, said) if inside else rest


def _differences(before: Any, after: Any, path: str) -> Iterator[Difference]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        old, new = cast("Mapping[str, Any]", before), cast("Mapping[str, Any]", after)
        for name in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(name), new.get(name), f"{path}.{name}".lstrip("."))
        return
    yield Difference(field=path, before=_shown(before), after=_shown(after))


def _shown(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
