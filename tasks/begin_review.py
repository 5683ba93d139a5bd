"""begin_review: the state, the baseline of the gate, and where the review stands."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import reviewing
from adapters.redacting import discreet
from domain.assignment import Begun
from domain.reviewers import Opened


@task(cache_policy=NO_CACHE)
@discreet
def begin_review(opened: Opened, *, retry: bool) -> Begun:
    """What the run sets out with; a repeated step is told the same start."""
    return reviewing.begin(opened, retry=retry)
