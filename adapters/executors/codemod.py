"""The executor that needs no model: a rule finds the sites and says what each becomes."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from adapters.catalogue import read_catalogue, with_rule_text
from adapters.executors import command, command_pass
from adapters.executors.ast_grep import AstGrepLook
from adapters.executors.command_pass import Tree
from adapters.executors.reading import Reader
from adapters.executors.rounds import Gathered, Rounds
from adapters.executors.ruff import SUFFIXES, RuffLook
from adapters.executors.scan import Look, Scan
from domain.axis import AstGrep, Axis, Catalogue, Commands, Engine, Ruff, Sentence, for_codemod
from domain.change import Change, Grain, Worked, counted, some, subject
from domain.sandbox import OPEN, Sandbox
from domain.site import Listing
from domain.skipped import NO_MARKS, Marks, Reason

MAX_ROUNDS = 100
"""As many as ruff's own `--fix` tries."""

Commit = Callable[[Sequence[Change]], None]


def find(
    root: Path,
    axis: Axis,
    *,
    allowed: AbstractSet[str] | None,
    cache: Path,
    commit: str = "",
    include_generated: bool = False,
    marks: Mapping[str, Marks] = NO_MARKS,
    held: Sandbox = OPEN,
    every: bool = False,
) -> Listing:
    """The probe: the sites of `axis` that the tree at `root` holds, in a stable order.

    `allowed` are the paths in scope; None is whatever the engine looks at by itself. That a scope
    is empty is for the caller to refuse, who knows the globs. `commit`: what the tree holds, to the byte;
    the next `work` on it need not look again. `every`: findings without a usable fix, too.
    """
    reader = Reader(root, include_generated, marks, held=held)
    engine = _engine(axis)
    if isinstance(engine, Commands):
        return command.find(reader, engine, allowed).listing(reader)
    scan = _look(reader, engine, cache, every=every)(_ordered(allowed))
    if commit and allowed is not None and not every:
        _seen[root] = _Seen((commit, axis, include_generated), allowed, reader.reasons, scan)
    return _listing(reader, scan, _remarks(scan))


@dataclass(frozen=True)
class _Seen:
    """What the last look at a tree gave."""

    what: tuple[str, Axis, bool]
    """The commit, the axis, and whether generated files were looked at."""
    allowed: AbstractSet[str]
    reasons: dict[str, Reason]
    scan: Scan


_seen: dict[Path, _Seen] = {}


def _first_look(
    look: Look, reader: Reader, what: tuple[str, Axis, bool], allowed: AbstractSet[str] | None
) -> Scan:
    """Of a pass; the one that told of its sites, when it was at the same commit."""
    seen = _seen.pop(reader.root, None)
    if seen is None or seen.what != what or allowed is None or not allowed <= seen.allowed:
        return look(_ordered(allowed))
    reader.reasons |= seen.reasons
    seen.scan.found = {path: sites for path, sites in seen.scan.found.items() if path in allowed}
    return seen.scan


def looks_at(axis: Axis, path: str) -> bool:
    """Whether the axis' engine would look at a file of this name at all."""
    return not isinstance(_engine(axis), Ruff) or path.endswith(SUFFIXES)


def work(
    root: Path,
    axis: Axis,
    *,
    allowed: AbstractSet[str] | None,
    cache: Path,
    commit: Commit,
    at: str = "",
    exclude: AbstractSet[str] = frozenset(),
    grain: Grain = "finding",
    max_rounds: int = MAX_ROUNDS,
    include_generated: bool = False,
    marks: Mapping[str, Marks] = NO_MARKS,
    held: Sandbox = OPEN,
    tree: Tree | None = None,
) -> Worked:
    """Change every site in the tree at `root`, and hand each change to `commit` in order.

    The tree runs ahead of the commits by at most one round: whoever is interrupted starts again
    from a clean checkout. `at` is the commit that the tree holds, as in `find`. `exclude` holds ids of sites that are not to be touched. `tree` is
    needed for commands alone.
    """
    reader = Reader(root, include_generated, marks, held=held)
    engine = _engine(axis)
    if isinstance(engine, Commands):
        return command_pass.work(
            reader,
            engine,
            allowed,
            commit=commit,
            tree=tree,
            exclude=exclude,
            grain=grain,
            max_rounds=max_rounds,
        )
    look = _look(reader, engine, cache)
    rounds = Rounds(
        reader,
        look,
        _first_look(look, reader, (at, axis, include_generated), allowed),
        set(exclude),
        strict=isinstance(engine, AstGrep),
        most=max_rounds,
    )
    remarks = _remarks(rounds.scan)
    commits = GRAINS[grain](rounds, commit)
    left = _listing(reader, rounds.scan, (*remarks, *rounds.remarks))
    return Worked(commits=commits, rounds=rounds.count, left=left)


def _by_finding(rounds: Rounds, commit: Commit) -> int:
    """One commit for every step, as soon as its round has been looked at."""
    commits = 0
    while done := rounds.run():
        for edited in done:
            before = edited.source.content
            for step, content in edited.contents():
                # An edit that changes nothing makes no commit; the site is still listed.
                if content != before:
                    commit(
                        [
                            Change(
                                path=edited.source.path,
                                content=content,
                                sites=step,
                                subject=subject(step),
                            )
                        ]
                    )
                    commits += 1
                before = content
    return commits


def _by_file(rounds: Rounds, commit: Commit) -> int:
    """One commit for every file, when nothing is left to do in any."""
    whole = Gathered()
    while done := rounds.run():
        whole.take(done)
    changes = whole.changes()
    for change in changes:
        commit([change.model_copy(update={"subject": subject(change.sites)})])
    return len(changes)


def _by_rule(rounds: Rounds, commit: Commit) -> int:
    """One commit for every rule; again for a rule to whose sites another one has led."""
    commits = 0
    while rules := rounds.rules:
        whole = Gathered()
        while done := rounds.run(rules[0]):
            whole.take(done)
        changes = whole.changes()
        if not changes:
            break
        line = subject([site for change in changes for site in change.sites])
        commit([change.model_copy(update={"subject": line}) for change in changes])
        commits += 1
    return commits


GRAINS: dict[Grain, Callable[[Rounds, Commit], int]] = {
    "finding": _by_finding,
    "file": _by_file,
    "rule": _by_rule,
}


def _engine(axis: Axis) -> Engine:
    engine = for_codemod(axis, read_catalogue() if isinstance(axis, Catalogue | Sentence) else {})
    settled = with_rule_text(engine, Path.cwd())
    return engine if settled is engine else for_codemod(settled, {})


def _look(reader: Reader, engine: Ruff | AstGrep, cache: Path, *, every: bool = False) -> Look:
    if isinstance(engine, Ruff):
        return RuffLook(reader, engine, cache, every)
    return AstGrepLook(reader, engine, every)


def _ordered(allowed: AbstractSet[str] | None) -> list[str] | None:
    return None if allowed is None else sorted(allowed)


def _listing(reader: Reader, scan: Scan, notes: Sequence[str]) -> Listing:
    return Listing(sites=scan.sites, skipped=reader.skipped, notes=tuple(notes))


def _remarks(scan: Scan) -> tuple[str, ...]:
    notes = list(counted(scan.unfixable, "have no fix that may be applied"))
    if broken := sorted(path for path, errors in scan.errors.items() if errors):
        notes.append(f"{some(broken)} cannot be parsed, so nothing is fixed there")
    if scan.unread:
        notes.append(
            f"{some(sorted(scan.unread))} cannot be read in any encoding that the tool knows"
        )
    return tuple(notes)
