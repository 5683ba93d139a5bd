"""rank_units: the backlog of a tip: coherent units that are not known to be clean, the worst first."""

from prefect import task

from adapters import units
from adapters.redacting import discreet
from domain.order import Enumeration
from domain.reviewers import Opened
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def rank_units(opened: Opened, tip: str) -> Enumeration:
    """The backlog of a tip is one: kept by it."""
    return units.enumeration(opened, tip)
