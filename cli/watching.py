"""What a server knows of the repositories on duty. Prefect is imported here."""

from datetime import UTC, datetime
from typing import Any

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkerFilter,
    WorkerFilterStatus,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule
from prefect.client.schemas.sorting import FlowRunSort
from prefect.utilities.urls import url_for
from pydantic import TypeAdapter, ValidationError

from cli.pools import RepositoryPool, chosen, pools
from domain.axis import Axis, Sentence, slug, title
from domain.duty import LastRun, OnDuty, PoolDuty
from domain.review_options import review_slug
from domain.words import duration
from tasks.slots import MISSED

AT_WORK = (StateType.RUNNING, StateType.PENDING, StateType.CANCELLING)
OVER = (StateType.COMPLETED, StateType.FAILED, StateType.CRASHED, StateType.CANCELLED)
BAD = (StateType.FAILED, StateType.CRASHED)
MOST_LATE = 200
REVIEW = "review-loop"
"""As Prefect names the flow."""
_AXIS: TypeAdapter[Axis] = TypeAdapter(Axis)


def watched(asked: str | None) -> tuple[tuple[RepositoryPool, PoolDuty, tuple[str, ...]], ...]:
    """Each pool with what is deployed there, and the slug of the axis of each deployment."""
    with get_client(sync_client=True) as client:
        known = pools(client)
        wanted = known if asked is None else (chosen(known, asked),)
        return tuple((pool, *_watched(client, pool)) for pool in wanted)


def _watched(client: SyncPrefectClient, pool: RepositoryPool) -> tuple[PoolDuty, tuple[str, ...]]:
    online = client.read_workers_for_work_pool(
        pool.name, worker_filter=WorkerFilter(status=WorkerFilterStatus(any_=["ONLINE"]))
    )
    known = client.read_deployments(
        work_pool_filter=WorkPoolFilter(name=WorkPoolFilterName(any_=[pool.name]))
    )
    known = sorted(known, key=lambda one: one.name)
    deployed = [(one, client.read_flow(one.flow_id).name) for one in known]
    duty = PoolDuty(
        pool=pool.name,
        type=pool.type,
        repo=pool.repo,
        paused=pool.paused,
        workers=len(online),
        deployments=tuple(_on_duty(client, one, flow) for one, flow in deployed),
    )
    return duty, tuple(_axis(one, flow)[1] for one, flow in deployed)


def _on_duty(client: SyncPrefectClient, one: DeploymentResponse, flow: str) -> OnDuty:
    now = datetime.now(UTC)
    due = _runs(client, one, (StateType.SCHEDULED,), FlowRunSort.EXPECTED_START_TIME_ASC, MOST_LATE)
    late = [run for run in due if run.expected_start_time and run.expected_start_time <= now]
    ahead = [run for run in due if run not in late]
    over = _runs(client, one, OVER, FlowRunSort.END_TIME_DESC, MOST_LATE)
    last = next((run for run in over if run.state_name != MISSED), None)
    working = _runs(client, one, AT_WORK, FlowRunSort.START_TIME_DESC, 1)
    paused = _runs(client, one, (StateType.PAUSED,), FlowRunSort.START_TIME_DESC, 1)
    return OnDuty(
        deployment=f"{flow}/{one.name}",
        axis=_axis(one, flow)[0],
        paused=one.paused,
        schedules=tuple(map(_said, one.schedules)),
        next=_at(ahead[0].expected_start_time) if ahead else "",
        late=len(late),
        last=_last(last) if last else None,
        runs=working[0].name if working else "",
        runs_seconds=_seconds(working[0], now) if working else 0.0,
        asks=_address(paused[0]) if paused else "",
    )


def _runs(
    client: SyncPrefectClient,
    one: DeploymentResponse,
    types: tuple[StateType, ...],
    sort: FlowRunSort,
    limit: int,
) -> list[FlowRun]:
    return client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[one.id])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(types)))
        ),
        sort=sort,
        limit=limit,
    )


def _seconds(run: FlowRun, now: datetime) -> float:
    return (now - run.start_time).total_seconds() if run.start_time else 0.0


def _last(run: FlowRun) -> LastRun:
    return LastRun(
        run=run.name,
        state=run.state_name or "",
        why=(run.state.message or "") if run.state else "",
        at=_at(run.end_time),
        bad=run.state_type in BAD,
        ui=_address(run),
    )


def _address(run: FlowRun) -> str:
    return url_for(run) or ""


def _at(when: datetime | None) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds") if when else ""


def _said(found: Any) -> str:
    when = found.schedule
    said = str(when)
    if isinstance(when, CronSchedule):
        said = f"{when.cron} ({when.timezone or 'UTC'})"
    elif isinstance(when, IntervalSchedule):
        said = f"every {duration(when.interval.total_seconds())}"
    return said if found.active else f"{said}, switched off"


def _axis(one: DeploymentResponse, flow: str) -> tuple[str, str]:
    """What it is about, and the slug of its campaign, as far as the deployment says it."""
    asked = one.parameters.get("axis")
    try:
        axis = _AXIS.validate_python(asked) if asked else None
    except ValidationError:
        return "", ""
    if flow == REVIEW:
        words = axis if isinstance(axis, Sentence) else None
        return (f"review: {title(words)}" if words else "review"), review_slug(words)
    return (title(axis), slug(axis)) if axis else ("", "")
