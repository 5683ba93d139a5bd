"""list_sites: what an axis applies to, for a person to approve before anything is done about it."""

from prefect import task

from adapters import approving
from adapters.redacting import cleaned, discreet
from domain.approval import approvable
from domain.axis import Axis
from domain.site import Listing
from domain.target import Workspace
from tasks.journal_policy import KEPT
from tasks.showing import show_sites


@task(**KEPT)
@discreet
def list_sites(workspace: Workspace, axis: Axis, retry: bool) -> Listing:
    """Kept: what was approved is what was shown."""
    approvable(axis)
    listing = cleaned(approving.listed(workspace, axis, retry=retry))
    show_sites(workspace, listing)
    return listing
