"""Replay: put chosen commits of a chain on another tip, path by path.

A path that the tip holds as the commit found it takes the commit's blob as it is. Where the tip
differs, the two contents are merged by the caller. What fits neither is a conflict: the commit
is left out whole, and nothing is forced.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from domain.commit import REGULAR, Change, Commit

Entry = tuple[str, str]
"""Mode and blob; mode `000000` means that the path is absent."""

Merge = Callable[[str, str, str], str | None]
"""Blobs (ours, base, theirs) to the merged blob, or None on a conflict."""


@dataclass
class Replay:
    """The tip as far as the chain touches it, and what was put on it."""

    tree: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """Path to what the tip holds now, for the paths of the chain."""
    steps: list[tuple[Commit, dict[str, Entry]]] = field(
        default_factory=list[tuple[Commit, dict[str, Entry]]]
    )
    """Commits that were applied, with the entries each one set."""
    conflicts: list[Commit] = field(default_factory=list[Commit])

    def apply(self, commit: Commit, merge: Merge) -> bool:
        """Put one commit on top, or note the conflict."""
        entries: dict[str, Entry] = {}
        for change in commit.changes:
            entry = _entry(self.tree[change.path], change, merge)
            if entry is None:
                self.conflicts.append(commit)
                return False
            entries[change.path] = entry
        self.tree |= entries
        self.steps.append((commit, entries))
        return True


def begin(commits: Iterable[Commit]) -> Replay:
    """The paths of a chain as its base holds them: what the first commit to touch each path found."""
    tree: dict[str, Entry] = {}
    for commit in commits:
        for change in commit.changes:
            tree.setdefault(change.path, (change.old_mode, change.old_blob))
    return Replay(tree=tree)


def _entry(here: Entry, change: Change, merge: Merge) -> Entry | None:
    if here == (change.old_mode, change.old_blob):
        return change.new_mode, change.new_blob
    if here == (change.new_mode, change.new_blob):
        return here
    mode, blob = here
    if mode not in REGULAR or {change.old_mode, change.new_mode} - set(REGULAR):
        return None
    merged = merge(blob, change.old_blob, change.new_blob)
    if merged is None:
        return None
    return change.new_mode if change.new_mode != change.old_mode else mode, merged
