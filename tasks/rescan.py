"""rescan: what is left on the tip, by the axis' own probe."""

from prefect import task

from adapters import ending
from adapters.redacting import discreet
from adapters.repository import sharing
from domain.axis import Axis
from domain.survey import Survey
from domain.target import Workspace
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def rescan(
    workspace: Workspace,
    axis: Axis,
    tip: str,
    number: int,
    *,
    claimed: bool = False,
    max_usd: float | None = None,
) -> Survey:
    """The list belongs to a tip and a pass: kept by both."""
    survey = ending.resurvey(workspace, axis, tip, number, claimed=claimed, max_usd=max_usd)
    sharing.push(workspace)  # what was paid
    return survey
