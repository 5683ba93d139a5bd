"""settle_items: what became of the items that did not land, and what all of them cost; into the work-list."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import worklists
from adapters.redacting import discreet
from adapters.repository import sharing
from domain.axis import Axis
from domain.batch import Batch
from domain.order import Made
from domain.survey import Survey
from domain.target import Workspace
from domain.worklist import Worklist
from tasks.hearing import how_to
from tasks.showing import show_progress
from tasks.states import worth_another_try


@task(cache_policy=NO_CACHE, retries=2, retry_delay_seconds=1, retry_condition_fn=worth_another_try)
@discreet
def settle_items(
    workspace: Workspace, axis: Axis, made: tuple[Made, ...], batch: Batch, tip: str
) -> Survey:
    """Safe to repeat: an item's turn is counted once."""
    survey = worklists.settle(workspace, axis, made, batch, tip)
    sharing.push(workspace)
    listed = survey.state.worklist or Worklist()
    decided = len(listed.items) - len(listed.open)
    show_progress(workspace, decided, len(listed.items), how_to(workspace), what="item")
    return survey
