"""Landing: objects into the target, then branch and state in one ref transaction.

Nothing else ever writes to the target. A branch that is checked out anywhere is not moved.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.failpoints import reach
from adapters.repository.git import GitFailed, Place, ask, contains, git, refs
from adapters.repository.sending import send
from adapters.repository.workspaces import store, target_place
from domain.target import Workspace
from domain.value import Refused


class Moved(Refused):
    """A ref was not where we had left it: somebody else wrote to it."""


def stands(workspace: Workspace, tip: str) -> None:
    """`Moved` when the work does not stand on `tip` any more; nothing is to be paid for then."""
    now = campaign_refs(workspace).get(workspace.branch)
    if now is not None and now != tip:
        name = workspace.branch.removeprefix("refs/heads/")
        raise Moved(
            f"another run has moved {name!r} while this one waited: it is at {now[:12]}, and this run had left it at "
            f"{tip[:12]}. Nothing was overwritten. Run again, and the work goes on from there."
        )


def put_in(workspace: Workspace, commits: Sequence[str], known: Sequence[str]) -> None:
    """Send commits and all they need from our store to the target."""
    send(store(workspace), target_place(workspace), commits, known)
    reach("objects-sent")


def campaign_refs(workspace: Workspace) -> dict[str, str]:
    """Every ref of this campaign in the target, by full name."""
    return refs(target_place(workspace), workspace.branch, f"refs/swathe/{workspace.axis}")


def archive_of(workspace: Workspace, tip: str) -> str:
    """The ref that keeps a landing branch whose work reached the base by other commits."""
    return f"refs/swathe/{workspace.axis}/taken/{tip[:12]}"


def move_refs(
    workspace: Workspace, updates: Mapping[str, tuple[str, str | None]], reason: str
) -> None:
    """Move refs of the target together: ref to (new id, old id, None for a ref that must not exist).

    Repeating a move that was made already has no effect, so that a retried step is safe.
    """
    place = target_place(workspace)
    lines = ["start"]
    for ref, (new, old) in updates.items():
        lines.append(f"update {ref} {new} {old}" if old else f"create {ref} {new}")
    lines += ["prepare", "commit", ""]
    reach("refs-moving")
    status, _, err = ask(
        place, "update-ref", "--no-deref", "--create-reflog", "-m", f"{REASON}{reason}", "--stdin",
        stdin="\n".join(lines).encode(),
    )  # fmt: skip
    if status:
        now = campaign_refs(workspace)
        if all(now.get(ref) == new for ref, (new, _) in updates.items()):
            return
        message = err.decode(errors="replace")
        if any(words in message for words in _MOVED):
            raise Moved(
                f"somebody else moved a ref of this run; nothing was overwritten. Run again. ({message.strip()})"
            )
        raise GitFailed("update-ref", status, message)
    reach("refs-moved")


REASON = "swathe: "
"""How a line of ours begins in the log of a ref."""

_MOVED = ("but expected", "already exists", "unable to resolve reference")


def refuse_foreign(workspace: Workspace, branch: str | None, expected: str, new: str) -> None:
    """Refuse to move the branch away from work that is not ours: nothing is lost, nothing forced.

    It may go on from where this run left it, or from any commit that the new one holds, or from one
    that was kept aside.
    """
    if branch is None or branch == expected or contains(store(workspace), branch, new):
        return
    if branch != campaign_refs(workspace).get(archive_of(workspace, branch)):
        name = workspace.branch.removeprefix("refs/heads/")
        raise Moved(
            f"somebody else moved {name!r}: it is at {branch[:12]}, and this run had left it at {expected[:12]}. "
            f"Nothing was overwritten. Run again, and the work goes on from there."
        )


def refuse_checked_out(workspace: Workspace) -> None:
    """Refuse a landing branch that somebody stands on, or is in the middle of rebasing."""
    listed = git(target_place(workspace), "worktree", "list", "--porcelain", "-z")
    name = workspace.branch.removeprefix("refs/heads/")
    here = ""
    for item in os.fsdecode(listed).split("\0"):
        if item.startswith("worktree "):
            here = item.removeprefix("worktree ")
        if item == f"branch {workspace.branch}":
            raise Refused(
                f"the branch {name!r} is checked out in {here}. Swathe moves it as commits land: "
                f"switch to another branch there (`git switch -`), then run again."
            )
    if _rebased(workspace):
        raise Refused(
            f"the branch {name!r} is being rebased. Finish that (or abort it), then run again."
        )


def _rebased(workspace: Workspace) -> bool:
    common = Path(workspace.git_dir)
    folders = [common, *(common / "worktrees").glob("*")]
    heads = [
        folder / kind / "head-name"
        for folder in folders
        for kind in ("rebase-merge", "rebase-apply")
    ]
    return any(head.is_file() and head.read_text().strip() == workspace.branch for head in heads)


def refuse_blocked(workspace: Workspace) -> None:
    """Refuse when a branch's name leaves no room for ours: `swathe`, or one below `swathe/<axis>/`."""
    names = refs(target_place(workspace), "refs/heads/swathe")
    for name in names:
        if name == "refs/heads/swathe" or name.startswith(f"{workspace.branch}/"):
            short, ours = (ref.removeprefix("refs/heads/") for ref in (name, workspace.branch))
            raise Refused(
                f"the branch {short!r} leaves no room for {ours!r}, where commits land. "
                f"Rename it: git branch -m {short} another-name"
            )


def stale_locks(workspace: Workspace) -> list[str]:
    """Remove locks that a killed run of ours left on our own refs. Call it with the campaign lock held."""
    place = target_place(workspace)
    locks = [place.git_dir / f"{workspace.branch}.lock"]
    locks += sorted((place.git_dir / "refs" / "swathe" / workspace.axis).rglob("*.lock"))
    found = [lock for lock in locks if lock.exists()]
    for lock in found:
        lock.unlink(missing_ok=True)
    return [str(lock.relative_to(place.git_dir)).removesuffix(".lock") for lock in found]


def moved_by_us(place: Place, ref: str) -> bool:
    """Whether the last move of a ref was ours, as far as its log tells."""
    status, out, _ = ask(place, "reflog", "show", "-1", "--format=%gs", ref, "--")
    return status != 0 or not out.strip() or out.startswith(REASON.encode())
