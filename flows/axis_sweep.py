"""ADR-057: an axis is a work-list. Enumerate its sites, carry them one by one, enumerate again until none is new.

Several are worked on at once, each in a clone of its own; all of them land through one queue: put on the tip, proved
as exactly that, and landed, or made anew.
"""

from prefect import State, flow

from domain.axis import Axis, Sentence
from domain.budget import UNBOUNDED, Budget
from domain.hired import Hired
from domain.journal import Journal
from domain.order import UNKNOWN, Enumeration, Look, Order, SweepTerms
from domain.reading import Confirm
from domain.report import Report
from domain.sweep_journal import SweepJournal
from domain.target import Target
from domain.value import Busy
from flows.crew import Crew
from flows.queue import deliver
from tasks.close import close
from tasks.enumerate_sites import enumerate_sites
from tasks.list_items import list_items
from tasks.open_workspace import open_workspace
from tasks.set_out import set_out
from tasks.states import held, run_name, state_of
from tasks.transform import transform

DEFAULTS = SweepTerms()


@flow(flow_run_name=run_name, persist_result=True, result_serializer="json")
def axis_sweep(
    axis: Axis,
    target: Target | None = None,
    terms: SweepTerms = DEFAULTS,
    budget: Budget = UNBOUNDED,
    verify_each: bool = False,
    retry: bool = False,
    run: str = "",
    hired: Hired | None = None,
    confirm: Confirm = "off",
) -> State[Report]:
    """Carry one axis across a repository item by item, from a list that is enumerated anew until nothing is new.

    Args:
        axis: The improvement: a name from the catalogue, or a rule; with a model, a sentence.
        target: The repository, and the commands that prove it; none: the repository of the work pool.
        terms: How many items at once, and how often each is tried.
        budget: What the run may spend. What it has landed by then, it keeps.
        verify_each: Run the gate on every commit alone, instead of on batches.
        retry: Try parked and declined items again.
        run: Id of the run; leave it empty.
        hired: The model that is to work, with a key in the worker's environment; none: rules are applied.
        confirm: Which commits of the model another family reads before they land.
    """
    try:
        workspace = open_workspace(target, axis, run, hired, budget=budget, confirm=confirm)
    except Busy as busy:
        return held(busy)
    start = set_out(workspace, axis, retry, budget)
    journal = SweepJournal.begin(
        Journal.begin(start, budget, terms.grain, confirm), terms, one_by_one=verify_each
    )
    first = UNKNOWN if isinstance(axis, Sentence) else Enumeration(listing=start.survey.listing)
    journal = journal.listed(first, list_items(workspace, axis, journal.tip, first, terms))

    with Crew[Order | Look](terms.jobs) as crew:
        while True:
            for order in journal.orders([job for job in crew.under_way if isinstance(job, Order)]):
                crew.send(
                    order,
                    transform,
                    workspace,
                    axis,
                    order,
                    grain=terms.grain,
                    budget=budget,
                    confirm=confirm,
                )
            journal = journal.looked_for(busy=bool(crew.under_way))
            if journal.look and journal.look not in crew.under_way:
                crew.send_besides(
                    journal.look,
                    enumerate_sites,
                    workspace,
                    axis,
                    journal.look,
                    terms,
                    budget=budget,
                    began=journal.look_began,
                )
            if not crew.under_way:
                break
            for job, came in crew.hear(journal.patience).items():
                if isinstance(job, Order):
                    journal = journal.made(came)
                else:
                    listed = list_items(workspace, axis, journal.tip, came, terms)
                    journal = journal.listed(came, listed)
            if journal.waiting:
                journal = deliver(
                    workspace,
                    axis,
                    journal,
                    verify_each=verify_each,
                    confirm=confirm,
                    max_usd=budget.max_usd,
                )

    return state_of(close(workspace, journal))
