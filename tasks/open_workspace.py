"""open_workspace: find the target, take its lock, lay the clones."""

import os

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from adapters import beginning, events, redacting
from adapters.boxing import boxed
from adapters.repository.bases import on_its_base
from adapters.repository.opening import open_target
from adapters.repository.workspaces import run_folder
from domain.axis import Axis, slug
from domain.budget import UNBOUNDED, Budget
from domain.hired import Hired
from domain.pool import target_in
from domain.reading import Confirm, confirmable
from domain.target import Target, Workspace, hire
from domain.teaching import teachable
from tasks.hearing import listen
from tasks.showing import address
from tasks.slots import answer_for_missed, refuse_beside_one_that_waits, refuse_many_starts


@task(cache_policy=NO_CACHE)
@redacting.discreet
def open_workspace(
    asked: Target | None,
    axis: Axis,
    run: str,
    hired: Hired | None = None,
    *,
    budget: Budget = UNBOUNDED,
    confirm: Confirm = "off",
    teach: int = 0,
) -> Workspace:
    """Attach to the target, or to the work pool's. Safe to repeat: the same value, however often it is attached."""
    refuse_many_starts()
    refuse_beside_one_that_waits()
    target = asked or target_in(os.environ)
    beginning.check_executor(axis, hired)
    confirmable(confirm, hired)
    teachable(teach, hired)
    if hired:
        from adapters import hiring  # noqa: PLC0415 -- the libraries of models, for a model alone

        hiring.check(hired, budget, confirm)
    redacting.refuse(target, axis)
    opened = open_target(target, slug(axis), run or str(flow_run.id)[:13])
    workspace = boxed(hire(on_its_base(opened), hired))
    beginning.attach(workspace)
    answer_for_missed()
    listen(workspace)
    events.emit(run_folder(workspace), "ui", url=address())
    return workspace
