"""Replay: put chosen commits of a chain on another tip, path by path.

A path that the tip holds as the commit found it takes the commit's blob as it is. Where the tip
differs, the two contents are merged by the caller. What fits neither is a conflict: the commit
is left out whole, and nothing is forced.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from domain.commit import ABSENT, REGULAR, Change, Commit, Entry

NOTHING: Mapping[str, Entry] = {}

Merge = Callable[[str, str, str], str | None]
"""Blobs (ours, base, theirs) to the merged blob, or None on a conflict."""


@dataclass
class Replay:
    """The tip as far as the chain touches it, and what was put on it."""

    tree: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """Path to what the tip holds now, for the paths of the chain."""
    folders: frozenset[str] = frozenset()
    """Folders that paths of the chain lie in."""
    steps: list[tuple[Commit, dict[str, Entry]]] = field(
        default_factory=list[tuple[Commit, dict[str, Entry]]]
    )
    """Commits that were applied, with the entries each one set."""
    conflicts: list[Commit] = field(default_factory=list[Commit])

    def apply(self, commit: Commit, merge: Merge) -> bool:
        """Put one commit on top, or note the conflict."""
        entries = self.fitted(commit, merge)
        if entries is None:
            self.conflicts.append(commit)
            return False
        self.tree |= entries
        self.steps.append((commit, entries))
        return True

    def fitted(self, commit: Commit, merge: Merge) -> dict[str, Entry] | None:
        """What the commit would set on the tip; None on a conflict, and when it would change nothing."""
        entries: dict[str, Entry] = {}
        for change in commit.changes:
            here = self.tree[change.path]
            entry = _entry(here, change, merge)
            if entry is None:
                return None
            if entry != here:
                entries[change.path] = entry
        if commit.changes and not entries:
            return None
        new = [path for path, (mode, _) in entries.items() if mode != ABSENT and self._absent(path)]
        return None if any(self._in_the_way(path, entries) for path in new) else entries

    def _absent(self, path: str) -> bool:
        return self.tree[path][0] == ABSENT

    def _in_the_way(self, path: str, entries: dict[str, Entry]) -> bool:
        """Whether a file stands where this path needs a folder, or a folder where it needs a file."""

        def there(other: str) -> bool:
            return (entries.get(other) or self.tree.get(other, (ABSENT, "")))[0] != ABSENT

        if any(there(folder) for folder in above(path)):
            return True
        return path in self.folders and any(
            other.startswith(f"{path}/") and there(other) for other in self.tree
        )


def begin(commits: Iterable[Commit], there: Mapping[str, Entry] = NOTHING) -> Replay:
    """The paths of a chain as its base holds them: as said in `there`, else what the first commit to touch each found."""
    tree: dict[str, Entry] = dict(there)
    for commit in commits:
        for change in commit.changes:
            tree.setdefault(change.path, (change.old_mode, change.old_blob))
    return Replay(tree=tree, folders=frozenset(folder for path in tree for folder in above(path)))


def above(path: str) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


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
