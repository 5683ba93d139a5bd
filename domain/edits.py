"""Edits to a text, one site after the other.

Sites that touch each other's ground wait for the next scan: after the first is applied, the
other's offsets mean nothing any more. The engine will say what is left of it.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from domain.site import Edit, Site
from domain.value import Value


class Plan(Value):
    """What can be done to one file from one listing."""

    steps: tuple[tuple[Site, ...], ...] = ()
    """Each step is one edit; several findings may ask for the very same one."""
    waiting: tuple[Site, ...] = ()


def applied(text: str, edits: Sequence[Edit]) -> str:
    """`text` with all `edits`, which must not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=_place):
        if edit.start < at or edit.end < edit.start or edit.end > len(text):
            raise ValueError(f"the edit {edit!r} overlaps another one or leaves the text")
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def planned(sites: Sequence[Site]) -> Plan:
    """Which of one file's `sites` can be applied from the same text, in order.

    The span of a site, from its first edit to its last, is its ground: two sites may not even
    touch (as in ruff's own `--fix`, so that both come to the same end).
    """
    steps: list[list[Site]] = []
    waiting: list[Site] = []
    last_end = -1
    for site in sorted((site for site in sites if site.edits), key=_first_edit):
        start, end = _ground(site)
        if start > last_end and _sound(site.edits):
            steps.append([site])
            last_end = end
        elif steps and site.edits == steps[-1][0].edits:
            steps[-1].append(site)
        else:
            waiting.append(site)
    return Plan(steps=tuple(tuple(step) for step in steps), waiting=tuple(waiting))


def successive(text: str, steps: Sequence[Sequence[Site]]) -> Iterator[str]:
    """The whole text after each step; each holds all the earlier ones' edits."""
    done, at = "", 0
    for step in steps:
        _, end = _ground(step[0])
        local = [
            Edit(start=edit.start - at, end=edit.end - at, text=edit.text) for edit in step[0].edits
        ]
        done += applied(text[at:end], local)
        at = end
        yield done + text[at:]


class Drift(Value):
    """Which rows of a text an unknown edit has moved, and by how much."""

    first: int
    """Rows before this one (from 1) are where they were."""
    last: int
    """Rows after this one have moved by `rows`."""
    rows: int

    def moved(self, row: int, end_row: int) -> tuple[int, int] | None:
        """Where the rows are now; None when the edit touched them."""
        if end_row < self.first:
            return row, end_row
        if row > self.last:
            return row + self.rows, end_row + self.rows
        return None


def drift(before: Sequence[str], after: Sequence[str]) -> Drift:
    """What happened between two versions of a file, given as rows."""
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail_limit = shorter - head
    tail = next((i for i in range(tail_limit) if before[-1 - i] != after[-1 - i]), tail_limit)
    return Drift(first=head + 1, last=len(before) - tail, rows=len(after) - len(before))


def _place(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


def _first_edit(site: Site) -> int:
    return min(edit.start for edit in site.edits)


def _ground(site: Site) -> tuple[int, int]:
    return _first_edit(site), max(edit.end for edit in site.edits)


def _sound(edits: Sequence[Edit]) -> bool:
    """Whether the edits of one site leave each other alone."""
    places = sorted(map(_place, edits))
    return all(one[1] <= other[0] for one, other in pairwise(places))
