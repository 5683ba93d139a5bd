"""list_items: what an enumeration found is merged into the work-list, in the state."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import worklists
from adapters.redacting import discreet
from adapters.repository import sharing
from domain.axis import Axis
from domain.order import Enumeration, SweepTerms
from domain.survey import Survey
from domain.target import Workspace
from domain.worklist import Merged
from tasks.states import worth_another_try


@task(cache_policy=NO_CACHE, retries=2, retry_delay_seconds=1, retry_condition_fn=worth_another_try)
@discreet
def list_items(
    workspace: Workspace, axis: Axis, tip: str, found: Enumeration, terms: SweepTerms
) -> tuple[Survey, Merged]:
    """Safe to repeat: what is listed is listed once."""
    listed = worklists.merge(workspace, axis, tip, found, terms)
    sharing.push(workspace)
    return listed
