"""settle_fix: what became of the blockers, after the gate; where the review stands on the new tip."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import reviewing
from adapters.redacting import discreet
from adapters.repository import sharing
from domain.assignment import Assignment, Checked, Mended
from domain.batch import Outcome
from domain.reviewers import Opened
from tasks.states import worth_another_try


@task(cache_policy=NO_CACHE, retries=2, retry_delay_seconds=1, retry_condition_fn=worth_another_try)
@discreet
def settle_fix(
    opened: Opened, chunk: Assignment, mended: Mended, decided: Outcome, tip: str
) -> Checked:
    """Safe to repeat: a blocker that was settled is settled."""
    checked = reviewing.settle(opened, chunk, mended, decided, tip)
    sharing.push(opened.workspace)
    return checked
