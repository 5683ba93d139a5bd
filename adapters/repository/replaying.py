"""Candidates: chosen commits of a chain put on a tip.

Contents are merged per path instead of by `git merge-tree` per commit: a replay knows what the tip
holds at each path of the chain, so no tree has to be written before the one that the gate sees.
"""

from collections.abc import Sequence

from adapters.repository.git import Place, tree_of
from adapters.repository.merging import Merger
from adapters.repository.writing import Draft, write_commits
from domain.commit import Chain, Entry
from domain.replay import Replay, begin
from domain.value import Value


class Candidate(Value):
    """A commit to run the gate on."""

    commit: str
    tree: str
    applied: tuple[str, ...]
    conflicts: tuple[str, ...] = ()
    """Commits that did not fit; they are not in it."""


def replay(
    place: Place, chain: Chain, good: Sequence[str], probe: Sequence[str]
) -> tuple[Replay, int]:
    """Fold the `good` commits and then the `probe` onto the chain's base; and how many steps were good."""
    by_sha = {commit.sha: commit for commit in chain.commits}
    line = begin(chain.commits, chain.there)
    with Merger(place) as merger:
        for sha in good:
            line.apply(by_sha[sha], merger.merge)
        before = len(line.steps)
        for sha in probe:
            line.apply(by_sha[sha], merger.merge)
    return line, before


def candidate(
    place: Place, chain: Chain, good: Sequence[str], probe: Sequence[str], tip: str
) -> Candidate:
    """The tree of `tip` with the probe on it, as one throw-away commit. `tip` holds the `good` ones."""
    line, before = replay(place, chain, good, probe)
    entries: dict[str, Entry] = {}
    for _, changed in line.steps[before:]:
        entries |= changed
    (commit,) = write_commits(
        place, [Draft(message="candidate", entries=entries, parent=tip)], chain.at
    )
    return Candidate(
        commit=commit,
        tree=tree_of(place, commit),
        applied=tuple(step.sha for step, _ in line.steps[before:]),
        conflicts=tuple(step.sha for step in line.conflicts),
    )
