"""A pass of an executor in the agent's clone, and the look at what is left."""

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from adapters.catalogue import read_catalogue
from adapters.executors import codemod
from adapters.redacting import cleaned
from adapters.repository.chains import read_chain
from adapters.repository.crossing import cross
from adapters.repository.git import Place, git
from adapters.repository.opening import touched_by_branch
from adapters.repository.workspaces import (
    agent,
    agent_folder,
    look_over_agent,
    move_agent,
    tracked,
    with_agents_objects,
)
from adapters.repository.writing import Draft, write_commits
from domain.admission import protected
from domain.axis import Axis, Commands, for_codemod
from domain.change import Change
from domain.choice import Opened
from domain.commit import REGULAR, Chain, Commit, Entry
from domain.order import wanted
from domain.scope import select
from domain.site import Listing, Site
from domain.skipped import Marks
from domain.survey import Brief
from domain.target import Workspace
from domain.value import Refused

LINK = "120000"
SOURCES = (
    ".py",
    ".js",
    ".ts",
    ".tsx",
    ".go",
    ".rs",
    ".java",
    ".rb",
    ".c",
    ".cc",
    ".cpp",
    ".cs",
    ".php",
)


class Scope:
    """The files of a commit that a deterministic executor may look at, and why not at the others."""

    def __init__(self, workspace: Workspace, commit: str) -> None:
        self.modes = tracked(workspace, commit)
        self.touched = touched_by_branch(workspace)
        chosen = select(self.modes, workspace.target.paths, self.touched)
        self.inside = len(chosen)
        opened = opened_classes(workspace)
        self.shut = {
            path: kind for path in chosen if (kind := protected(path)) and kind not in opened
        }
        self.allowed = frozenset(chosen - self.shut.keys())

    def refuse_empty(self, workspace: Workspace) -> None:
        if self.inside:
            return
        if workspace.target.branch and not self.touched:
            raise Refused(
                f"nothing was touched since the merge base with {workspace.target.branch!r}: no file is in scope."
            )
        globs = ", ".join(workspace.target.paths)
        raise Refused(
            f"no file of {workspace.base[:12]} matches {globs!r}. Globs work as in .gitignore: `src/`, `*.py`, `docs/**`."
        )


def opened_classes(workspace: Workspace) -> frozenset[Opened]:
    """Protected classes that may be touched: what the operator allows, and tests by the deterministic executors."""
    return frozenset({*(() if workspace.hired else ("tests",)), *workspace.target.allow})


def sources(workspace: Workspace, commit: str) -> set[str]:
    """What an axis without a probe may come to touch: sources in scope, or all files where none has a known name."""
    scope = Scope(workspace, commit)
    scope.refuse_empty(workspace)
    free = {path for path in scope.allowed if not protected(path)}
    return {path for path in free if path.endswith(SOURCES)} or free


def look(workspace: Workspace, axis: Axis, commit: str) -> Listing:
    """The sites that `commit` holds, within the scope. Moves the agent's clone there."""
    move_agent(workspace, commit)
    scope = Scope(workspace, commit)
    scope.refuse_empty(workspace)
    listing = codemod.find(
        agent_folder(workspace),
        axis,
        allowed=scope.allowed,
        cache=_cache(workspace),
        commit=commit,
        include_generated=workspace.target.include_generated,
        marks=_marks(workspace, scope),
        held=workspace.sandbox,
    )
    shut = Counter(
        f"protected {kind}" for path, kind in scope.shut.items() if codemod.looks_at(axis, path)
    )
    # To be shown and counted; an executor at work looks again by itself.
    return cleaned(listing.model_copy(update={"skipped": {**listing.skipped, **shut}}))


def told(
    workspace: Workspace, axis: Axis, commit: str, paths: AbstractSet[str]
) -> tuple[Site, ...]:
    """What a rule says of these files of `commit`, whether or not it has a fix. Moves the agent's clone there."""
    move_agent(workspace, commit)
    scope = Scope(workspace, commit)
    listing = codemod.find(
        agent_folder(workspace),
        axis,
        allowed=paths & scope.modes.keys(),
        cache=_cache(workspace),
        include_generated=workspace.target.include_generated,
        marks=_marks(workspace, scope),
        held=workspace.sandbox,
        every=True,
    )
    return cleaned(listing).sites


def make(workspace: Workspace, axis: Axis, brief: Brief) -> Chain:
    """Let the codemod work through all open sites, and bring its commits across."""
    began = time.monotonic()
    move_agent(workspace, brief.tip)
    scope = Scope(workspace, brief.tip)
    line = _Line(workspace, scope.modes)
    allowed = _to_look_at(axis, scope, brief)
    chosen, others = _sifted(workspace, axis, scope, brief, allowed) if brief.only else ((), ())
    worked = codemod.work(
        agent_folder(workspace),
        axis,
        allowed=allowed,
        cache=_cache(workspace),
        commit=line.add,
        at=brief.tip,
        exclude=frozenset((*brief.settled, *others)),
        grain=brief.grain,  # pyright: ignore[reportArgumentType] -- checked where it was typed
        include_generated=workspace.target.include_generated,
        marks=_marks(workspace, scope),
        tree=line,
        held=workspace.sandbox,
    )
    at = int(time.time())
    made = line.write(brief.tip, at)
    leave(workspace, brief.tip)
    head = list(made)[-1] if made else brief.tip
    with ThreadPoolExecutor(max_workers=1) as beside:
        # Their ids name their content, so that they can be read before they have arrived.
        crossing = beside.submit(cross, workspace, brief.tip, head)
        commits = read_chain(with_agents_objects(workspace), brief.tip, head)
        crossing.result()
    return Chain(
        number=brief.number,
        base=brief.tip,
        commits=tuple(_settling(commit, made.get(commit.sha, ())) for commit in commits),
        seconds=time.monotonic() - began,
        at=at,
        notes=worked.left.notes,
        skipped=worked.left.skipped,
        found=tuple(site.key for site in chosen),
    )


def _sifted(
    workspace: Workspace, axis: Axis, scope: Scope, brief: Brief, allowed: AbstractSet[str]
) -> tuple[tuple[Site, ...], tuple[str, ...]]:
    """The sites that the brief is about, and the ids of all others in those files."""
    listing = codemod.find(
        agent_folder(workspace),
        axis,
        allowed=allowed,
        cache=_cache(workspace),
        commit=brief.tip,
        include_generated=workspace.target.include_generated,
        marks=_marks(workspace, scope),
        held=workspace.sandbox,
    )
    chosen = wanted(listing.sites, brief.only, brief.settled)
    mine = {site.id for site in chosen}
    return chosen, tuple(site.id for site in listing.sites if site.id not in mine)


def leave(workspace: Workspace, commit: str) -> None:
    """The clone is looked over beside what comes next, unless a model may go on in it at any time."""
    if not workspace.hired:
        look_over_agent(workspace, commit)


def _settling(commit: Commit, changes: Sequence[Change]) -> Commit:
    sites = [site for change in changes for site in change.sites]
    if not sites:
        return commit
    return commit.model_copy(
        update={"sites": tuple(dict.fromkeys(site.id for site in sites)), "place": sites[0].place}
    )


def _to_look_at(axis: Axis, scope: Scope, brief: Brief) -> frozenset[str]:
    """The files that held sites when this very tip was looked at; what a command adds may be anywhere."""
    if isinstance(for_codemod(axis, read_catalogue()), Commands) or not brief.paths:
        return scope.allowed
    return scope.allowed.intersection(brief.paths)


class _Line:
    """The commits of a pass, kept until its end and written by one `git fast-import`."""

    def __init__(self, workspace: Workspace, modes: Mapping[str, str]) -> None:
        self.place = agent(workspace)
        self.modes = dict(modes)
        self.commits: list[tuple[Change, ...]] = []

    def add(self, changes: Sequence[Change]) -> None:
        self.commits.append(tuple(changes))

    def write(self, parent: str, at: int) -> dict[str, tuple[Change, ...]]:
        drafts = [self._draft(changes) for changes in self.commits]
        if not drafts:
            return {}
        first = Draft(drafts[0].message, drafts[0].entries, parent, modes=drafts[0].modes)
        shas = write_commits(self.place, [first, *drafts[1:]], at)
        git(self.place, "update-ref", "--no-deref", "HEAD", shas[-1])
        return dict(zip(shas, self.commits, strict=True))

    def _draft(self, changes: Sequence[Change]) -> Draft:
        entries: dict[str, Entry | bytes] = {}
        for change in changes:
            gone: Entry = ("000000", "")
            entries[change.path] = gone if change.content is None else change.content
            self.modes.setdefault(change.path, _mode(self.place, change.path))
        return Draft(f"{changes[0].subject}\n", entries, modes=self.modes)

    def changed(self) -> list[str]:
        """Paths that differ from the last commit of the clone."""
        listed = git(self.place, "status", "--porcelain", "-z", "--no-renames", "-uall")
        return [os.fsdecode(item[3:]) for item in listed.split(b"\0") if item]

    def restore(self, paths: Sequence[str]) -> None:
        """Put paths back to what the clone's HEAD has; what it does not have goes away."""
        assert self.place.work_tree  # noqa: S101 -- an agent's clone has one
        known = [path for path in paths if path in self.modes]
        for path in set(paths) - set(known):
            (self.place.work_tree / path).unlink(missing_ok=True)
        feed = b"".join(os.fsencode(path) + b"\0" for path in known)
        if feed:
            git(
                self.place, "checkout", "-q", "-f", "HEAD", "--pathspec-from-file=-",
                "--pathspec-file-nul", stdin=feed,
            )  # fmt: skip


def _mode(place: Place, path: str) -> str:
    if place.work_tree is None:
        return REGULAR[0]
    full = place.work_tree / path
    if full.is_symlink():
        return LINK
    return REGULAR[1] if full.exists() and os.access(full, os.X_OK) else REGULAR[0]


def _cache(workspace: Workspace) -> Path:
    return Path(workspace.home) / "caches" / "ruff"


def _marks(workspace: Workspace, scope: Scope) -> dict[str, Marks]:
    """What the repository's attributes say of the paths: generated, vendored."""
    if not any(path.rpartition("/")[2] == ".gitattributes" for path in scope.modes):
        return {}
    names = ("linguist-generated", "linguist-vendored")
    feed = b"".join(os.fsencode(path) + b"\0" for path in sorted(scope.allowed))
    text = git(agent(workspace), "check-attr", "-z", "--stdin", *names, stdin=feed)
    fields = text.split(b"\0")
    found: dict[str, dict[str, bool]] = {}
    for path, name, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        if value not in (b"unspecified", b""):
            key = "generated" if name.endswith(b"generated") else "vendored"
            found.setdefault(os.fsdecode(path), {})[key] = value not in (b"unset", b"false")
    return {path: Marks(**values) for path, values in found.items()}
