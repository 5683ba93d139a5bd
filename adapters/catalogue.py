"""The catalogue of axes: `deployments/axes.toml`, read as data."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from domain.axis import AstGrep, Axis, CatalogueEntry
from domain.value import Refused

DEPLOYMENTS = Path(__file__).resolve().parent.parent / "deployments"
CATALOGUE = DEPLOYMENTS / "axes.toml"
REVIEWERS = DEPLOYMENTS / "reviewers.toml"
"""The rules of the reviewers that need no key, one entry for a family."""


def read_catalogue(path: Path = CATALOGUE) -> dict[str, CatalogueEntry]:
    """All named axes. Rule files are read into their axis, so that it means the same everywhere."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Refused(
            f"no catalogue of axes at {str(path)!r} ({error.strerror}). It comes with Swathe: install Swathe again."
        ) from None
    except ValueError as error:
        raise Refused(
            f"the catalogue {str(path)!r} is no TOML: {error}. Correct it there."
        ) from None
    return {name: _entry(name, table, path) for name, table in tables.items()}


def with_rule_text(axis: Axis, folder: Path) -> Axis:
    """The axis with the text of its rule file in it (paths are relative to `folder`).

    So a form, a worker on another machine and a resumed run all mean the same rule.
    """
    if not isinstance(axis, AstGrep) or "\n" in axis.rule:
        return axis
    path = folder / axis.rule
    try:
        return axis.model_copy(update={"rule": path.read_text("utf-8")})
    except OSError as error:
        raise Refused(
            f"no rule file {axis.rule!r} in {str(folder)!r} ({error.strerror}). Name one that exists, "
            f"as in ast-grep:rules/no-print.yml."
        ) from None
    except UnicodeDecodeError:
        raise Refused(f"the rule file {str(path)!r} is not UTF-8. Save it as UTF-8.") from None


def _entry(name: str, table: Any, path: Path) -> CatalogueEntry:
    try:
        entry = CatalogueEntry.model_validate({"name": name, **table})
    except (ValidationError, TypeError) as error:
        raise Refused(
            f"the axis {name!r} in {str(path)!r} is not right: {_said(error)}. Correct it there."
        ) from None
    engine = with_rule_text(entry.engine, path.parent)
    return entry.model_copy(update={"engine": engine})


def _said(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "it is no table"
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
    )
