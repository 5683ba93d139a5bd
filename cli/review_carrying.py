"""Carrying a review through: what the command line does before Prefect, and the flow."""

from typing import Any

from adapters import beginning, ending, events, review_opening, reviewing, units
from adapters.repository.opening import absolute
from adapters.repository.workspaces import run_folder
from cli.asked import new_run
from cli.carrying import held, made_ready, reported
from cli.progress import follow
from domain.axis import title
from domain.journal import Journal
from domain.report import Report
from domain.review_journal import ReviewJournal
from domain.review_options import ReviewOptions
from domain.target import Workspace
from domain.value import Busy


def run_review(options: ReviewOptions) -> Report:
    """Review the target chunk by chunk, and report. What is wrong is said before anything is started."""
    repo = absolute(options.target.repo)
    target = options.target.model_copy(update={"repo": repo})
    opened = review_opening.opened(
        target,
        options.axis,
        new_run(),
        options.settings,
        options.hired,
        only_rules=options.only_rules,
        budget=options.budget,
        flow="units" if options.units else "review",
    )
    workspace, axis = opened.workspace, title(opened.axis)
    try:
        beginning.attach(workspace)
    except Busy as busy:
        return held(workspace, axis, busy)
    run = run_folder(workspace)
    events.emit(
        run, "begun", run=workspace.run, axis=axis, target=repo,
        base=workspace.base, branch=workspace.branch.removeprefix("refs/heads/"),
    )  # fmt: skip
    events.emit(run, "step", what=opened.said)
    with follow(run / events.FILE):
        if options.units:
            units.begin(opened, retry=options.retry, before_gate=made_ready)
        else:
            begun = reviewing.begin(opened, retry=options.retry, before_gate=made_ready)
            campaign = Journal.begin(begun.start, options.budget, "finding")
            passes = options.settings.passes(opened.reviewers)
            journal = ReviewJournal.begin(campaign, begun.standing, passes, opened.said)
            if journal.ending:
                return ending.close(workspace, journal)
        return reported(workspace, lambda: _carried(options, workspace))


def _carried(options: ReviewOptions, workspace: Workspace) -> Any:
    if options.units:
        from flows.unit_loop import unit_loop

        return unit_loop(
            options.axis,
            workspace.target,
            options.units,
            options.settings,
            options.budget,
            options.hired,
            options.only_rules,
            options.retry,
            workspace.run,
            return_state=True,
        )
    from flows.review_loop import review_loop

    return review_loop(
        options.axis,
        workspace.target,
        options.settings,
        options.budget,
        options.hired,
        options.only_rules,
        options.retry,
        workspace.run,
        return_state=True,
    )
