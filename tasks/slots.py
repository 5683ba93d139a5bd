"""The slots of a schedule that nobody worked on: one run answers for all of them.

While no worker is there, or a run takes longer than the schedule's interval, runs pile up. Each would start a process
to find nothing, and where a model looks, to pay for it.
"""

from datetime import UTC, datetime
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.logging import get_run_logger
from prefect.runtime import deployment, flow_run
from prefect.states import Cancelled
from prefect.utilities.urls import url_for

from domain.automation import MOST_STARTS
from domain.value import Busy, Refused

RESUMING = "Resuming"
"""Prefect's name of the state in which a run that was suspended waits for a process."""
MISSED = "Missed"
"""The name of the state of a slot that another run answered for."""


def refuse_many_starts() -> None:
    """A run that crashes again and again is not resumed for ever: automations do not count."""
    starts = int(flow_run.run_count or 0)
    if starts > MOST_STARTS and (starts := starts - _answers()) > MOST_STARTS:
        raise Refused(
            f"this run has been started {starts} times and crashed each time but this. What has landed is kept. Find out why "
            f"it crashes (its logs, `swathe doctor REPO`), then start a new run: it goes on from what has landed."
        )


def _answers() -> int:
    """How often the run waited for a person, and went on."""
    if not flow_run.id or not deployment.id:
        return 0
    with get_client(sync_client=True) as client:
        states = client.read_flow_run_states(UUID(str(flow_run.id)))
    return sum(state.name == RESUMING for state in states)


def refuse_beside_one_that_waits() -> None:
    """A run of this deployment that waits for a person has the work: another would pay for it, and ask the same."""
    mine = deployment.id
    if not mine:
        return
    try:
        waiting = _waiting(UUID(str(mine)))
    except Exception as trouble:  # noqa: BLE001 -- whatever the server says, the work goes on
        get_run_logger().warning("Runs that wait could not be looked up: %s", trouble)
        return
    for run in waiting:
        raise Busy(
            f"{run.name} waits for an answer, and goes on with it: {url_for(run) or run.id}. Answer it there, or with "
            f"`swathe answer`; or cancel it, and run again."
        )


def _waiting(mine: UUID) -> list[FlowRun]:
    paused = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.PAUSED]))
    with get_client(sync_client=True) as client:
        return client.read_flow_runs(
            deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[mine])),
            flow_run_filter=FlowRunFilter(state=paused),
            limit=1,
        )


def answer_for_missed() -> None:
    """Cancel the due slots of this run's deployment that ask for the same. Comfort: when the server does not do it, the run goes on."""
    mine = deployment.id
    if not mine:
        return
    try:
        _cancel_due(UUID(str(mine)))
    except Exception as trouble:  # noqa: BLE001 -- whatever the server says, the work goes on
        get_run_logger().warning("Missed slots could not be looked up: %s", trouble)


def _cancel_due(mine: UUID) -> None:
    with get_client(sync_client=True) as client:
        due = client.read_flow_runs(
            deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[mine])),
            flow_run_filter=FlowRunFilter(
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
                expected_start_time=FlowRunFilterExpectedStartTime.model_validate(
                    {"before_": datetime.now(UTC)}
                ),
            ),
        )
        asked = client.read_flow_run(UUID(str(flow_run.id))).parameters
        for run in due:
            # A schedule may have parameters of its own: what was asked for otherwise is not answered.
            if run.auto_scheduled and run.parameters == asked and str(run.id) != str(flow_run.id):
                said = f"The slot of {run.expected_start_time:%Y-%m-%d %H:%M} was missed; run {flow_run.name} answers for it."
                client.set_flow_run_state(run.id, Cancelled(name=MISSED, message=said))
