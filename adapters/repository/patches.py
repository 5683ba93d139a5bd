"""Patches of a chain, read for what they add: line by line, with its path and its number."""

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapters.repository.secrets import Added
from domain.commit import Change

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def added_lines(patches: bytes, shas: Sequence[str]) -> Iterator[Added]:
    """The lines that each commit adds, from `git diff-tree --stdin -p -U0`. Hunks are counted, not guessed."""
    known = {sha.encode(): sha for sha in shas}
    commit, path, number, gone, new = "", "", 0, 0, 0
    for line in patches.split(b"\n"):
        if new and line[:1] == b"+":
            yield Added(commit, path, number, _text(line[1:]))
            number, new = number + 1, new - 1
        elif gone and line[:1] == b"-":
            gone -= 1
        elif hunk := _HUNK.match(line):
            number = int(hunk[2])
            gone, new = int(hunk[1] or 1), int(hunk[3] or 1)
        elif line[:4] == b"+++ ":
            path = _path(line[4:])
        elif (sha := known.get(line.split(b" ", 1)[0])) is not None:
            commit = sha


def told(
    messages: Iterable[tuple[str, str]], changes: Mapping[str, tuple[Change, ...]]
) -> Iterator[Added]:
    """The lines of each commit's message, and the names of the files it touches."""
    for sha, message in messages:
        names = (change.path for change in changes.get(sha, ()) if not change.deletes)
        for number, line in enumerate((*message.splitlines(), *names)):
            yield Added(sha, "", number, line)


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "surrogateescape")


def _path(name: bytes) -> str:
    r"""From `b/a name<TAB>`, or `"b/a\\nname"`."""
    name = name.rstrip(b"\t\r")
    if name[:1] == b'"':
        name = codecs.escape_decode(name[1:-1])[0]  # pyright: ignore -- typeshed does not know it
    return os.fsdecode(name[2:])
