"""Starting where the last run stopped, however it stopped."""

from adapters.failpoints import reach
from adapters.repository import states
from adapters.repository.git import ask, contains, git, object_id
from adapters.repository.landing import (
    archive_of,
    campaign_refs,
    move_refs,
    moved_by_us,
    refuse_blocked,
    refuse_checked_out,
    stale_locks,
)
from adapters.repository.workspaces import store, target_place
from domain.state import State
from domain.target import Workspace
from domain.value import Value
from domain.words import counted


class Found(Value):
    """What a run sets out from."""

    state: State
    commit: str | None
    """The commit that holds the state."""
    tip: str
    """Where the executor starts: the landed tip, or the base."""
    notes: tuple[str, ...] = ()


def recover(workspace: Workspace, axis: str) -> Found:
    """Read the state, finish what a kill cut off, and meet a base that has moved. Call it with the lock held."""
    place = target_place(workspace)
    stale_locks(workspace)
    reach("locks-cleared")
    refuse_blocked(workspace)
    refuse_checked_out(workspace)
    state, commit = states.load(place, workspace.state_ref)
    branch = object_id(place, workspace.branch)
    if state is None:
        return _first(workspace, axis, branch)
    if state.tip and branch != state.tip:
        branch = _roll_forward(workspace, state, branch)
    _restore_parked(workspace, state)
    return _meet_base(workspace, state, commit, branch or workspace.base)


def _first(workspace: Workspace, axis: str, branch: str | None) -> Found:
    """No state: an empty campaign. A branch of that name goes on, from the base when that holds all of it."""
    fresh = State(axis=axis, base=workspace.base)
    if branch is None:
        return Found(state=fresh, commit=None, tip=workspace.base)
    note = f"the branch {_short(workspace)} was there without a state: the work goes on from it."
    found = _meet_base(workspace, fresh, None, branch)
    return found.model_copy(update={"notes": (note, *found.notes)})


def _short(workspace: Workspace) -> str:
    return workspace.branch.removeprefix("refs/heads/")


def _roll_forward(workspace: Workspace, state: State, branch: str | None) -> str | None:
    """The state names the landed commit: the branch is moved there, unless somebody else moved it."""
    place = target_place(workspace)
    if object_id(place, state.tip) is None:
        return branch
    if branch is None or (
        contains(place, branch, state.tip) and moved_by_us(place, workspace.branch)
    ):
        move_refs(workspace, {workspace.branch: (state.tip, branch)}, "recovered")
        return state.tip
    return branch


def _restore_parked(workspace: Workspace, state: State) -> None:
    """What the state says is parked has its ref: git moves the refs of a transaction one by one, the state's first."""
    place, now = target_place(workspace), campaign_refs(workspace)
    named = {parked.ref: parked.sha for parked in state.parked if parked.ref}
    missing = {ref: sha for ref, sha in named.items() if ref not in now}
    there = {ref: (sha, None) for ref, sha in missing.items() if object_id(place, sha)}
    if there:
        move_refs(workspace, there, "recovered")


def _meet_base(workspace: Workspace, state: State, commit: str | None, tip: str) -> Found:
    place = target_place(workspace)
    moved = state.model_copy(update={"base": workspace.base})
    if contains(place, tip, workspace.base):
        # Everything that landed was taken home: the branch follows the base with the next landing.
        return Found(state=moved, commit=commit, tip=workspace.base)
    if contains(place, workspace.base, tip):
        return Found(state=state, commit=commit, tip=tip)
    if _all_taken(workspace, tip):
        archive = archive_of(workspace, tip)
        if object_id(place, archive) is None:
            move_refs(workspace, {archive: (tip, None)}, "taken home by another commit")
        note = f"all that had landed is in the base by other commits; the old branch is kept as {archive}."
        return Found(state=moved, commit=commit, tip=workspace.base, notes=(note,))
    count = int(git(place, "rev-list", "--count", f"{tip}..{workspace.base}"))
    note = (
        f"the base has {counted(count, 'commit')} that {_short(workspace)} does not have; "
        f"take what landed, and the next run starts from there."
    )
    return Found(state=state, commit=commit, tip=tip, notes=(note,))


def _all_taken(workspace: Workspace, tip: str) -> bool:
    """Whether a merge of `tip` into the base would change nothing: it was squashed or picked there.

    In our store, which the merge may write to, and where no merge driver of the target's is known.
    """
    place = store(workspace)
    status, out, _ = ask(place, "merge-tree", "--write-tree", workspace.base, tip)
    base = git(place, "rev-parse", f"{workspace.base}^{{tree}}")
    return status == 0 and out.split(b"\n", 1)[0] == base.strip()
