"""transform: one order of a sweep, made by the executor in a clone of its own."""

from prefect import task

from adapters import transforming
from adapters.redacting import cleaned, discreet
from domain.axis import Axis
from domain.budget import Budget
from domain.change import Grain
from domain.order import Made, Order
from domain.reading import Confirm
from domain.target import Workspace
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def transform(
    workspace: Workspace,
    axis: Axis,
    order: Order,
    *,
    grain: Grain,
    budget: Budget,
    confirm: Confirm,
) -> Made:
    """An item is paid once a turn: kept by both, whatever tip it was made on."""
    return cleaned(
        transforming.transform(workspace, axis, order, grain=grain, budget=budget, confirm=confirm)
    )
