"""Plans, verdicts and passes for the tests of the review's rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from domain.blocker import Blocker
from domain.chunk import Chunk, Part, Plan
from domain.review_state import Look, ReviewState
from domain.shown import Shown
from domain.state import State, read, written
from domain.sweep import Sweep, Terms
from domain.turns import converged, next_look
from domain.verdict import Count, Engagement, Verdict

DUAL = ("claude", "gpt")
REF = "refs/swathe/x/review"


def part(path: str, blob: str = "1", first: int = 1, last: int = 0) -> Part:
    return Part(path, f"{path}@{blob}", first, last, bytes=400, tokens=100)


def planned(*chunks: Sequence[Part], skipped: Mapping[str, int] | None = None) -> Plan:
    named = tuple(Chunk(f"chunk {n}", tuple(parts)) for n, parts in enumerate(chunks))
    return Plan(named, dict(skipped or {}), digest=repr(named))


def sweep(*chunks: Sequence[Part], **terms: Any) -> Sweep:
    return Sweep(planned(*chunks), Terms(**{"families": DUAL, **terms}))


def chunks(size: int, **blobs: str) -> list[list[Part]]:
    """`size` chunks of one file each: p0/f.py, p1/f.py, …; `p1="2"` is another content of the second."""
    return [[part(f"p{n}/f.py", blobs.get(f"p{n}", "1"))] for n in range(size)]


def path(number: int) -> str:
    return f"p{number}/f.py"


CLEAN = Count(kind="clean")


def blocked(*places: str, evidence: str = "") -> Count:
    """`p0/f.py:3`."""
    return Count(kind="blocked", blockers=tuple(blocker(place, evidence) for place in places))


def blocker(place: str, evidence: str = "") -> Blocker:
    at, _, line = place.rpartition(":")
    return Blocker(path=at, line=int(line), why="it is wrong", new_evidence=evidence)


def verdict(**said: Any) -> Verdict:
    return Verdict.model_validate({"family": "claude", "approved": True, **said})


def engaged(*paths: str, last: int = 10) -> Engagement:
    return Engagement(seen=tuple(Shown(path=path, first=1, last=last, ends=True) for path in paths))


def kept(state: ReviewState) -> ReviewState:
    """As another process reads what was written."""
    found = read(written(State(axis="review", review=state)).encode(), REF).review
    assert found is not None
    return found


Reviewer = Callable[[Look], Count]


def all_clean(look: Look) -> Count:
    return CLEAN


def passed(state: ReviewState, on: Sweep, reviewer: Reviewer = all_clean) -> ReviewState:
    """One pass, written."""
    look = next_look(state, on)
    assert look is not None
    return kept(state.record(on, look, reviewer(look)))


def until_converged(
    state: ReviewState, on: Sweep, reviewer: Reviewer = all_clean, most: int = 100
) -> tuple[ReviewState, list[Look]]:
    looks: list[Look] = []
    while not converged(state, on) and len(looks) < most and (look := next_look(state, on)):
        looks.append(look)
        state = passed(state, on, reviewer)
    return state, looks
