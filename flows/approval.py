"""Approve first: the list, a person's word on it, and what was struck. Nothing is paid and no gate is run before."""

from domain.approval import Approval
from domain.axis import Axis
from domain.target import Workspace
from tasks.approve_first import approve_first
from tasks.list_sites import list_sites
from tasks.strike_sites import strike_sites


def approval_of(workspace: Workspace, axis: Axis, retry: bool, minutes: float) -> Approval:
    """May suspend the run. What was struck is declined when it comes back."""
    listing = list_sites(workspace, axis, retry)
    approval = approve_first(workspace, listing, minutes)
    strike_sites(workspace, axis, approval, retry)
    return approval
