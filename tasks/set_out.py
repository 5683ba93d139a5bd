"""set_out: the state, the sites, and the baseline of the gate on the base commit."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import beginning
from adapters.redacting import discreet
from domain.axis import Axis
from domain.budget import UNBOUNDED, Budget
from domain.survey import Start
from domain.target import Workspace


@task(cache_policy=NO_CACHE)
@discreet
def set_out(
    workspace: Workspace,
    axis: Axis,
    retry: bool,
    budget: Budget = UNBOUNDED,
    *,
    idle: bool = False,
) -> Start:
    """What the run sets out with. It is written down once, so that a repeated step is told the same.

    `idle`: nothing will be done, so that nothing is to be proved.
    """
    return beginning.set_out(workspace, axis, retry=retry, caps=budget.caps, idle=lambda _: idle)
