"""begin_units: the state of a backlog, and the baseline of the gate."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import units
from adapters.redacting import discreet
from domain.reviewers import Opened
from domain.survey import Start


@task(cache_policy=NO_CACHE)
@discreet
def begin_units(opened: Opened, *, retry: bool) -> Start:
    """What the run sets out with; a repeated step is told the same start."""
    return units.begin(opened, retry=retry)
