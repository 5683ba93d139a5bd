"""ADR-058: one capable executor, a mission, and standing autonomy.

The flow adds what an executor alone cannot do well, and nothing else: a real gate,
a bounded continuation, and git as the durable state.
"""

from prefect import State, flow

from domain.axis import Axis
from domain.budget import UNBOUNDED, Budget
from domain.change import Grain
from domain.hired import Hired
from domain.journal import Journal
from domain.reading import Confirm
from domain.report import Report
from domain.target import Target
from domain.value import Busy
from flows.approval import approval_of
from flows.chain import carry
from tasks.agent_pass import agent_pass
from tasks.ask_operator import ask_operator
from tasks.close import close
from tasks.open_workspace import open_workspace
from tasks.rescan import rescan
from tasks.set_out import set_out
from tasks.states import held, run_name, state_of
from tasks.teach import teach as ask_for_a_rule

EIGHT_HOURS = 480.0


@flow(flow_run_name=run_name, persist_result=True, result_serializer="json")
def campaign(
    axis: Axis,
    target: Target | None = None,
    budget: Budget = UNBOUNDED,
    grain: Grain = "finding",
    verify_each: bool = False,
    retry: bool = False,
    run: str = "",
    hired: Hired | None = None,
    confirm: Confirm = "off",
    teach: int = 0,
    ask_minutes: float = EIGHT_HOURS,
    approve: bool = False,
) -> State[Report]:
    """Carry one axis across a repository, one verified commit at a time.

    Args:
        axis: The improvement: a name from the catalogue, or a rule.
        target: The repository, and the commands that prove it; none: the repository of the work pool.
        budget: What the run may spend. What it has landed by then, it keeps.
        grain: What one commit settles: one finding, a file's findings, or a rule's.
        verify_each: Run the gate on every commit alone, instead of on batches.
        retry: Try parked and declined sites again.
        run: Id of the run; leave it empty.
        hired: The model that is to work, with a key in the worker's environment; none: rules are applied.
        confirm: Which commits of the model another family reads before they land.
        teach: Sites that the model does before a rule, made from them, does the others; 0: it does all.
        ask_minutes: How long a question of the model waits for you, before it uses its own judgement; 0: it never asks.
        approve: Show the list of sites, and begin once you have approved it; without an answer in that time nothing is done.
    """
    try:
        workspace = open_workspace(
            target, axis, run, hired, budget=budget, confirm=confirm, teach=teach
        )
    except Busy as busy:
        return held(busy)
    approval = None
    if approve:
        approval = approval_of(workspace, axis, retry, ask_minutes or EIGHT_HOURS)
    idle = approval is not None and not approval.go
    start = set_out(workspace, axis, retry and not approve, budget, idle=idle)
    journal = Journal.begin(start, budget, grain, confirm, teach).approved(approval)

    while not journal.ending:
        if journal.lesson_due:
            journal = journal.learn(ask_for_a_rule(workspace, axis, journal.brief))
        chain = agent_pass(workspace, axis, journal.brief)
        batch, journal, tip = carry(
            workspace,
            axis,
            chain,
            journal,
            verify_each=verify_each,
            confirm=confirm,
            max_usd=budget.max_usd,
        )
        survey = rescan(
            workspace, axis, tip, journal.number, claimed=chain.claimed, max_usd=budget.max_usd
        )
        journal = journal.record(chain, batch, survey)
        if journal.asks and ask_minutes and ask_operator(workspace, journal.asks, tip, ask_minutes):
            journal = journal.answered()

    return state_of(close(workspace, journal))
