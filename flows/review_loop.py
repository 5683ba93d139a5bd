"""ADR-011 and ADR-045: a repository too large for one look is reviewed chunk by chunk, by two families in turn.

Every verdict is written with the cursor, so that a crash loses none; every fix takes the one path of
a commit and lands at once; and the loop ends when the stop rule says so, never before.
"""

from prefect import State, flow

from domain.assignment import Assignment, Checked
from domain.axis import Sentence
from domain.budget import UNBOUNDED, Budget
from domain.hired import Hired
from domain.journal import Journal
from domain.report import Report
from domain.review_journal import ReviewJournal
from domain.review_options import ReviewSettings
from domain.reviewers import Opened
from domain.target import Target
from domain.value import Busy
from flows.chain import carry
from tasks.begin_review import begin_review
from tasks.close import close
from tasks.fixer import fixer
from tasks.open_review import open_review
from tasks.reviewer import reviewer
from tasks.settle_fix import settle_fix
from tasks.snapshot_chunk import snapshot_chunk
from tasks.states import held, review_name, state_of
from tasks.streak_check import streak_check

DEFAULTS = ReviewSettings()


@flow(flow_run_name=review_name, persist_result=True, result_serializer="json")
def review_loop(
    axis: Sentence | None = None,
    target: Target | None = None,
    settings: ReviewSettings = DEFAULTS,
    budget: Budget = UNBOUNDED,
    reviewers: tuple[Hired, ...] = (),
    only_rules: bool = False,
    retry: bool = False,
    run: str = "",
) -> State[Report]:
    """Review a repository chunk by chunk until it is clean; mend, verify and land what is found.

    Args:
        axis: What the reviewers look for; empty: whatever is wrong.
        target: The repository, and the commands that prove it; none: the repository of the work pool.
        settings: Chunks, families, and when the review is done.
        budget: What the run may spend. What it has landed by then, it keeps.
        reviewers: Models, one of a family; empty: those whose keys the worker's environment has, else rules.
        only_rules: Ask no model.
        retry: Try what is stuck again.
        run: Id of the run; leave it empty.
    """
    try:
        opened = open_review(
            target, axis, run, settings, reviewers, only_rules=only_rules, budget=budget
        )
    except Busy as busy:
        return held(busy)
    begun = begin_review(opened, retry=retry)
    journal = ReviewJournal.begin(
        Journal.begin(begun.start, budget, "finding"),
        begun.standing,
        settings.passes(opened.reviewers),
        opened.said,
    )

    if begun.left and journal.look:
        journal = mend(opened, begun.left.chunk, begun.left.checked, budget, journal)
    while journal.look:
        chunk = snapshot_chunk(opened, journal.tip, journal.look)
        heard = reviewer(opened, chunk, budget.caps)
        checked = streak_check(opened, chunk, heard)
        journal = journal.record(chunk.look, heard, checked)
        if journal.may_mend and checked.to_fix:
            journal = mend(opened, chunk, checked, budget, journal)

    return state_of(close(opened.workspace, journal))


def mend(
    opened: Opened, chunk: Assignment, checked: Checked, budget: Budget, journal: ReviewJournal
) -> ReviewJournal:
    """The family that found the blockers mends them; its commits take the one path."""
    mended = fixer(opened, chunk, checked, budget.caps)
    workspace = opened.seated(chunk.look.family)
    batch, journal, tip = carry(workspace, opened.axis, mended.chain, journal)
    settled = settle_fix(opened, chunk, mended, batch.outcome, tip)
    return journal.fixed(mended.chain, batch, settled)
