"""Curating: the landed commits, grouped into fewer, on a second branch. The original chain is not touched."""

from adapters.repository import states
from adapters.repository.chains import read_chain
from adapters.repository.git import object_id, tree_of
from adapters.repository.landing import move_refs, put_in, refuse_checked_out
from adapters.repository.workspaces import store, target_place
from adapters.repository.writing import Draft, write_commits
from domain.commit import joined
from domain.curation import Grouping, directory, grouped
from domain.target import Workspace
from domain.value import Refused, Value


class Curated(Value):
    """The second branch."""

    branch: str
    tip: str
    commits: int
    made_of: int


def branch_of(workspace: Workspace, by: Grouping) -> str:
    return f"{workspace.branch}-by-{by}"


def curate(workspace: Workspace, by: Grouping, at: int) -> Curated:
    """Write the groups, see that their last tree is the landed one, and move the second branch there."""
    place = target_place(workspace)
    state, _ = states.load(place, workspace.state_ref)
    tip = object_id(place, workspace.branch)
    if state is None or tip is None or not state.landed:
        raise Refused(f"nothing has landed for {workspace.axis!r} yet: there is nothing to group.")
    commits = read_chain(store(workspace), state.base, tip)
    items = {landed.sha: landed.item or landed.site for landed in state.landed}
    groups = grouped(
        commits,
        directory if by == "directory" else lambda commit: items.get(commit.sha, commit.sha),
    )
    drafts = [
        Draft(group.message(state.axis), joined(group.commits), None if n else state.base)
        for n, group in enumerate(groups)
    ]
    shas = write_commits(store(workspace), drafts, at)
    if tree_of(store(workspace), shas[-1]) != tree_of(place, tip):
        raise RuntimeError(f"the groups of {workspace.branch} come to another tree than it has")
    name = branch_of(workspace, by)
    second = workspace.model_copy(update={"axis": f"{workspace.axis}-by-{by}"})
    refuse_checked_out(second)
    before = object_id(place, name)
    put_in(workspace, [shas[-1]], [tip])
    move_refs(workspace, {name: (shas[-1], before)}, f"group by {by}")
    return Curated(
        branch=name.removeprefix("refs/heads/"),
        tip=shas[-1],
        commits=len(groups),
        made_of=len(commits),
    )
