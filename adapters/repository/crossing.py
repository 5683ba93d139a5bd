"""What crosses from the agent's clone: one bundle of commits, checked object by object on arrival."""

from adapters.repository.git import GitFailed, contains, git, object_id
from adapters.repository.workspaces import agent, store
from domain.target import Workspace


class Broken(Exception):
    """What the executor left behind is not a chain on top of its base."""


def cross(workspace: Workspace, base: str) -> str:
    """Bring the agent's commits since `base` into our store and return their head.

    The pack is indexed with `--strict` by us: `git bundle unbundle` checks nothing before 2.46.
    """
    try:
        head = object_id(agent(workspace), "HEAD")
        if head is None:
            raise Broken("the clone's HEAD names no commit any more")
        if head == base:
            return base
        bundle = git(agent(workspace), "bundle", "create", "-q", "-", "HEAD", f"^{base}")
        pack = bundle[bundle.index(b"\n\n") + 2 :]
        git(store(workspace), "index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)
    except GitFailed as failed:
        raise Broken(str(failed)) from failed
    if not contains(store(workspace), base, head):
        raise Broken(f"history was rewritten: {base[:12]} is not an ancestor of {head[:12]} any more")
    return head
