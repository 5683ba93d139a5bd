"""The `read` tool: a file as a model sees it, and what of it was shown."""

from typing import NamedTuple

from adapters.models.files import Files
from adapters.models.forms import FileRefused
from adapters.models.showing import OUTPUT_CHARACTERS, fitting, numbered, rest_of, shown_of
from adapters.models.toolbox import Read
from domain.shown import Shown

ROOM = 200
"""Characters, for the words around a piece of a line."""


class Look(NamedTuple):
    """What a model is shown of one file."""

    text: str
    shown: list[Shown]


def look(files: Files, path: str, given: Read) -> Look:
    """Lines of a file from where it is asked for, as many as fit beside the other files; or the rest of a long one."""
    lines = files.read(path).text.split("\n")
    most = OUTPUT_CHARACTERS * 2 // len(given.paths)
    if given.column > 1:
        return _rest(path, lines, given, most - ROOM)
    before = given.line - 1
    part = lines[before : before + given.lines]
    part = part[: fitting(part, given.line, most)]
    after = len(lines) - (before + len(part))
    more = (
        f"\n({after:,} more lines; go on with line {given.line + len(part)})" if after > 0 else ""
    )
    text = f"{path}\n{numbered(part, given.line)}{more}"
    return Look(text, shown_of(path, part, given.line, ends=not after))


def _rest(path: str, lines: list[str], given: Read, most: int) -> Look:
    line = lines[given.line - 1] if given.line <= len(lines) else ""
    if given.column > len(line):
        raise FileRefused(
            f"Line {given.line} of {path} has {len(line):,} characters, none from {given.column:,} on."
        )
    ends = given.line == len(lines)
    text, piece = rest_of(path, given.line, line, given.column, most, ends=ends)
    return Look(f"{path}\n{text}", [piece])
