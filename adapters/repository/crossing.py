"""What crosses from the agent's clone: one bundle of commits, checked object by object on arrival."""

import os
import re
import stat
from pathlib import Path

from adapters.erasing import erase
from adapters.failpoints import reach
from adapters.processes import sandbox
from adapters.processes.surroundings import scrubbed_environment
from adapters.repository.git import GitFailed, Place, contains, git, object_id
from adapters.repository.laying import reclaim
from adapters.repository.sending import send
from adapters.repository.workspaces import RAW, agent, agent_folder, clone, store
from adapters.repository.writing import QUICK
from domain.sandbox import Limits, Mount
from domain.sandbox import agent as of_agent
from domain.target import Workspace

BUNDLE = """
head=$(git rev-parse --verify --quiet 'HEAD^{commit}') || exit 3
[ "$head" != "$1" ] || exit 0
git merge-base --is-ancestor "$1" "$head" || { echo "$head"; exit 4; }
exec git -c pack.window=0 bundle create -q "$2" HEAD "^$1"
"""
"""Nothing depends on what it says: the bundle is checked out here."""
NO_HEAD, REWRITTEN = 3, 4
HEAD = re.compile(rb"^([0-9a-f]{40}|[0-9a-f]{64}) HEAD$", re.MULTILINE)
NO_DELTAS = ("pack.window=0",)
"""They would cost more time than they save bytes: the pack is read once, here."""
MOST_BYTES = 1 << 29
SECONDS = 600.0


class Broken(Exception):
    """What the executor left behind is not a chain on top of its base."""


def cross(workspace: Workspace, base: str, head: str) -> str:
    """Bring our own commits, which we wrote on `base` up to `head` in the agent's checkout, into our store.

    No bundle is needed: `agent.git` is ours, no command of the executor's reaches it, and what is in it came from
    `git fast-import`. There is no config, hook or attribute in it that somebody else wrote.
    """
    if head != base:
        send(agent(workspace), store(workspace), [head], [base], packing=NO_DELTAS, indexing=QUICK)
        _arrived(workspace, base, head)
    return head


def cross_theirs(workspace: Workspace, base: str) -> str:
    """The same for an executor that committed by itself, in the `.git` it was given.

    Whatever it did to that folder, only refs and objects in it are believed, and `Broken` says what is wrong.
    The bundle is made where the executor worked, in its sandbox: a flaw in how git reads a hostile repository
    reaches no further than the executor's own commands did.
    """
    place = clone(workspace)
    _refuse_links(place.git_dir)
    reclaim(place.git_dir, store(workspace).git_dir / "objects", base, RAW)
    if workspace.sandbox.backend == "none":
        return _bundled(workspace, place, base, _head_on(place, base))
    bundle = _made_inside(workspace, place, base)
    return _taken_in(workspace, base, _head_of(bundle), bundle) if bundle else base


def _head_on(place: Place, base: str) -> str:
    try:
        head = object_id(place, "HEAD")
        if head is None:
            raise Broken("the clone's HEAD names no commit any more")
        if not contains(place, base, head):
            raise _rewritten(base, head)
    except GitFailed as failed:
        raise Broken(str(failed)) from failed
    return head


def _bundled(workspace: Workspace, place: Place, base: str, head: str) -> str:
    """The pack is indexed with `--strict` by us: `git bundle unbundle` checks nothing before 2.46."""
    if head == base:
        return base
    try:
        bundle = git(place, "bundle", "create", "-q", "-", "HEAD", f"^{base}", options=NO_DELTAS)
    except GitFailed as failed:
        raise Broken(str(failed)) from failed
    reach("bundled")
    return _taken_in(workspace, base, head, bundle)


def _taken_in(workspace: Workspace, base: str, head: str, bundle: bytes) -> str:
    """Index the pack of the bundle in our store, which refuses broken objects and broken links."""
    pack = bundle[bundle.index(b"\n\n") + 2 :]
    try:
        git(
            store(workspace),
            "index-pack",
            "--stdin",
            "--fix-thin",
            "--strict",
            stdin=pack,
            options=QUICK,
        )
    except GitFailed as failed:
        raise Broken(str(failed)) from failed
    _arrived(workspace, base, head)
    return head


def _arrived(workspace: Workspace, base: str, head: str) -> None:
    reach("crossed")
    try:
        grown = contains(store(workspace), base, head)
    except GitFailed as failed:
        raise Broken(f"the bundle names the commit {head[:12]} and does not hold it") from failed
    if not grown:
        raise _rewritten(base, head)


def _made_inside(workspace: Workspace, place: Place, base: str) -> bytes:
    """The bundle of what lies on `base`, made by git in the agent's sandbox; empty when there is nothing."""
    folder = agent_folder(workspace)
    made = folder.with_name(f"{folder.name}.crossing")
    erase(made)
    made.mkdir()
    profile = of_agent(str(folder), readonly=workspace.sandbox.readonly)
    done = sandbox.run(
        ["/bin/sh", "-c", BUNDLE, "sh", base, str(made / "bundle")],
        profile=profile.model_copy(
            update={
                "mounts": (*profile.mounts, Mount(path=str(made), writable=True)),
                "limits": Limits(file_bytes=MOST_BYTES),
            }
        ),
        backend=workspace.sandbox.backend,
        cwd=folder,
        env=scrubbed_environment({"GIT_DIR": str(place.git_dir)}),
        timeout_seconds=SECONDS,
    )
    match done.exit_code:
        case 0:
            return _read(made / "bundle")
        case code if code == NO_HEAD:
            raise Broken("the clone's HEAD names no commit any more")
        case code if code == REWRITTEN:
            raise _rewritten(base, done.output.strip()[:64])
        case _:
            raise Broken(
                f"no bundle could be made of it: git {done.how}: {done.output.strip()[-300:]}"
            )


def _read(path: Path) -> bytes:
    """What a command may have put there: nothing, a link, a pipe. Only a file is read."""
    try:
        with open(path, "rb", opener=_as_a_file) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(MOST_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Broken(f"the bundle is no file: {error.strerror}") from error
    raise Broken("the bundle is no file")


def _as_a_file(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _head_of(bundle: bytes) -> str:
    found = HEAD.search(bundle.partition(b"\n\n")[0])
    if found is None:
        raise Broken("the bundle names no HEAD")
    return found[1].decode()


def _rewritten(base: str, head: str) -> Broken:
    return Broken(f"history was rewritten: {base[:12]} is not an ancestor of {head[:12]} any more")


def _refuse_links(git_dir: Path) -> None:
    """A link among refs or objects could have us read a repository that the agent cannot."""
    if git_dir.is_symlink() or not git_dir.is_dir():
        raise Broken("the clone's .git was removed or replaced")
    for top in ("", "refs", "objects"):
        for above, folders, files in os.walk(git_dir / top):
            for name in (*folders, *files):
                if Path(above, name).is_symlink():
                    raise Broken(
                        f"the clone's .git holds a link: {Path(above, name).relative_to(git_dir)}"
                    )
            if not top:
                break
