"""A pass of two commands over a tree: edit each site, see what changed, hand it over."""

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Protocol

from adapters.executors.command import Found, edit, find
from adapters.executors.reading import Reader
from domain.axis import Commands
from domain.change import Change, Grain, Worked, some, subject
from domain.edits import drift
from domain.lines import ROW_END, decoded
from domain.recognition import barred, carried_over, without
from domain.site import Site

MOST_ROUNDS = 10
"""A command that finds its own work again is stopped after that many looks."""


class Tree(Protocol):
    """What the caller knows of the tree and we do not: what was in it before."""

    def changed(self) -> Sequence[str]:
        """Files that differ from the commit the pass began with, files that git ignores left out."""
        ...

    def restore(self, paths: Sequence[str]) -> None:
        """Put `paths` back to what they were in that commit; what was not there goes away."""
        ...


@dataclass(frozen=True)
class _State:
    """One path as it is. Of a symbolic link, the content is what it points to."""

    mode: int
    content: bytes


@dataclass
class CommandPass:
    """The edits of one pass, in order."""

    reader: Reader
    axis: Commands
    tree: Tree
    known: dict[str, _State | None] = field(default_factory=dict[str, "_State | None"])
    """Every path that was changed, as it was handed over last."""
    rows: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Where the sites lie that are not edited yet, by id."""
    unmoved: dict[str, str] = field(default_factory=dict[str, str])
    """Texts of the files whose sites `rows` speaks of."""
    failures: Counter[str] = field(default_factory=Counter[str])
    edited: set[str] = field(default_factory=set[str])
    failed: set[str] = field(default_factory=set[str])

    def begin(self, found: Found) -> None:
        self.rows = {site.id: (site.line, site.end_line) for site in found.sites}
        self.unmoved = {path: source.text for path, source in found.sources.items()}
        self.edited, self.failed = set(), set()

    def settle(self, site: Site, others: Sequence[Site]) -> dict[str, bytes | None]:
        """Edit one site; what changed by it. A failing edit changes nothing."""
        if site.id not in self.rows:
            return {}  # An edit before it touched its lines: the next look says what is left of it.
        done = edit(self.reader, self.axis, site, self.rows[site.id])
        changes = self._changes()
        if not done.ok:
            self._undo(changes)
            self.failed.add(site.id)
            self.failures[f"edit {done.how}"] += 1
            return {}
        if not changes:
            self.failed.add(site.id)
            self.failures["no edit"] += 1
            return {}
        self.edited.add(site.id)
        self.known.update(changes)
        self._move(changes, [other for other in others if other.id != site.id])
        return {path: state.content if state else None for path, state in changes.items()}

    def _changes(self) -> dict[str, _State | None]:
        paths = sorted({*self.tree.changed(), *self.known})
        states = {path: _state(self.reader.root, path) for path in paths}
        return {
            path: state
            for path, state in states.items()
            if path not in self.known or self.known[path] != state
        }

    def _undo(self, changes: dict[str, _State | None]) -> None:
        self.tree.restore([path for path in changes if path not in self.known])
        for path in changes:
            if path in self.known:
                _put(self.reader.root / path, self.known[path])

    def _move(self, changes: dict[str, _State | None], others: Sequence[Site]) -> None:
        """Follow the sites of the changed files to their new rows."""
        for path in changes.keys() & self.unmoved.keys():
            state = changes[path]
            before = ROW_END.split(self.unmoved[path])
            self.unmoved[path] = text = decoded(state.content) if state else ""
            moved = drift(before, ROW_END.split(text))
            for other in (other for other in others if other.path == path):
                rows = self.rows.pop(other.id, None)
                now = moved.moved(*rows) if rows else None
                if now is not None:
                    self.rows[other.id] = now


def work(
    reader: Reader,
    axis: Commands,
    allowed: AbstractSet[str] | None,
    *,
    commit: Callable[[Sequence[Change]], None],
    tree: Tree | None,
    exclude: AbstractSet[str],
    grain: Grain,
    max_rounds: int,
) -> Worked:
    """List, edit and list again, until the list holds nothing that was not tried."""
    if tree is None:
        raise TypeError("an axis of two commands needs a `tree` that says what changed")
    doing = CommandPass(reader, axis, tree)
    excluded, given_up, rounds, commits = set(exclude), set[str](), 0, 0
    found = find(reader, axis, allowed)
    while rounds < min(max_rounds, MOST_ROUNDS):
        todo = [site for site in found.open(excluded) if site.key not in given_up]
        if not todo:
            break
        rounds += 1
        doing.begin(found)
        commits += _hand_over(doing, todo, grain, commit)
        before, found = found, find(reader, axis, allowed)
        out = barred(before.sites, excluded)
        excluded = without(excluded, before.sites)
        excluded |= carried_over(before.sites, doing.edited, out | doing.failed)
        given_up |= _come_back(before.sites, found.sites, doing.edited)
    notes = [f"{count} of the sites: {why}" for why, count in sorted(doing.failures.items())]
    if given_up:
        again = sorted({site.path for site in found.sites if site.key in given_up})
        notes.append(f"{some(again)} left alone: the edit leaves its own site behind")
    return Worked(commits=commits, rounds=rounds, left=found.listing(reader, *notes))


def _hand_over(
    doing: CommandPass,
    todo: Sequence[Site],
    grain: Grain,
    commit: Callable[[Sequence[Change]], None],
) -> int:
    """Edit `todo`, one commit for each group that the grain asks for."""
    key = GROUPS[grain]
    commits = 0
    for _, group in groupby(
        sorted(todo, key=lambda site: site.rule) if grain == "rule" else todo, key
    ):
        contents: dict[str, bytes | None] = {}
        settled: list[Site] = []
        for site in group:
            if changes := doing.settle(site, todo):
                contents.update(changes)
                settled.append(site)
        if contents:
            commit(_changes_of(contents, settled))
            commits += 1
    return commits


GROUPS: dict[Grain, Callable[[Site], str]] = {
    "finding": lambda site: site.id,
    "file": lambda site: site.path,
    "rule": lambda site: site.rule,
}


def _changes_of(contents: dict[str, bytes | None], settled: Sequence[Site]) -> list[Change]:
    """Every site stands in one change: that of its own file, else the first."""
    line = subject(settled, "Edit")
    first, *_ = paths = sorted(contents)
    sites = defaultdict[str, list[Site]](list)
    for site in settled:
        sites[site.path if site.path in contents else first].append(site)
    return [
        Change(path=path, content=contents[path], sites=tuple(sites[path]), subject=line)
        for path in paths
    ]


def _come_back(before: Sequence[Site], after: Sequence[Site], edited: AbstractSet[str]) -> set[str]:
    """Keys of sites that were edited and are listed as if they had not been."""
    then, now = (Counter(site.key for site in sites) for sites in (before, after))
    settled = Counter(site.key for site in before if site.id in edited)
    return {key for key, count in settled.items() if now[key] > then[key] - count}


def _state(root: Path, path: str) -> _State | None:
    try:
        mode = (root / path).lstat().st_mode
        if stat.S_ISLNK(mode):
            return _State(mode, os.fsencode((root / path).readlink()))
        # What git cannot hold (a FIFO, a socket) is as good as not there.
        return _State(mode, (root / path).read_bytes()) if stat.S_ISREG(mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _put(path: Path, state: _State | None) -> None:
    path.unlink(missing_ok=True)
    if state is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(state.mode):
        path.symlink_to(os.fsdecode(state.content))
    else:
        path.write_bytes(state.content)
        path.chmod(stat.S_IMODE(state.mode))
