"""The list of sites before anything is done about it, and what was struck of it."""

import time

from adapters import beginning, events
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder
from adapters.whole import write_whole
from domain.approval import Approval
from domain.axis import Axis, title
from domain.site import Listing
from domain.state import State
from domain.survey import Survey, open_sites
from domain.target import Workspace

KEPT = "approval.json"


def listed(workspace: Workspace, axis: Axis, *, retry: bool) -> Listing:
    """The sites that a run would work on. No state is written, and no gate is run."""
    state, listing = beginning.preview(workspace, axis)
    state = state or State(axis=title(axis), base=workspace.base)
    survey = Survey(state=state.retried() if retry else state, listing=listing, tip="")
    return listing.model_copy(update={"sites": open_sites(survey)})


def strike(workspace: Workspace, axis: Axis, approval: Approval, *, retry: bool) -> None:
    """Have what was struck declined from now on; once in a run, however often it is begun."""
    kept = run_folder(workspace) / KEPT
    if kept.exists():
        return
    if approval.go:
        before = beginning.current_state(workspace, title(axis))
        state = before.retried() if retry else before
        more = (one for one in approval.struck if one not in state.declined)
        state = state.model_copy(update={"declined": (*state.declined, *more)})
        if state != before:
            save(workspace, state, approval.said, int(time.time()))
    events.emit(run_folder(workspace), "step", what=approval.why or approval.said)
    write_whole(kept, approval.to_json())
