"""The five kinds of axis: the form in which the Prefect UI asks for one.

A plain union, not a discriminated one: the UI shows `anyOf` as tabs and `oneOf` as raw JSON
(both its generations were tried).
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from domain.value import Value

NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
KIND = "It goes with the tab, and stays as it is."
SELECTORS = r"^[A-Z]+[0-9]*(,[A-Z]+[0-9]*)*$"


class Catalogue(Value):
    """An axis that has a name in `deployments/axes.toml`."""

    model_config = ConfigDict(title="From the catalogue")

    kind: Literal["catalogue"] = Field(default="catalogue", title="Kind", description=KIND)
    name: str = Field(
        pattern=NAME,
        title="Name",
        description="A name from deployments/axes.toml, as in pyupgrade.",
    )


class Ruff(Value):
    """Findings of ruff that ruff itself can fix."""

    model_config = ConfigDict(title="Ruff rules")

    kind: Literal["ruff"] = Field(default="ruff", title="Kind", description=KIND)
    select: str = Field(
        pattern=SELECTORS,
        title="Selectors",
        description="Rules or families of rules, comma-separated, as in UP,C4.",
    )
    unsafe: bool = Field(
        default=False,
        title="Unsafe fixes too",
        description="Apply fixes that may change what the code does, or lose comments.",
    )


class AstGrep(Value):
    """Matches of a structural rule, in any language ast-grep knows."""

    model_config = ConfigDict(title="ast-grep rule")

    kind: Literal["ast-grep"] = Field(default="ast-grep", title="Kind", description=KIND)
    rule: str = Field(
        min_length=1,
        title="Rule",
        description="The text of a rule file, in YAML. It needs a `fix`.",
    )


class Commands(Value):
    """Two commands of yours: one lists the sites, one edits a site."""

    model_config = ConfigDict(title="Two commands")

    kind: Literal["cmd"] = Field(default="cmd", title="Kind", description=KIND)
    find: str = Field(
        min_length=1,
        title="Find",
        description='Prints one site per line, as in {"path": "a.py", "line": 3}. '
        "Optional: end_line, rule, message, id.",
    )
    edit: str = Field(
        min_length=1,
        title="Edit",
        description="Changes one site, given in SWATHE_SITE (JSON), SWATHE_PATH and SWATHE_LINE.",
    )


class Sentence(Value):
    """An improvement in words. It takes a model to carry it out."""

    model_config = ConfigDict(title="A sentence")

    kind: Literal["sentence"] = Field(default="sentence", title="Kind", description=KIND)
    text: str = Field(
        min_length=1,
        title="Sentence",
        description="What every place should become, as in: split every file over 600 lines.",
    )


Engine = Ruff | AstGrep | Commands
"""Axes that need no model: a rule says what to change."""

Axis = Catalogue | Ruff | AstGrep | Commands | Sentence


class CatalogueEntry(Value):
    """A named axis: what it is for, and the engine that carries it out."""

    name: str = Field(pattern=NAME)
    sentence: str
    engine: Annotated[Engine, Field(discriminator="kind")]
    probe: str = ""
    """The command by which a person lists the sites that remain."""
