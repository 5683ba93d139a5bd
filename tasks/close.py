"""close: the last word of a run, into the state, the run's folder and the UI."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import ending
from adapters.redacting import discreet
from domain.journal import Journal
from domain.report import Report
from domain.review_journal import ReviewJournal
from domain.sweep_journal import SweepJournal
from domain.target import Workspace
from tasks.hearing import fall_silent
from tasks.showing import show_commits, show_report


@task(cache_policy=NO_CACHE)
@discreet
def close(workspace: Workspace, journal: Journal | ReviewJournal | SweepJournal) -> Report:
    """Write the report, let go of the lock, and show both; safe to repeat."""
    fall_silent()
    report = ending.close(workspace, journal)
    show_commits(workspace, report.landed, report.parked)
    show_report(workspace, report)
    return report
