"""Sharing: what a remote keeps besides, so that another machine goes on; and who of them works.

A lease says who: a ref of the remote, renewed while its run lives. Every push names the lease that it believes to hold,
in one transaction with what it brings, so that a run that was taken for dead can't write any more (it is fenced off).
"""

from datetime import datetime
from typing import Literal

from domain.value import Value
from domain.words import duration

LEASE = "refs/swathe-lease/held"
"""Of a repository, as the lock is: one run works on it."""

SECONDS_BETWEEN_RENEWALS = 60
SECONDS_OF_A_LEASE = 300
"""Without a renewal. Clocks of two machines may differ by less."""

NONE = "none"
ORIGIN = "origin"


class Holder(Value):
    """Who holds a lease."""

    run: str
    disk: str
    """Of which `$SWATHE_HOME`."""
    host: str = ""
    pid: int = 0
    at: datetime


def takeable(theirs: Holder, mine: Holder) -> bool:
    """Whether a lease that stands is given up.

    Of my own disk: I hold its lock, so that whoever had it is gone. Of my own run: it crashed, and goes on with me.
    """
    age = abs((mine.at - theirs.at).total_seconds())
    return theirs.disk == mine.disk or theirs.run == mine.run or age > SECONDS_OF_A_LEASE


def held_by(theirs: Holder, mine: Holder, where: str) -> str:
    age = max((mine.at - theirs.at).total_seconds(), 0.0)
    return (
        f"run {theirs.run} on {theirs.host or 'another machine'} works on {where} (it said so {duration(age)} ago). "
        f"If it is dead, its lease ends {duration(SECONDS_OF_A_LEASE)} after its last word."
    )


Course = Literal["same", "behind", "ahead", "apart"]
"""Ours against theirs."""


def course(
    ours: str | None, theirs: str | None, *, ours_in_theirs: bool, theirs_in_ours: bool
) -> Course:
    """How one ref of ours stands to theirs; what is not there is before everything."""
    if ours == theirs:
        return "same"
    if ours is None or (theirs is not None and ours_in_theirs):
        return "behind"
    if theirs is None or theirs_in_ours:
        return "ahead"
    return "apart"


class Delivery(Value):
    """Whether the remote has what landed. It is another question than how the run ended."""

    to: str
    """The address, without credentials."""
    missing: tuple[str, ...] = ()
    """Refs that the remote has not."""
    why: str = ""
    command: str = ""
    """That brings them there."""

    @property
    def said(self) -> str:
        return f"not delivered to {self.to}: {self.why} The next run pushes it, or: {self.command}"
