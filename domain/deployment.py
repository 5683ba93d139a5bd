"""A prefect file as Swathe reads it: Prefect's own keys, and nothing that is not understood.

Prefect ignores a key that it does not know, without a word: `concurency_limit: 3` deploys no limit. Here it is an error.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.pool import HOME
from domain.sharing import NONE, ORIGIN
from domain.target import is_url
from domain.value import Value

PoolType = Literal["process", "docker", "kubernetes"]
Strategy = Literal["ENQUEUE", "CANCEL_NEW"]


class Schedule(Value):
    """When a deployment runs by itself: a cron line with its time zone, or every so many seconds."""

    cron: str | None = None
    interval: float | None = Field(default=None, gt=0)
    timezone: str | None = None
    anchor_date: str | None = None
    day_or: bool | None = None
    active: bool | None = None
    parameters: dict[str, Any] = {}
    slug: str | None = None

    @property
    def trouble(self) -> str:
        """What is missing, or too much; empty when nothing is."""
        if (self.cron is None) == (self.interval is None):
            return "a schedule has either `cron` or `interval` (seconds). Leave `schedules` out for none"
        if self.cron is not None and not self.timezone:
            return f"the schedule {self.cron!r} has no `timezone`, and Prefect would take UTC. Say which, as in Europe/Berlin or UTC"
        return ""


class Limit(Value):
    """How many runs at once, and what becomes of one more."""

    limit: Literal[1]
    collision_strategy: Strategy
    grace_period_seconds: int | None = Field(default=None, ge=60, le=86400)


class PoolOf(Value):
    """Where a deployment runs, with what it says of the pool's variables in another way."""

    name: str
    work_queue_name: str | None = None
    job_variables: dict[str, Any] = {}


class Deployment(Value):
    """One axis on one repository."""

    name: str = Field(pattern=r"^[^/%&><]+$")
    description: str | None = None
    version: str | None = None
    tags: tuple[str, ...] = ()
    entrypoint: str
    parameters: dict[str, Any] = {}
    enforce_parameter_schema: bool = True
    paused: bool | None = None
    schedules: tuple[Schedule, ...] = ()
    concurrency_limit: Limit
    work_pool: PoolOf


class Pool(Value):
    """A work pool: one repository. `job_variables` become the defaults of its base job template."""

    type: PoolType = "process"
    description: str | None = None
    concurrency_limit: Literal[1] = 1
    job_variables: dict[str, Any] = {}


class Definitions(BaseModel):
    """Prefect's place for what is written once and used by anchors. Of it, `work_pools` is read."""

    model_config = ConfigDict(frozen=True, extra="allow")

    work_pools: dict[str, Pool] = Field(min_length=1, max_length=1)


class PrefectFile(Value):
    """`deployments/<repo>.yaml`."""

    name: str | None = None
    prefect_version: str | None = Field(default=None, alias="prefect-version")
    pull: tuple[()]
    """Nothing is pulled: flows are of the Swathe that the worker has."""
    definitions: Definitions
    deployments: tuple[Deployment, ...] = Field(min_length=1)

    @property
    def pool(self) -> str:
        return next(iter(self.definitions.work_pools))

    @property
    def spec(self) -> Pool:
        return self.definitions.work_pools[self.pool]


Path = tuple[str | int, ...]
"""Where in a document."""

HELD: Mapping[Path, type[BaseModel]] = {
    (): PrefectFile,
    ("deployments",): Deployment,
    ("deployments", "schedules"): Schedule,
    ("deployments", "concurrency_limit"): Limit,
    ("deployments", "work_pool"): PoolOf,
}
"""What is held where, items of lists left out."""

SAID = {
    "pull": "write `pull: []`: nothing is pulled, flows are of the Swathe that the worker has",
    "concurrency_limit": "write `{limit: 1, collision_strategy: ENQUEUE}`, or CANCEL_NEW: what becomes of a second run is to be said",
    "work_pools": "write one pool, of the repository's name, with its `job_variables`: one pool is one repository",
    "definitions": "it holds `work_pools`, and in it the pool of this repository",
}
"""What to do about a key, where pydantic's words do not say."""


class Trouble(Value):
    """Something in a file that cannot be deployed."""

    path: Path
    said: str


def nearest(word: str, known: Mapping[str, Any] | set[str]) -> str:
    """`Did you mean …`, and everything there is."""
    close = get_close_matches(word, list(known), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"no key {word!r} here.{hint} Known: {', '.join(sorted(known))}."


def explained(path: Path, kind: str, said: str) -> Trouble:
    """Pydantic's complaint in words that say what to do."""
    last = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        return Trouble(path=path, said=nearest(last, _keys(path[:-1])))
    told = next((SAID[str(part)] for part in reversed(path) if part in SAID), "")
    lead = "is missing" if kind == "missing" else said[:1].lower() + said[1:]
    return Trouble(path=path, said=f"{last!r}: {lead}{f': {told}' if told else ''}.")


def _keys(path: Path) -> set[str]:
    names = tuple(part for part in path if isinstance(part, str))
    held = Pool if names[:2] == ("definitions", "work_pools") else HELD.get(names)
    if held is None:
        return set()
    return {field.alias or name for name, field in held.model_fields.items()}


def checked(file: PrefectFile) -> tuple[Trouble, ...]:
    """What the keys alone do not tell."""
    return (
        *_names(file),
        *_image(file),
        *_disk(file),
        *_repository(file),
        *(
            Trouble(path=("deployments", number, "schedules", place), said=f"{schedule.trouble}.")
            for number, one in enumerate(file.deployments)
            for place, schedule in enumerate(one.schedules)
            if schedule.trouble
        ),
    )


def _disk(file: PrefectFile) -> tuple[Trouble, ...]:
    """What a container has on its own disk goes with it."""
    variables = file.spec.job_variables
    shared = variables.get("share", ORIGIN if is_url(str(variables.get("repo", ""))) else NONE)
    if file.spec.type == "process" or shared != NONE or variables.get(HOME):
        return ()
    return (
        Trouble(
            path=("definitions", "work_pools", file.pool, "job_variables"),
            said=f"what lands would go with the container: give `share`, a remote that gets it, or {HOME!r}, on a volume.",
        ),
    )


def _image(file: PrefectFile) -> tuple[Trouble, ...]:
    """A container of the worker's own choice has Prefect in it, and no Swathe."""
    variables = file.spec.job_variables
    if file.spec.type == "process" or variables.get("image"):
        return ()
    return (
        Trouble(
            path=("definitions", "work_pools", file.pool, "job_variables"),
            said=f"a pool of type {file.spec.type!r} needs an `image`: one with Swathe, git and bubblewrap in it.",
        ),
    )


def _repository(file: PrefectFile) -> tuple[Trouble, ...]:
    """The repository is the pool's, for all of its deployments."""
    return tuple(
        Trouble(
            path=("deployments", number, "work_pool", "job_variables", "repo"),
            said=f"the repository is the pool's, {file.pool!r}: another one has a pool, and a file, of its own.",
        )
        for number, one in enumerate(file.deployments)
        if "repo" in one.work_pool.job_variables
    )


def _names(file: PrefectFile) -> tuple[Trouble, ...]:
    found: list[Trouble] = []
    seen: set[str] = set()
    for number, one in enumerate(file.deployments):
        if one.work_pool.name != file.pool:
            found.append(
                Trouble(
                    path=("deployments", number, "work_pool", "name"),
                    said=f"the pool is {one.work_pool.name!r}, and this file is of {file.pool!r}: one file, one pool, one repository.",
                )
            )
        if one.name in seen:
            found.append(
                Trouble(
                    path=("deployments", number, "name"),
                    said=f"a second deployment {one.name!r}. Name each once.",
                )
            )
        seen.add(one.name)
    return tuple(found)
