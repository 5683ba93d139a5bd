"""One round of a codemod: from a listing to edited files that still hold together.

A round edits every file as far as one listing allows, looks again, and keeps only what did not
break a file. A commit is made of what was kept, so no commit holds a file that stopped parsing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from adapters.executors.reading import Reader, Source, write_regular
from adapters.executors.scan import Look, Scan
from domain.change import Change, some
from domain.edits import applied, planned, successive
from domain.lines import encoded
from domain.recognition import barred, carried_over, without
from domain.site import Site

Step = tuple[Site, ...]

MOST_STRIKES = 3


@dataclass(frozen=True)
class Edited:
    """One file after a round."""

    source: Source
    """As it was before."""
    steps: tuple[Step, ...]

    def contents(self) -> Iterator[tuple[Step, bytes]]:
        """The file after each step."""
        texts = successive(self.source.text, self.steps)
        return ((step, encoded(text)) for step, text in zip(self.steps, texts, strict=True))

    @cached_property
    def final(self) -> bytes:
        edits = [edit for step in self.steps for edit in step[0].edits]
        return encoded(applied(self.source.text, edits))


@dataclass
class Rounds:
    """The state of a codemod between its rounds."""

    reader: Reader
    look: Look
    scan: Scan
    excluded: set[str]
    most: int = 100
    """Rounds, in all."""
    strict: bool = False
    """A rule that matches its own result is stopped at once (ast-grep's can; ruff's chains must not be)."""
    frozen: dict[str, str] = field(default_factory=dict[str, str])
    """Files that are left alone from now on, and why."""
    seen: dict[str, set[bytes]] = field(default_factory=dict[str, set[bytes]])
    """Digests of the contents each file has had."""
    count: int = 0
    strikes: Counter[str] = field(default_factory=Counter[str])
    """How many fixes turned out to break a file."""

    @property
    def rules(self) -> list[str]:
        """Rules that have something left to do."""
        return sorted({step[0].rule for steps in self.plans().values() for step in steps})

    def plans(self, rule: str | None = None) -> dict[str, tuple[Step, ...]]:
        """What the last look allows, by file; limited to one rule's sites if given."""
        plans: dict[str, tuple[Step, ...]] = {}
        for path, sites in self.scan.found.items():
            if path in self.frozen:
                continue
            wanted = [site for site in sites if rule is None or site.rule == rule]
            steps = planned(self._open(sites, wanted)).steps
            if steps:
                plans[path] = steps
        return plans

    def _open(self, sites: Sequence[Site], wanted: Sequence[Site]) -> list[Site]:
        """Without the excluded ones, nor others that ask for the very same edit."""
        out = barred(sites, self.excluded) if self.excluded else frozenset[str]()
        closed = {site.edits for site in sites if site.id in out}
        return [site for site in wanted if site.edits not in closed]

    def run(self, rule: str | None = None) -> list[Edited]:
        """Edit the tree by one round; empty when nothing is left to do, or no round is left."""
        while self.count < self.most:
            strikes = self.strikes.total()
            if done := self._round(rule):
                self.count += 1
                return [done[path] for path in sorted(done)]
            if self.strikes.total() == strikes:
                break
        return []

    def _round(self, rule: str | None) -> dict[str, Edited]:
        pending = {
            path: Edited(self.scan.sources[path], steps) for path, steps in self.plans(rule).items()
        }
        done: dict[str, Edited] = {}
        while pending := self._written(pending):
            after = self.look(list(pending))
            sound = {path for path, edited in pending.items() if self._is_sound(edited, after)}
            done.update((path, pending[path]) for path in sound)
            self._take(sound, pending, after)
            pending = dict(
                self._smaller(edited) for path, edited in pending.items() if path not in sound
            )
            pending = {path: edited for path, edited in pending.items() if edited.steps}
        return done

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of files that were given up."""
        by_reason = defaultdict[str, list[str]](list)
        for path in sorted(self.frozen):
            by_reason[self.frozen[path]].append(path)
        notes = [f"{some(paths)} left alone: {why}" for why, paths in sorted(by_reason.items())]
        if self.count >= self.most and (unsettled := sorted(self.plans())):
            notes.append(f"{some(unsettled)} not settled after {self.count} rounds")
        return tuple(notes)

    def _written(self, pending: dict[str, Edited]) -> dict[str, Edited]:
        written: dict[str, Edited] = {}
        for path, edited in pending.items():
            final = edited.final
            seen = self.seen.setdefault(path, {_digest(edited.source.content)})
            if _digest(final) in seen:
                self._leave(edited, "its fixes undo each other")
                continue
            write_regular(self.reader.root, path, final)
            written[path] = edited
        return written

    def _is_sound(self, edited: Edited, after: Scan) -> bool:
        path = edited.source.path
        if after.errors[path] > self.scan.errors[path]:
            return False
        if not self.strict:
            return True
        before = Counter(site.rule for site in self.scan.found.get(path, ()))
        left = Counter(site.rule for site in after.found.get(path, ()))
        gone = Counter(step[0].rule for step in edited.steps)
        return all(left[rule] <= before[rule] - count for rule, count in gone.items())

    def _take(self, sound: Iterable[str], pending: dict[str, Edited], after: Scan) -> None:
        """Let the new look at the files that are kept replace the old one."""
        for path in sound:
            old = self.scan.found.get(path, [])
            gone = {site.id for step in pending[path].steps for site in step}
            out = barred(old, self.excluded)
            self.excluded = without(self.excluded, old) | carried_over(old, gone, out)
            self.seen[path].add(_digest(pending[path].final))
            self.scan.errors[path] = after.errors[path]
            self.scan.found[path] = after.found.get(path, [])
            if path in after.sources:
                self.scan.sources[path] = after.sources[path]

    def _smaller(self, edited: Edited) -> tuple[str, Edited]:
        """Half of the steps; where one step alone is to blame, it is excluded from now on."""
        path, half = edited.source.path, len(edited.steps) // 2
        if not half:
            self.strikes[path] += 1
            self.excluded |= {site.id for site in edited.steps[0]}
            write_regular(self.reader.root, path, edited.source.content)
            if self.strict:
                self._leave(edited, "its rule matches what it wrote")
            elif self.strikes[path] == MOST_STRIKES:
                self._leave(edited, "its fixes break it")
        return path, Edited(edited.source, edited.steps[:half])

    def _leave(self, edited: Edited, why: str) -> None:
        write_regular(self.reader.root, edited.source.path, edited.source.content)
        self.frozen[edited.source.path] = why


@dataclass
class Gathered:
    """Rounds made into one change for each file."""

    first: dict[str, bytes] = field(default_factory=dict[str, bytes])
    final: dict[str, bytes] = field(default_factory=dict[str, bytes])
    sites: dict[str, list[Site]] = field(default_factory=lambda: defaultdict[str, list[Site]](list))

    def take(self, done: Iterable[Edited]) -> None:
        for edited in done:
            path = edited.source.path
            self.first.setdefault(path, edited.source.content)
            self.final[path] = edited.final
            self.sites[path] += [site for step in edited.steps for site in step]

    def changes(self) -> list[Change]:
        """In the order of their paths, without a subject yet."""
        return [
            Change(path=path, content=self.final[path], sites=tuple(self.sites[path]), subject="")
            for path in sorted(self.final)
            if self.final[path] != self.first[path]
        ]


def _digest(content: bytes) -> bytes:
    return sha256(content).digest()
