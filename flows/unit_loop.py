"""ADR-055: converge unit by unit. Each is reviewed, mended and reviewed until it is clean, and lands as one commit.

The backlog is ranked, and worked through once; several units at a time, each in a clone of its own.
"""

from prefect import State, flow

from domain.axis import Sentence
from domain.budget import UNBOUNDED, Budget
from domain.hired import Hired
from domain.journal import Journal
from domain.order import Order, UnitTerms
from domain.report import Report
from domain.review_options import ReviewSettings
from domain.sweep_journal import SweepJournal
from domain.target import Target
from domain.value import Busy
from flows.crew import Crew
from flows.queue import deliver
from tasks.begin_units import begin_units
from tasks.close import close
from tasks.converge_unit import converge_unit
from tasks.list_items import list_items
from tasks.open_review import open_review
from tasks.rank_units import rank_units
from tasks.states import held, state_of, units_name

DEFAULTS = ReviewSettings()
TERMS = UnitTerms()


@flow(flow_run_name=units_name, persist_result=True, result_serializer="json")
def unit_loop(
    axis: Sentence | None = None,
    target: Target | None = None,
    terms: UnitTerms = TERMS,
    settings: ReviewSettings = DEFAULTS,
    budget: Budget = UNBOUNDED,
    reviewers: tuple[Hired, ...] = (),
    only_rules: bool = False,
    retry: bool = False,
    run: str = "",
) -> State[Report]:
    """Bring a repository unit by unit to where two reviews in a row find nothing; each lands as one commit.

    Args:
        axis: What the reviewers look for; empty: whatever is wrong.
        target: The repository, and the commands that prove it; none: the repository of the work pool.
        terms: How many units at once, and how often each is looked at.
        settings: How large a unit is, and by which families it is reviewed.
        budget: What the run may spend. What it has landed by then, it keeps.
        reviewers: Models, one of a family; empty: those whose keys the worker's environment has, else rules.
        only_rules: Ask no model.
        retry: Try units again that were parked.
        run: Id of the run; leave it empty.
    """
    try:
        opened = open_review(
            target,
            axis,
            run,
            settings,
            reviewers,
            only_rules=only_rules,
            budget=budget,
            flow="units",
        )
    except Busy as busy:
        return held(busy)
    workspace, axis = opened.workspace, opened.axis
    start = begin_units(opened, retry=retry)
    journal = SweepJournal.of_units(Journal.begin(start, budget, "finding"), terms.sweep)
    found = rank_units(opened, journal.tip)
    journal = journal.listed(found, list_items(workspace, axis, journal.tip, found, terms.sweep))

    with Crew[Order](terms.jobs) as crew:
        while True:
            for order in journal.orders(crew.under_way):
                crew.send(
                    order,
                    converge_unit,
                    opened,
                    order,
                    caps=budget.caps,
                    max_minutes=budget.max_minutes,
                    looks=terms.looks,
                )
            if not crew.under_way:
                break
            for made in crew.hear(journal.patience).values():
                journal = journal.made(made)
            journal = deliver(workspace, axis, journal)

    return state_of(close(workspace, journal))
