"""Clones: where a run works. Few, long-lived, and moved; never made per site.

Per target, under `$SWATHE_HOME/targets/<name>-<digest>`:

    store.git   ours alone; borrows the target's objects, takes what crosses from the agent
    agent/      the executor's checkout: files as their blobs are; agent-1/, … of those who work beside it
    agent.git   our git directory for it, out of its reach
    gate/       a checkout as a user gets it; our git directory for it is the store
    envs/ runs/ verdicts/ lock

Each checkout has a `.git` of its own, for whoever works there (the agent commits in it, a build asks
`git describe`). It is laid anew at each move, and moves never read it: what was done to it does not matter.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from adapters.failpoints import reach
from adapters.home import swathe_home
from adapters.repository import git as door
from adapters.repository.git import Place, git
from adapters.repository.laying import copy_shallow, lay, lay_for_others
from adapters.repository.moving import known, look_over, put
from adapters.repository.sweeping import files_below, stand, strange
from adapters.repository.writing import quoted
from adapters.whole import DRAFT
from domain.target import Workspace
from domain.value import Refused

RAW = "* -text -eol -ident -filter -working-tree-encoding\n"
"""Attributes of the agent's checkout: what is on disk is what is in the blob, byte for byte."""

LEFT_BEHIND = (
    "*.lock",
    *(f"{above}*{DRAFT}" for above in ("", "*.git/", "envs/*/", "runs/*/", "verdicts/")),
)
"""What a kill may leave in our folder: nobody else writes there while the campaign lock is held."""

MOST_PACKS = 50
MOST_LOOSE = 6_700

OLDEST_GIT = (2, 38)


def folder_of(common: Path) -> Path:
    """Our folder for the target with this common git directory."""
    real = common.resolve()
    name = (real.parent if real.name == ".git" else real).name.removesuffix(".git") or "target"
    shown = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in name)[:60]
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    return swathe_home() / "targets" / f"{shown}-{digest}"


def target_place(workspace: Workspace) -> Place:
    return Place(git_dir=Path(workspace.git_dir))


def store(workspace: Workspace) -> Place:
    return Place(git_dir=Path(workspace.home) / "store.git")


def with_agents_objects(workspace: Workspace) -> Place:
    """Our store, and what we wrote into the agent's git directory. None of that one's settings count."""
    objects = quoted(str(agent(workspace).git_dir / "objects")).decode()  # it may hold a colon
    return replace(store(workspace), extra={"GIT_ALTERNATE_OBJECT_DIRECTORIES": objects})


def agent(workspace: Workspace) -> Place:
    """The agent's checkout through our own git directory for it."""
    folder = agent_folder(workspace)
    return Place(git_dir=folder.with_name(f"{folder.name}.git"), work_tree=folder)


def clone(workspace: Workspace) -> Place:
    """The agent's checkout through the `.git` that lies in it. Untrusted: see `crossing`."""
    folder = agent_folder(workspace)
    return Place(git_dir=folder / ".git", work_tree=folder)


def agent_folder(workspace: Workspace) -> Path:
    return Path(workspace.home) / (f"agent-{workspace.seat}" if workspace.seat else "agent")


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
    ours = store(workspace).git_dir
    lay(ours, Path(workspace.git_dir) / "objects", workspace.base, bare=True)
    reach("store-laid")
    _ready(workspace, ours)
    seat(workspace)
    for pattern in LEFT_BEHIND:
        for leftover in Path(workspace.home).glob(pattern):
            leftover.unlink(missing_ok=True)
    tags = git(
        target_place(workspace), "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags"
    )
    _tags(workspace).write_bytes(b"# pack-refs with: sorted\n" + tags)
    stand(gate_folder(workspace))
    _repack(store(workspace))
    reach("clones-laid")


def seat(workspace: Workspace) -> None:
    """Make what is missing of the executor's clone; idempotent, and safe after a kill anywhere in it."""
    agents = agent(workspace).git_dir
    lay(agents, store(workspace).git_dir / "objects", workspace.base, bare=False)
    (agents / "info" / "attributes").write_text(RAW)
    _ready(workspace, agents)
    stand(agent_folder(workspace))


def _ready(workspace: Workspace, git_dir: Path) -> None:
    copy_shallow(Path(workspace.git_dir), git_dir)
    for leftover in (*git_dir.rglob("*.lock"), *git_dir.glob("objects/**/tmp_*")):
        leftover.unlink(missing_ok=True)


def _repack(place: Place) -> None:
    """Many packs and loose objects make look-ups slow; what no ref names is kept, a run may be under way with it."""
    objects = place.git_dir / "objects"
    packs = sum(1 for _ in (objects / "pack").glob("*.pack"))
    # As `git gc --auto` estimates them.
    loose = 256 * sum(1 for _ in (objects / "17").glob("*"))
    if packs > MOST_PACKS or loose > MOST_LOOSE:
        git(place, "repack", "-a", "-d", "-k", "-l", "-q")


def _tags(workspace: Workspace) -> Path:
    return Path(workspace.home) / "gate.tags"


def move_agent(workspace: Workspace, commit: str) -> None:
    """Put the agent's checkout on `commit`: tracked files exact, nothing else left."""
    place = agent(workspace)
    put(place, agent_folder(workspace), commit)
    reach("agent-put")
    git(place, "update-ref", "--no-deref", "HEAD", commit)
    theirs = clone(workspace).git_dir
    lay_for_others(theirs, store(workspace).git_dir / "objects", commit, place.git_dir / "index")
    (theirs / "info" / "attributes").write_text(RAW)
    copy_shallow(place.git_dir, theirs)
    reach("agent-moved")


def look_over_agent(workspace: Workspace, commit: str) -> None:
    """Say that nobody works in the agent's checkout of `commit` any more: the next move will be quicker."""
    look_over(agent(workspace), agent_folder(workspace), commit, frozenset())


def move_gate(workspace: Workspace, commit: str, keep: frozenset[str] = frozenset()) -> None:
    """Put the gate's checkout on `commit`; untracked files go, but for those in `keep`."""
    place, folder = _gate(workspace), gate_folder(workspace)
    put(place, folder, commit, keep)
    reach("gate-put")
    index = Path(workspace.home) / "gate.index"
    lay_for_others(folder / ".git", place.git_dir / "objects", commit, index)
    shutil.copyfile(_tags(workspace), folder / ".git" / "packed-refs")
    copy_shallow(place.git_dir, folder / ".git")
    reach("gate-moved")


def look_over_gate(workspace: Workspace, commit: str, keep: frozenset[str] = frozenset()) -> None:
    """Say that nobody works in the gate's checkout of `commit` any more: the next move will be quicker."""
    look_over(_gate(workspace), gate_folder(workspace), commit, keep)


def strangers(workspace: Workspace) -> frozenset[str]:
    """Untracked files in the gate's checkout, ignored ones included: what a set-up made there."""
    folder = gate_folder(workspace)
    found = strange(folder, known(_gate(workspace)))
    return frozenset(
        file.relative_to(folder).as_posix() for path in found for file in files_below(folder / path)
    )


def read_files(workspace: Workspace, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Contents of those of `paths` that are files in `commit`."""
    wanted = [os.fsencode(f"{commit}:{path}") for path in paths]
    feed = b"".join(name + b"\0" for name in wanted)
    text = git(store(workspace), "cat-file", "--batch", "-z", stdin=feed)
    found: dict[str, bytes] = {}
    at = 0
    for name in wanted:
        missing = name + b" missing\n"
        if text.startswith(missing, at):
            at += len(missing)
            continue
        end = text.index(b"\n", at)
        row = text[at:end].split(b" ")
        at = end + 1
        if len(row) != 3:  # noqa: PLR2004 -- newer git says `<id> submodule`
            continue
        if row[1] == b"blob":
            found[os.fsdecode(name.partition(b":")[2])] = text[at : at + int(row[2])]
        at += int(row[2]) + 1
    return found


def held_in(workspace: Workspace, commit: str, paths: Iterable[str]) -> set[str]:
    """Those of `paths` that `commit` holds. Its whole tree is not read: most often there are few paths."""
    names = {os.fsencode(f"{commit}:{path}"): path for path in paths}
    feed = b"".join(name + b"\0" for name in names)
    text = git(store(workspace), "cat-file", "--batch-check=%(objecttype)", "-z", stdin=feed)
    found: set[str] = set()
    at = 0
    for name, path in names.items():
        # The name of what is not there is repeated, and may hold an end of line.
        if text.startswith(name + b" missing\n", at):
            at += len(name) + len(b" missing\n")
            continue
        at = text.index(b"\n", at) + 1
        found.add(path)
    return found


def tracked(workspace: Workspace, commit: str) -> dict[str, str]:
    """Mode by path of everything in `commit`."""
    return dict(_tracked(store(workspace), commit))


@lru_cache(maxsize=4)
def _tracked(place: Place, commit: str) -> dict[str, str]:
    listed = git(place, "ls-tree", "-r", "-z", "--full-tree", commit)
    rows = (row.partition(b"\t") for row in listed.split(b"\0") if row)
    return {os.fsdecode(path): head.split(b" ", 1)[0].decode() for head, _, path in rows}
