"""land: what is green moves the branch, what is blamed is parked; branch and state in one transaction."""

from functools import partial

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import beginning, events, takeover
from adapters.redacting import discreet
from adapters.repository import settling, sharing
from adapters.repository.settling import Signature
from adapters.repository.workspaces import run_folder
from adapters.shelf import fetch
from domain.axis import Axis, title
from domain.batch import Outcome
from domain.commit import ChainOnShelf
from domain.state import State
from domain.target import Workspace
from tasks.hearing import how_to
from tasks.showing import show_progress
from tasks.states import worth_another_try


@task(cache_policy=NO_CACHE, retries=2, retry_delay_seconds=1, retry_condition_fn=worth_another_try)
@discreet
def land(workspace: Workspace, axis: Axis, chain: ChainOnShelf, outcome: Outcome) -> str:
    """Settle what is not settled yet, and return the tip. Safe to retry: the same commits get the same ids."""
    said = title(axis)
    settled = settling.settle(
        workspace,
        fetch(workspace, chain.number),
        outcome,
        Signature(
            axis=said,
            executor="codemod" if chain.rule else workspace.executor,
            usd=chain.usd / max(chain.count, 1),
            rule=chain.rule,
        ),
        State(axis=said, base=workspace.base, gate=beginning.written_gate(workspace)),
        with_money=partial(takeover.with_money, workspace),
    )
    run = run_folder(workspace)
    if settled.landed:
        commits = [{"sha": c.sha, "subject": c.subject, "site": c.site} for c in settled.landed]
        events.emit(run, "landed", commits=commits)
    for parked in settled.parked:
        tests = [failure.test for failure in parked.failures][:20]
        events.emit(run, "parked", site=parked.site, reason=parked.reason, failures=tests)
    sharing.push(workspace)
    if not chain.queued:
        decided = len(outcome.good) + len(outcome.bad) + len(outcome.refused)
        show_progress(workspace, decided, chain.count, how_to(workspace))
    return settled.tip
