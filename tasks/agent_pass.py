"""agent_pass: one stretch of work by the executor, in its own clone; its commits are brought across."""

from prefect import task

from adapters import events
from adapters.executors import passes, sweeping
from adapters.redacting import discreet
from adapters.repository.workspaces import run_folder
from adapters.shelf import put
from domain.axis import Axis
from domain.commit import ChainOnShelf
from domain.survey import Brief
from domain.target import Workspace
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def agent_pass(workspace: Workspace, axis: Axis, brief: Brief) -> ChainOnShelf:
    """A pass is paid once: kept by its brief, which names its number and the tip."""
    how = "the taught rule changes" if brief.rule else "changing"
    events.emit(run_folder(workspace), "step", what=f"pass {brief.number}: {how} the sites")
    if brief.rule:
        chain = sweeping.sweep(workspace, brief)
    elif workspace.hired:
        from adapters import hiring  # noqa: PLC0415 -- the libraries of models, for a model alone

        chain = hiring.make(workspace, axis, brief)
    else:
        chain = passes.make(workspace, axis, brief)
    events.emit(
        run_folder(workspace), "executed",
        commits=len(chain.commits), seconds=chain.seconds, **{"pass": chain.number},
    )  # fmt: skip
    return put(workspace, chain)
