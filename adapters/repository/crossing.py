"""What crosses from the agent's clone: one bundle of commits, checked object by object on arrival."""

import os
from pathlib import Path

from adapters.repository.git import GitFailed, Place, contains, git, object_id
from adapters.repository.laying import reclaim
from adapters.repository.workspaces import RAW, agent, clone, store
from domain.target import Workspace


class Broken(Exception):
    """What the executor left behind is not a chain on top of its base."""


def cross(workspace: Workspace, base: str) -> str:
    """Bring the commits that we made in the agent's checkout since `base` into our store; their head."""
    return _bundled(workspace, agent(workspace), base)


def cross_theirs(workspace: Workspace, base: str) -> str:
    """The same for an executor that committed by itself, in the `.git` it was given.

    Whatever it did to that folder, only refs and objects in it are believed, and `Broken` says what is wrong.
    """
    place = clone(workspace)
    _refuse_links(place.git_dir)
    reclaim(place.git_dir, store(workspace).git_dir / "objects", base, RAW)
    return _bundled(workspace, place, base)


def _bundled(workspace: Workspace, place: Place, base: str) -> str:
    """The pack is indexed with `--strict` by us: `git bundle unbundle` checks nothing before 2.46."""
    try:
        head = object_id(place, "HEAD")
        if head is None:
            raise Broken("the clone's HEAD names no commit any more")
        if head == base:
            return base
        if not contains(place, base, head):
            raise _rewritten(base, head)
        # Deltas would cost more time than they save bytes: the pack is read once, here.
        bundle = git(
            place, "bundle", "create", "-q", "-", "HEAD", f"^{base}", options=("pack.window=0",)
        )
        pack = bundle[bundle.index(b"\n\n") + 2 :]
        git(store(workspace), "index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)
    except GitFailed as failed:
        raise Broken(str(failed)) from failed
    if not contains(store(workspace), base, head):
        raise _rewritten(base, head)
    return head


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
