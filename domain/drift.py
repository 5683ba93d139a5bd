"""Where a line of a file is after an edit: an answer to a finding outlives what is changed elsewhere in its file."""

import re
from typing import NamedTuple

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", re.MULTILINE)


class Hunk(NamedTuple):
    """Lines `first` to `first + gone - 1` became `came` lines; where none were, the ones after `first`."""

    first: int
    gone: int
    came: int


def hunks(diff: str) -> tuple[Hunk, ...]:
    """Of a unified diff without context (`git diff -U0`) of one file."""
    return tuple(
        Hunk(int(first), int(gone or 1), int(came or 1))
        for first, gone, came in _HUNK.findall(diff)
    )


def moved(line: int, changed: tuple[Hunk, ...]) -> int | None:
    """The number that a line has after the change; None: it was changed itself."""
    shift = 0
    for hunk in changed:
        if hunk.gone and hunk.first <= line < hunk.first + hunk.gone:
            return None
        before = hunk.first + hunk.gone <= line if hunk.gone else hunk.first < line
        shift += (hunk.came - hunk.gone) * before
    return line + shift
