"""Clones: where a run works. Few, long-lived, and moved; never made per site.

Per target, under `$SWATHE_HOME/targets/<name>-<digest>`:

    store.git   ours alone; borrows the target's objects, takes what crosses from the agent
    agent/      the executor's clone: files as their blobs are, its own `.git`
    gate/       a checkout as a user gets it; our git dir and index for it lie outside of it
    envs/ runs/ verdicts/ lock

The `.git` inside `gate/` is for the target's own use (`git describe` in its build): it is laid
anew at each move and never read by us, so that nothing a test does to it matters.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from adapters.home import swathe_home
from adapters.repository import git as door
from adapters.repository.git import Place, git
from domain.target import Workspace
from domain.value import Refused

RAW = "* -text -eol -ident -filter -working-tree-encoding\n"
"""Attributes of the agent's clone: what is on disk is what is in the blob, byte for byte."""

OLDEST_GIT = (2, 38)


def folder_of(common: Path) -> Path:
    """Our folder for the target with this common git directory."""
    real = common.resolve()
    name = (real.parent if real.name == ".git" else real).name.removesuffix(".git") or "target"
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    return swathe_home() / "targets" / f"{name}-{digest}"


def target_place(workspace: Workspace) -> Place:
    return Place(git_dir=Path(workspace.git_dir))


def store(workspace: Workspace) -> Place:
    return Place(git_dir=Path(workspace.home) / "store.git")


def agent(workspace: Workspace) -> Place:
    folder = agent_folder(workspace)
    return Place(git_dir=folder / ".git", work_tree=folder)


def agent_folder(workspace: Workspace) -> Path:
    return Path(workspace.home) / "agent"


def gate_folder(workspace: Workspace) -> Path:
    return Path(workspace.home) / "gate"


def _gate(workspace: Workspace) -> Place:
    home = Path(workspace.home)
    return Place(git_dir=home / "store.git", work_tree=home / "gate", index=home / "gate.index")


def run_folder(workspace: Workspace) -> Path:
    folder = Path(workspace.home) / "runs" / workspace.run
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def prepare(workspace: Workspace) -> None:
    """Make what is missing; idempotent, and safe after a kill anywhere in it."""
    if door.version() < OLDEST_GIT:
        found = ".".join(map(str, door.version()))
        raise Refused(f"git {found} is too old: Swathe needs 2.38 or newer (`git merge-tree`).")
    place = store(workspace)
    if not (place.git_dir / "HEAD").exists():
        _lay_git_dir(place.git_dir, bare=True)
    _borrow(place.git_dir, Path(workspace.git_dir) / "objects")
    shallow = Path(workspace.git_dir) / "shallow"
    if shallow.exists():
        shutil.copyfile(shallow, place.git_dir / "shallow")
    for leftover in (*place.git_dir.rglob("*.lock"), *Path(workspace.home).glob("*.lock")):
        leftover.unlink(missing_ok=True)
    gate_folder(workspace).mkdir(exist_ok=True)
    _lay_agent(workspace)


def _lay_git_dir(git_dir: Path, *, bare: bool) -> None:
    (git_dir / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (git_dir / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (git_dir / "info").mkdir(exist_ok=True)
    config = f"[core]\n\trepositoryformatversion = 0\n\tbare = {str(bare).lower()}\n"
    (git_dir / "config").write_text(config)
    (git_dir / "HEAD").write_text("ref: refs/heads/unborn\n")


def _borrow(git_dir: Path, objects: Path) -> None:
    info = git_dir / "objects" / "info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "alternates").write_bytes(os.fsencode(objects) + b"\n")


def _lay_agent(workspace: Workspace) -> None:
    """The agent's clone; its config is written anew, whatever an earlier pass left there."""
    git_dir = agent(workspace).git_dir
    if git_dir.is_symlink() or git_dir.is_file():
        git_dir.unlink()
    _lay_git_dir(git_dir, bare=False)
    _borrow(git_dir, store(workspace).git_dir / "objects")
    (git_dir / "info" / "attributes").write_text(RAW)
    (git_dir / "index.lock").unlink(missing_ok=True)
    shallow = store(workspace).git_dir / "shallow"
    if shallow.exists():
        shutil.copyfile(shallow, git_dir / "shallow")


def move_agent(workspace: Workspace, commit: str) -> None:
    """Put the agent's clone on `commit`: tracked files exact, nothing else left."""
    place = agent(workspace)
    git(place, "update-ref", "--no-deref", "HEAD", commit)
    git(place, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit)
    _remove_strangers(place, keep=frozenset())


def move_gate(workspace: Workspace, commit: str, keep: frozenset[str] = frozenset()) -> None:
    """Put the gate's checkout on `commit`; untracked files go, but for those in `keep`."""
    place = _gate(workspace)
    git(place, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit)
    _remove_strangers(place, keep=keep)
    _lay_gate_git(workspace, commit)


def strangers(workspace: Workspace) -> frozenset[str]:
    """Untracked files in the gate's checkout, ignored ones included: what a set-up made there."""
    return frozenset(_untracked(_gate(workspace)))


def _untracked(place: Place) -> list[str]:
    listed = git(place, "ls-files", "-o", "-z")
    return [os.fsdecode(path) for path in listed.split(b"\0") if path]


def _remove_strangers(place: Place, keep: frozenset[str]) -> None:
    assert place.work_tree  # noqa: S101 -- both callers give one
    parents: set[Path] = set()
    for path in _untracked(place):
        if path.split("/", 1)[0] == ".git" or path in keep:
            continue
        full = place.work_tree / path.rstrip("/")
        if full.is_dir() and not full.is_symlink():
            shutil.rmtree(full, ignore_errors=True)
        else:
            full.unlink(missing_ok=True)
        parents.add(full.parent)
    _remove_empty(parents, place.work_tree)


def _remove_empty(folders: Iterable[Path], root: Path) -> None:
    for start in sorted(folders, key=lambda path: -len(path.parts)):
        folder = start
        while folder != root and root in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                break
            folder = folder.parent


def _lay_gate_git(workspace: Workspace, commit: str) -> None:
    git_dir = gate_folder(workspace) / ".git"
    if git_dir.is_symlink() or git_dir.is_file():
        git_dir.unlink()
    fresh = not (git_dir / "packed-refs").exists()
    _lay_git_dir(git_dir, bare=False)
    _borrow(git_dir, store(workspace).git_dir / "objects")
    if fresh:
        tags = git(
            target_place(workspace), "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags"
        )
        (git_dir / "packed-refs").write_bytes(b"# pack-refs with: sorted\n" + tags)
        shallow = store(workspace).git_dir / "shallow"
        if shallow.exists():
            shutil.copyfile(shallow, git_dir / "shallow")
    (git_dir / "HEAD").write_text(f"{commit}\n")
    shutil.copyfile(Path(workspace.home) / "gate.index", git_dir / "index")


def read_files(workspace: Workspace, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Contents of those of `paths` that are files in `commit`."""
    wanted = [path for path in paths if "\n" not in path]
    feed = b"".join(os.fsencode(f"{commit}:{path}\n") for path in wanted)
    text = git(store(workspace), "cat-file", "--batch", stdin=feed)
    found: dict[str, bytes] = {}
    at = 0
    for path in wanted:
        end = text.index(b"\n", at)
        row = text[at:end].split(b" ")
        at = end + 1
        if row[-1] == b"missing" or len(row) < 3:  # noqa: PLR2004 -- oid, type, size
            continue
        size = int(row[-1])
        if row[-2] == b"blob":
            found[path] = text[at : at + size]
        at += size + 1
    return found


def tracked(workspace: Workspace, commit: str) -> dict[str, str]:
    """Mode by path of everything in `commit`."""
    listed = git(store(workspace), "ls-tree", "-r", "-z", "--full-tree", commit)
    rows = (row.partition(b"\t") for row in listed.split(b"\0") if row)
    return {os.fsdecode(path): head.split(b" ", 1)[0].decode() for head, _, path in rows}
