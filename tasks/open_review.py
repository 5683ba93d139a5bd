"""open_review: attach to the target for a review, and settle who reviews."""

import os

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from adapters import beginning, events, redacting, review_opening
from adapters.boxing import boxed
from adapters.repository.workspaces import run_folder
from domain.axis import Sentence
from domain.budget import Budget
from domain.hired import Hired
from domain.pool import target_in
from domain.review_options import ReviewFlow, ReviewSettings
from domain.reviewers import Opened
from domain.target import Target
from tasks.hearing import listen
from tasks.showing import address
from tasks.slots import answer_for_missed, refuse_beside_one_that_waits, refuse_many_starts


@task(cache_policy=NO_CACHE)
@redacting.discreet
def open_review(
    asked: Target | None,
    axis: Sentence | None,
    run: str,
    settings: ReviewSettings,
    hired: tuple[Hired, ...],
    *,
    only_rules: bool,
    budget: Budget,
    flow: ReviewFlow = "review",
) -> Opened:
    """Attach to the target, or to the work pool's. Safe to repeat: the same value, however often it is attached."""
    refuse_many_starts()
    refuse_beside_one_that_waits()
    opened = review_opening.opened(
        asked or target_in(os.environ),
        axis,
        run or str(flow_run.id)[:13],
        settings,
        hired,
        only_rules=only_rules,
        budget=budget,
        flow=flow,
    )
    opened = opened.model_copy(update={"workspace": boxed(opened.workspace)})
    beginning.attach(opened.workspace)
    answer_for_missed()
    listen(opened.workspace)
    events.emit(run_folder(opened.workspace), "ui", url=address())
    return opened
