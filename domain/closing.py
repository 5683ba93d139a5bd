"""The part of a closing record that follows from where a run stands, whatever it did."""

from domain.dissent import disputes, unconfirmed
from domain.gate import Baseline
from domain.report import BaselineSummary, Ending, Report
from domain.survey import Start, Survey


def standing(start: Start, survey: Survey, ending: Ending, why: str) -> Report:
    """What was set out with, and what the state has: what the run did itself is for the caller to add."""
    state = survey.state
    mine = tuple(commit for commit in state.landed if commit.run == start.run)
    return Report(
        run=start.run,
        ending=ending,
        why=why,
        axis=start.axis,
        target=start.target,
        base=start.base,
        branch=start.branch.removeprefix("refs/heads/"),
        tip=survey.tip if state.landed else "",
        landed=mine,
        landed_before=len(state.landed) - len(mine),
        parked=state.parked,
        looked=survey.known,
        declined=state.declined,
        baseline=_summary(start.baseline),
        gate=start.plan.verify,
        sandbox=start.sandbox,
        spend_usd=survey.spend_usd,
        first_commit_seconds=survey.first_commit_seconds,
        notes=(*unconfirmed(mine), *disputes(state)),
    )


def _summary(baseline: Baseline) -> BaselineSummary:
    tests = baseline.run.tests
    return BaselineSummary(
        failed=baseline.failed, flaky=baseline.flaky, tests=None if tests is None else len(tests)
    )
