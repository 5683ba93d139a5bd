"""One pass of a review, as its steps hand it on: what was given, what was heard, what was mended."""

from collections.abc import Sequence
from typing import NamedTuple

from domain.batch import Outcome
from domain.blocker import OpenBlocker
from domain.chunk import Chunk
from domain.commit import ChainOnShelf, Commit, Halt
from domain.report import RED
from domain.review_state import Look
from domain.standing import Standing
from domain.survey import Start, Survey
from domain.value import Value
from domain.verdict import Count

LANDED = "landed"
MOST_TESTS = 5


class Assignment(Value):
    """A chunk of a tip, for one family."""

    look: Look
    tip: str
    chunk: Chunk
    of: int
    """Chunks in the plan."""

    @property
    def number(self) -> int:
        """Of the pass, from 1, counted over all runs."""
        return self.look.turn + 1


class Heard(Value):
    """What came of a review."""

    count: Count
    usd: float = 0.0
    seconds: float = 0.0
    halt: Halt = ""
    """Nobody can be asked any more, and the pass has no verdict."""
    why: str = ""
    notes: tuple[str, ...] = ()


class Checked(Value):
    """Where the review stands, once it is written down."""

    standing: Standing
    survey: Survey
    to_fix: tuple[OpenBlocker, ...] = ()
    """What a fixer is to be sent for."""


class Unmended(Value):
    """Blockers that nobody was sent for: the run that found them was cut short."""

    chunk: Assignment
    """As it was given to who found them."""
    checked: Checked


class Begun(Value):
    """What a run of the review sets out with."""

    start: Start
    standing: Standing
    left: Unmended | None = None


class Mended(Value):
    """What a fixer did: commits, and reasons against."""

    chain: ChainOnShelf
    pushbacks: dict[str, str] = {}
    """By id of the blocker."""
    by_rules: bool = False
    """It has no other attempt to make: what it could not mend is left to a person."""


class Became(NamedTuple):
    """What became of the blockers that a fixer was sent for, by id."""

    tried: dict[str, str]
    pushbacks: dict[str, str]
    left: frozenset[str]
    """Pushbacks that dispute nothing: a person has to look."""


def outcomes(
    blockers: Sequence[OpenBlocker],
    mended: Mended,
    commits: Sequence[Commit],
    decided: Outcome,
    family: str,
) -> Became:
    """Told by what the gate and admission decided of the commits that touch a blocker's file.

    What a fixer did not come to, since it was interrupted, was not tried.
    """
    tried, pushbacks, left = dict[str, str](), dict(mended.pushbacks), set[str]()
    for one in blockers:
        if one.id in pushbacks:
            continue
        mine = [commit for commit in commits if one.blocker.path in commit.paths]
        if mended.chain.halt and not mine:
            continue
        said = _fate(mine, decided)
        if not mended.by_rules or said == LANDED:
            tried[one.id] = said
            continue
        fixed = any(commit.place == f"{one.blocker.path}:{one.blocker.line}" for commit in mine)
        pushbacks[one.id] = (
            f"its fix did not hold ({said}); it is left to a person"
            if fixed
            else f"{family} knows no safe fix for it; it is left to a person"
        )
        left.add(one.id)
    return Became(tried, pushbacks, frozenset(left))


def _fate(commits: Sequence[Commit], decided: Outcome) -> str:
    """Of what was done to one file, in few words."""
    if any(commit.sha in decided.good for commit in commits):
        return LANDED
    blamed = {blame.commit: blame for blame in decided.bad}
    for commit in commits:
        if blame := blamed.get(commit.sha):
            tests = ", ".join(failure.test for failure in blame.failures[:MOST_TESTS])
            return f"{RED}: {tests}" if tests else RED
        if reason := decided.refused.get(commit.sha):
            return reason
    return "nothing was decided" if commits else "no edit"
