"""strike_sites: what a person struck of the list is declined."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import approving
from adapters.redacting import discreet
from domain.approval import Approval
from domain.axis import Axis
from domain.target import Workspace


@task(cache_policy=NO_CACHE)
@discreet
def strike_sites(workspace: Workspace, axis: Axis, approval: Approval, retry: bool) -> None:
    """Safe to repeat: it is done once in a run."""
    approving.strike(workspace, axis, approval, retry=retry)
