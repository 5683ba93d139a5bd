"""Merging three contents line by line, where that is plain to see."""

Lines = list[bytes]

APART = 3
"""Lines that both sides left alone between their changes; closer than that, git decides."""


def merged(ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """Their change put into ours, when it lies wholly above or wholly below all of ours; else None.

    None is no conflict: it means that this cannot tell.
    """
    at, here, there = (text.splitlines(keepends=True) for text in (base, ours, theirs))
    if not all(_splits_as_git_does(text) for text in (ours, base, theirs)):
        return None
    top, bottom = _unchanged(at, there)
    above, below = _unchanged(at, here)
    new = there[top : len(there) - bottom]
    if top + bottom > len(at) or above + below > len(at):
        return None
    if len(at) - bottom + APART <= above:
        return b"".join([*here[:top], *new, *here[len(at) - bottom :]])
    if len(at) - below + APART <= top:
        shift = len(here) - len(at)
        return b"".join([*here[: top + shift], *new, *here[len(at) - bottom + shift :]])
    return None


def _splits_as_git_does(text: bytes) -> bool:
    """`bytes.splitlines` also breaks at a lone carriage return."""
    return text.count(b"\r") == text.count(b"\r\n")


def _unchanged(base: Lines, side: Lines) -> tuple[int, int]:
    """How many lines are equal at the top, and how many of the others at the bottom."""
    most = min(len(base), len(side))
    top = next((n for n in range(most) if base[n] != side[n]), most)
    most -= top
    bottom = next((n for n in range(most) if base[-1 - n] != side[-1 - n]), most)
    return top, bottom
