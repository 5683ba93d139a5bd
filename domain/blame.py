"""Blame: what a red run of the gate says of the commits that were in it."""

from collections.abc import Collection

from domain.gate import Failure
from domain.value import Value

LOOSE, TIGHT = 2, 4
"""At most a half of a batch leaves when each suspect is named alone, else at most a quarter."""


def worth_leaving(named: Collection[str], sure: Collection[str], probe: Collection[str]) -> bool:
    """Whether the named are so few, or so surely named, that the rest is better off without them.

    Logs of real tests with planted breakages name two commits in five, and not always the culprit
    (`benchmarks/suspects.py`): there a split tells more.
    """
    share = LOOSE if set(named) <= set(sure) else TIGHT
    return bool(named) and len(named) * share <= len(probe)


class Blame(Value):
    """A commit that does not land, and the tests it breaks."""

    commit: str
    failures: tuple[Failure, ...]
    pinned: bool = False
    """Only with the protected files of the base."""


class RedRun(Value):
    """One red answer: who was in it, whom it named."""

    commits: tuple[str, ...]
    on: int
    """How many good commits they were put on."""
    failures: tuple[Failure, ...]
    pinned: bool = False
    named: dict[str, tuple[Failure, ...]] = {}
    """The failures that point at a commit, by commit."""
