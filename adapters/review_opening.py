"""Opening a review: who is to look, on which terms, in which workspace."""

import os
from collections.abc import Sequence
from pathlib import Path

from adapters import redacting
from adapters.boxing import boxed
from adapters.executors import rule_review
from adapters.processes.tool import run_tool, tool_path
from adapters.repository.opening import open_target
from domain.axis import Sentence
from domain.budget import Budget
from domain.hired import Hired
from domain.review_options import ANYTHING, ReviewFlow, ReviewSettings, review_slug
from domain.reviewers import Opened, Reviewer, chosen, seated
from domain.target import Target


def opened(
    target: Target,
    axis: Sentence | None,
    run: str,
    settings: ReviewSettings,
    hired: Sequence[Hired],
    *,
    only_rules: bool,
    budget: Budget,
    flow: ReviewFlow = "review",
) -> Opened:
    """The workspace, and who reviews there. `Refused` before anything is paid."""
    redacting.refuse(target, axis or ANYTHING)
    reviewers, said = _reviewers(settings, hired, budget, only_rules=only_rules)
    workspace = open_target(target, review_slug(axis, flow), run)
    workspace = seated(workspace, reviewers, reviewers[0].family)
    if workspace.hired:
        workspace = boxed(workspace)
    terms = settings.terms(axis, target.paths, reviewers, _instructions(reviewers))
    return Opened(
        workspace=workspace, axis=axis or ANYTHING, reviewers=reviewers, terms=terms, said=said
    )


def _reviewers(
    settings: ReviewSettings, hired: Sequence[Hired], budget: Budget, *, only_rules: bool
) -> tuple[tuple[Reviewer, ...], str]:
    from adapters.models.families import connect, with_key  # noqa: PLC0415 -- prices take a while

    reviewers, said = chosen(
        hired,
        rules=rule_review.families(),
        with_key=with_key(os.environ),
        only_rules=only_rules,
        mode=settings.review,
    )
    for one in reviewers:
        if one.hired:
            connect(one.hired, os.environ, budget.caps)
    return reviewers, said


def _instructions(reviewers: Sequence[Reviewer]) -> str:
    """What a verdict of rules depends on: the rules, and the versions of the tools that follow them."""
    rules = [one.family for one in reviewers if not one.hired]
    engines = [rule_review.engine_of(family).to_json() for family in rules]
    versions = [
        os.fsdecode(run_tool([tool_path(family), "--version"], cwd=Path("/")).stdout)
        for family in rules
    ]
    return "\n".join([*engines, *versions])
