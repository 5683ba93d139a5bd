"""close: the last word of a run, into the state, the run's folder and the UI."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import ending
from domain.journal import Journal
from domain.report import Report
from domain.target import Workspace


@task(cache_policy=NO_CACHE)
def close(workspace: Workspace, journal: Journal) -> Report:
    """Write the report; safe to repeat."""
    return ending.close(workspace, journal)
