"""Landing: objects into the target, then branch and state in one ref transaction.

Nothing else ever writes to the target. A branch that is checked out anywhere is not moved.
"""

from collections.abc import Mapping, Sequence

from adapters.repository.git import GitFailed, Place, ask, git, object_id
from adapters.repository.workspaces import store, target_place
from domain.target import Workspace
from domain.value import Refused

ABSENT = "0" * 40


class Moved(Exception):
    """A ref was not where we had left it: somebody else wrote to it."""


def send(workspace: Workspace, commits: Sequence[str], known: Sequence[str]) -> None:
    """Copy commits and all they need from our store to the target, checked by `fsck` rules on arrival."""
    wanted = "".join(f"{commit}\n" for commit in commits)
    wanted += "".join(f"^{commit}\n" for commit in known if commit)
    pack = git(
        store(workspace), "pack-objects", "--revs", "--stdout", "-q", "--thin", "--delta-base-offset",
        stdin=wanted.encode(),
    )  # fmt: skip
    git(target_place(workspace), "index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)


def move_refs(
    workspace: Workspace, updates: Mapping[str, tuple[str, str | None]], reason: str
) -> None:
    """Move refs of the target together: ref to (new id, old id, None for a ref that must not exist).

    Repeating a move that was made already has no effect, so that a retried step is safe.
    """
    place = target_place(workspace)
    if all(object_id(place, ref) == new for ref, (new, _) in updates.items()):
        return
    lines = ["start"]
    lines += [f"update {ref} {new} {old or ABSENT}" for ref, (new, old) in updates.items()]
    lines += ["prepare", "commit", ""]
    status, _, err = ask(
        place, "update-ref", "--create-reflog", "-m", f"swathe: {reason}", "--stdin",
        stdin="\n".join(lines).encode(),
    )  # fmt: skip
    if status:
        message = err.decode(errors="replace")
        if "but expected" in message or "already exists" in message:
            raise Moved(message.strip())
        raise GitFailed("update-ref", status, message)


def refuse_checked_out(workspace: Workspace) -> None:
    """Refuse a landing branch that somebody stands on."""
    listed = git(target_place(workspace), "worktree", "list", "--porcelain", "-z")
    here = ""
    for item in listed.decode(errors="replace").split("\0"):
        if item.startswith("worktree "):
            here = item.removeprefix("worktree ")
        if item == f"branch {workspace.branch}":
            name = workspace.branch.removeprefix("refs/heads/")
            raise Refused(
                f"the branch {name!r} is checked out in {here}. Swathe moves it as commits land: "
                f"switch to another branch there (`git switch -`), then run again."
            )


def stale_locks(place: Place, refs: Sequence[str]) -> list[str]:
    """Remove locks that a killed run of ours left on our own refs. Call it with the campaign lock held."""
    removed: list[str] = []
    for ref in refs:
        lock = place.git_dir / f"{ref}.lock"
        if lock.exists():
            lock.unlink(missing_ok=True)
            removed.append(ref)
    return removed
