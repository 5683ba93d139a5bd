"""The tools of a model: their names, what they take, and how they are described to it.

The same in every phase and for both families: they stand before everything else in the cached prefix. Each word of
a description is paid in every conversation.
"""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai.tools import ToolDefinition

from domain.role import ENDS


class Takes(BaseModel):
    """What a tool takes. What is not listed is a mistake that the model is told of."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Bash(Takes):
    command: str
    seconds: int = Field(default=120, ge=1, le=1800)


class Read(Takes):
    paths: list[str] = Field(min_length=1, max_length=10)
    line: int = Field(default=1, ge=1)
    lines: int = Field(default=500, ge=1, le=2000)
    column: int = Field(default=1, ge=1)


class Grep(Takes):
    pattern: str
    glob: str = ""
    ignore_case: bool = False


class Glob(Takes):
    pattern: str


class Edit(Takes):
    path: str
    old: str
    new: str
    all: bool = False


class ApplyPatch(Takes):
    patch: str


class Write(Takes):
    path: str
    text: str


class Todo(Takes):
    items: list[str]


class RunGate(Takes):
    pass


class Ask(Takes):
    question: str
    assumption: str


TOOLS: Mapping[str, type[Takes]] = {
    "bash": Bash,
    "read": Read,
    "grep": Grep,
    "glob": Glob,
    "edit": Edit,
    "apply_patch": ApplyPatch,
    "write": Write,
    "todo": Todo,
    "run_gate": RunGate,
    "ask": Ask,
}

MEANT: Mapping[str, str] = {
    "bash": (
        "Run a command in a fresh shell at the repository's root: no state is kept, no input, no network. The exit "
        "code comes first; long output is cut in its middle. Everything it started ends with it."
    ),
    "read": "Show files with line numbers, from `line` on; with `column`, a line too long for one look, from there on.",
    "grep": "Search tracked and new files with an extended regular expression; `glob` as in src/**/*.py.",
    "glob": "List files, as in src/**/*.py. Ignored files are left out.",
    "edit": (
        "Replace text that stands in the file exactly once, or everywhere with `all`. Copy it exactly, without the "
        "line numbers."
    ),
    "apply_patch": """Change files, all or none:
*** Begin Patch
*** Update File: PATH (or Add File, Delete File)
@@ a line above the change, to say where
 context
-old
+new
*** End Patch""",
    "write": "Write a whole file, new or old.",
    "todo": "Replace your todo list: `[ ]`, `[>]` or `[x]`, then what.",
    "run_gate": "Let the engine check the tree as it is. Slow; a tree it has seen is answered at once.",
    "ask": (
        "Tell the operator a question, or how you read the axis, and what you assume. Do not wait: go on with the "
        "assumption."
    ),
}

WRITES = frozenset({"edit", "apply_patch", "write"})
"""Not in a phase that only reads."""

ENDINGS: Mapping[str, type[BaseModel]] = dict(ENDS.values())
"""The tools that end a phase, by name."""


def definitions() -> list[ToolDefinition]:
    """All tools, in one order for ever."""
    tools = [_definition(name, takes, MEANT[name]) for name, takes in TOOLS.items()]
    return tools + [_definition(name, takes, _ends(name)) for name, takes in ENDINGS.items()]


def _ends(name: str) -> str:
    phases = (phase for phase, (end, _) in ENDS.items() if end == name)
    return f"End a {' or '.join(phases)} phase."


def _definition(name: str, takes: type[BaseModel], description: str) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description=description,
        parameters_json_schema=schema(takes),
        # Strict schemas are rewritten for each family, and have no defaults: what is wrong, we say.
        strict=False,
    )


def schema(takes: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema without what only costs tokens: titles, and descriptions of classes."""
    made = takes.model_json_schema()
    made.pop("description", None)
    for definition in cast("dict[str, dict[str, Any]]", made.get("$defs", {})).values():
        definition.pop("description", None)
    return cast("dict[str, Any]", _untitled(made))


def _untitled(value: object) -> object:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        # A property may be named `title`; its value is an object then, not a text.
        return {k: _untitled(v) for k, v in pairs if not (k == "title" and isinstance(v, str))}
    if isinstance(value, list):
        return [_untitled(item) for item in cast("list[object]", value)]
    return value
