"""Candidates: chosen commits of a chain put on a tip, and the merge of contents that needs.

`git merge-file` per path instead of `git merge-tree` per commit: a replay knows what the tip holds
at each path of the chain, so no tree has to be written before the one that the gate sees.
"""

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from adapters.repository.git import GitFailed, Place, ask, git
from adapters.repository.writing import Draft, write_commits
from domain.commit import Chain
from domain.replay import Entry, Replay, begin
from domain.value import Value

MAX_MERGE = 5_000_000
"""Bytes of a file that is merged; a larger one counts as a conflict."""


class Candidate(Value):
    """A commit to run the gate on."""

    commit: str
    tree: str
    applied: tuple[str, ...]
    conflicts: tuple[str, ...] = ()
    """Commits that did not fit; they are not in it."""


def replay(place: Place, chain: Chain, good: Sequence[str], probe: Sequence[str]) -> tuple[Replay, int]:
    """Fold the `good` commits and then the `probe` onto the chain's base; and how many steps were good."""
    by_sha = {commit.sha: commit for commit in chain.commits}
    line = begin(chain.commits)
    for sha in good:
        line.apply(by_sha[sha], lambda *blobs: _merge(place, *blobs))
    before = len(line.steps)
    for sha in probe:
        line.apply(by_sha[sha], lambda *blobs: _merge(place, *blobs))
    return line, before


def candidate(
    place: Place, chain: Chain, good: Sequence[str], probe: Sequence[str], tip: str
) -> Candidate:
    """The tree of `tip` with the probe on it, as one throw-away commit. `tip` holds the `good` ones."""
    line, before = replay(place, chain, good, probe)
    entries: dict[str, Entry] = {}
    for _, changed in line.steps[before:]:
        entries |= changed
    (commit,) = write_commits(place, [Draft(message="candidate", entries=entries, parent=tip)], chain.at)
    return Candidate(
        commit=commit,
        tree=git(place, "rev-parse", f"{commit}^{{tree}}").decode().strip(),
        applied=tuple(step.sha for step, _ in line.steps[before:]),
        conflicts=tuple(step.sha for step in line.conflicts),
    )


@lru_cache(maxsize=4096)
def _merge(place: Place, ours: str, base: str, theirs: str) -> str | None:
    feed = f"{ours}\n{base}\n{theirs}\n".encode()
    sizes = git(place, "cat-file", "--batch-check=%(objectsize)", stdin=feed).split()
    if any(int(size) > MAX_MERGE for size in sizes):
        return None
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for name, blob in zip(names, (ours, base, theirs), strict=True):
            name.write_bytes(git(place, "cat-file", "blob", blob))
        status, out, err = ask(place, "merge-file", "-p", "-q", *map(str, names))
    if status == 0:
        return git(place, "hash-object", "-w", "--stdin", stdin=out).decode().strip()
    if status > 127:  # noqa: PLR2004 -- up to 127 it counts conflicts
        binary = b"binary" in err
        if not binary:
            raise GitFailed("merge-file", status, err.decode(errors="replace"))
    return None
