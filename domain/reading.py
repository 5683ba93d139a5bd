"""A reading: what a model of another family said of one commit that the gate found green."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

from domain.commit import Commit, Halt
from domain.hired import Hired
from domain.role import Finding, Opinion
from domain.value import Refused, Value

Confirm = Literal["off", "sample", "each"]
"""Which commits are read. `each`: what nobody read does not land; `sample`: it does, and says so."""

ONE_IN = 5
"""Of the commits that show no new kind of file."""
MOST_FINDINGS = 5
MOST_CHARACTERS = 300
"""Of one finding."""


class Reading(Value):
    """One answer, or that there was none."""

    commit: str
    by: str
    """The model that was asked."""
    verdict: Literal["holds", "breaks", "unsure", "unreviewed"]
    findings: tuple[Finding, ...] = ()
    """Where it breaks, and why."""
    note: str = ""
    """In the reader's words; of `unreviewed`, why nobody read it."""
    usd: float = 0.0
    """What it cost."""

    @classmethod
    def of(cls, commit: str, by: str, opinion: Opinion, usd: float = 0.0) -> "Reading":
        """A verdict that the reader could not check parks nothing (cases.md, C7)."""
        unsure = opinion.verdict == "breaks" and not opinion.sure
        return cls(
            commit=commit,
            by=by,
            verdict="unsure" if unsure else opinion.verdict,
            findings=opinion.findings,
            note=opinion.note,
            usd=usd,
        )

    @property
    def reason(self) -> str:
        """Why the commit is parked: who said so, where, and why."""
        if self.verdict == "unreviewed":
            return f"unreviewed: {self.note}"
        return f"{self.by} says it breaks: {self._said or 'it did not say what'}"

    @property
    def confirmed_by(self) -> str:
        return self.by if self.verdict == "holds" else ""

    @property
    def unconfirmed(self) -> str:
        """Why a commit that lands is not confirmed; empty for one that is."""
        if self.verdict == "unsure":
            return f"unsure: {self.by} says {self._said or 'no more'}"
        return self.reason if self.verdict == "unreviewed" else ""

    @property
    def _said(self) -> str:
        said = [_short(f"{one.path}:{one.line} {one.what}") for one in self.findings]
        more = len(said) - MOST_FINDINGS
        rest = [f"and {more} more"] if more > 0 else []
        return "; ".join([*said[:MOST_FINDINGS], *rest]) or _short(self.note)


class Readings(Value):
    """What was said of some commits of a chain."""

    read: tuple[Reading, ...] = ()
    seconds: float = 0.0
    halt: Halt = ""
    """Why the reader cannot be asked any more."""
    why: str = ""


def confirmable(confirm: Confirm, hired: Hired | None) -> Confirm:
    """What was asked for, or `Refused`: a rule is of no family, so that no other one can be told from it."""
    if hired is None and confirm != "off":
        raise Refused(
            f"--confirm {confirm} is for the commits of a model, and no model was asked for. "
            f"Add --executor claude or --executor gpt."
        )
    return confirm


def to_be_read(confirm: Confirm, commits: Sequence[Commit]) -> frozenset[str]:
    """Which commits of a pass are read, the same whenever it is asked.

    A sample has the first commit of every kind of file, and one in five of the others by their trees' ids: another
    run that makes the same trees asks about the same ones, and is told what is kept.
    """
    if confirm == "off":
        return frozenset()
    if confirm == "each":
        return frozenset(commit.sha for commit in commits)
    seen, chosen = set[str](), set[str]()
    for commit in commits:
        kinds = {PurePosixPath(path).suffix or PurePosixPath(path).name for path in commit.paths}
        if not kinds <= seen or int(commit.tree[:8], 16) % ONE_IN == 0:
            chosen.add(commit.sha)
        seen |= kinds
    return frozenset(chosen)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MOST_CHARACTERS else f"{flat[: MOST_CHARACTERS - 1]}…"
