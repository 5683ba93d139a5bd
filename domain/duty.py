"""What is on duty: per repository what is deployed, what comes next, what came of it, and what waits for a person."""

from collections.abc import Iterator

from domain.value import Value
from domain.words import counted, duration

DAYS = 7
SECONDS_TO_BEGIN = 60
"""From `Running` to the lock of the target; after that, a run whose target nobody holds is dead."""


class LastRun(Value):
    """How the last run of a deployment ended."""

    run: str
    state: str
    """Prefect's name of it: the ending, or `Crashed`, `Busy`, `Cancelled`."""
    why: str = ""
    at: str = ""
    bad: bool = False
    """Failed, or crashed for good."""
    ui: str = ""


class OnDuty(Value):
    """One deployment."""

    deployment: str
    axis: str
    paused: bool = False
    schedules: tuple[str, ...] = ()
    next: str = ""
    """When the next run is due, UTC."""
    late: int = 0
    """Slots that are due and not begun."""
    last: LastRun | None = None
    runs: str = ""
    """The run that works now, by the server's word."""
    runs_seconds: float = 0.0
    asks: str = ""
    """Address of a run that is suspended with a question."""
    landed_7_days: int | None = None
    """None: the repository is not here."""
    spend_usd_7_days: float | None = None


class Home(Value):
    """What only the machine knows that has the repository."""

    landed_7_days: int = 0
    spend_usd_7_days: float = 0.0
    parked: tuple[str, ...] = ()
    """`swathe/<axis>: 3`."""
    to_take: tuple[str, ...] = ()
    undelivered: tuple[str, ...] = ()
    """What a remote has not, that it should have; each with the command."""
    works: str = ""
    """The run that holds the target now."""


class PoolDuty(Value):
    """One repository."""

    pool: str
    type: str
    repo: str
    paused: bool = False
    workers: int = 0
    """That are online."""
    deployments: tuple[OnDuty, ...] = ()
    home: Home | None = None
    waits: tuple[str, ...] = ()
    """For a person: each with what to do."""


class Duty(Value):
    """Everything on one server."""

    server: str
    pools: tuple[PoolDuty, ...] = ()


def waiting(pool: PoolDuty) -> PoolDuty:
    """With what waits for a person."""
    return pool.model_copy(update={"waits": tuple(_waits(pool))})


def _waits(pool: PoolDuty) -> Iterator[str]:
    if pool.paused:
        yield f"the work pool is paused: prefect work-pool resume {pool.pool}"
    if not pool.workers:
        yield f"no worker is online: swathe worker {pool.pool}"
    for one in pool.deployments:
        yield from _of_deployment(pool, one)
    if pool.home:
        for parked in pool.home.parked:
            yield f"parked commits of {parked}: swathe status {pool.repo}"
        yield from pool.home.undelivered
        for take in pool.home.to_take:
            yield f"landed work to take: {take}"


def _of_deployment(pool: PoolDuty, one: OnDuty) -> Iterator[str]:
    if one.asks:
        yield f"{one.deployment} asks something: {one.asks}"
    if one.paused:
        yield f"{one.deployment} is paused: prefect deployment schedule resume, or the switch in the UI"
    if one.late:
        yield f"{counted(one.late, 'slot')} of {one.deployment} late"
    if one.last and one.last.bad and not one.runs:
        yield f"the last run of {one.deployment} ended {one.last.state}: {one.last.why} {one.last.ui}".strip()
    gone = pool.home and not pool.home.works and one.runs_seconds > SECONDS_TO_BEGIN
    if one.runs and gone:
        yield (
            f"{one.runs} runs by the server's word, for {duration(one.runs_seconds)}, and no process of it is here: "
            f"without a heartbeat it is taken for crashed, and goes on"
        )
