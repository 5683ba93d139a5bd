"""streak_check: the verdict and the cursor are written together, and what is due after that."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import reviewing
from adapters.redacting import discreet
from adapters.repository import sharing
from domain.assignment import Assignment, Checked, Heard
from domain.reviewers import Opened
from tasks.states import worth_another_try


@task(cache_policy=NO_CACHE, retries=2, retry_delay_seconds=1, retry_condition_fn=worth_another_try)
@discreet
def streak_check(opened: Opened, chunk: Assignment, heard: Heard) -> Checked:
    """Safe to repeat: a verdict that was counted is not counted twice."""
    checked = reviewing.check(opened, chunk, heard)
    sharing.push(opened.workspace)
    return checked
