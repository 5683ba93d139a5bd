"""The run form of a flow: what Prefect makes of its parameters, as a person can fill it in.

Prefect titles a field by its parameter's name, and both its UIs show what may be None as a pair of tabs,
`float` and `None`. Here a field has a title in words, one that may be left empty is one box, and what only an
engine fills in is not asked for. The flow takes the same values: a form is its schema, made narrower.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

Schema = dict[str, Any]

NOT_ASKED = ("run",)
"""What only an engine fills in."""
ORDER = ("axis", "hired", "reviewers", "only_rules", "budget")
"""What a person thinks of first; then come the others, in the flow's own order."""
LAST = ("target",)
"""What is hardly ever filled in: it is the work pool's."""
TITLES = {
    "approve": "Approve the list first",
    "ask_minutes": "Minutes for an answer",
    "confirm": "Second opinion",
    "grain": "One commit settles",
    "hired": "Model",
    "retry": "Try again",
    "settings": "How to review",
    "teach": "Teach first",
    "verify_each": "Verify each commit alone",
}
"""Where the parameter's name does not say it."""
NOTHING = {
    "axis": "Whatever is wrong",
    "hired": "Rules alone",
    "target": "The work pool's",
}
"""The tab of what may be None, where a group stands in the other."""
GROUPS = {"Hired": "A model", "Target": "Another repository"}
"""The other tab."""
MENU = ("Catalogue", "name")
"""The field whose entries are the names of the catalogue."""


def form(schema: Mapping[str, Any], axes: Iterable[str] = ()) -> Schema:
    """The form for `schema`, Prefect's own; `axes`: the names of the catalogue."""
    made = dict(schema)
    asked = [name for name in made["properties"] if name not in NOT_ASKED]
    names = sorted(asked, key=_place)
    made["properties"] = {
        name: _parameter(name, made["properties"][name], place) for place, name in enumerate(names)
    }
    if "definitions" in made:
        made["definitions"] = {
            name: _group(name, group, list(axes)) for name, group in made["definitions"].items()
        }
    return made


def title(name: str) -> str:
    """A parameter, as the form calls it."""
    return TITLES.get(name, name.replace("_", " ").capitalize())


def _place(name: str) -> int:
    if name in LAST:
        return len(ORDER) + 1
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _parameter(name: str, field: Mapping[str, Any], position: int) -> Schema:
    made: Schema = {**_field(field), "title": title(name), "position": position}
    if "anyOf" in made:
        made["anyOf"] = [
            {**one, "title": NOTHING.get(name, "None")} if one.get("type") == "null" else one
            for one in made["anyOf"]
        ]
    return made


def _group(name: str, group: Mapping[str, Any], axes: list[str]) -> Schema:
    fields = {key: _field(field) for key, field in group.get("properties", {}).items()}
    if name == MENU[0] and axes:
        del fields[MENU[1]]["pattern"]
        fields[MENU[1]]["enum"] = axes
    return {**group, "title": GROUPS.get(name, group["title"]), "properties": fields}


def _field(field: Mapping[str, Any]) -> Schema:
    """A field that may be left empty is one box, and shows no default that is no value."""
    made = dict(field)
    one = [member for member in made.get("anyOf", ()) if member.get("type") != "null"]
    if len(one) == 1 and "$ref" not in one[0]:
        del made["anyOf"]
        made |= one[0]
    if "" in made.get("enum", ()):
        made["enum"] = [word for word in made["enum"] if word]
    default = made.get("default")
    if isinstance(default, dict):
        said = cast("Schema", default)
        made["default"] = {key: value for key, value in said.items() if not _empty(value)}
    elif _empty(default) and "anyOf" not in made:
        made.pop("default", None)
    return made


def _empty(value: object) -> bool:
    return value is None or value == ""
