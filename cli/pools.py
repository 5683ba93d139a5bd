"""The work pools of a server that are repositories. Prefect is imported here."""

from typing import Any

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import WorkPool

from adapters.repository.opening import absolute
from domain.value import Refused, Value


class RepositoryPool(Value):
    """A pool, and the repository in its template."""

    name: str
    type: str
    repo: str
    defaults: dict[str, Any] = {}
    """Of the template's variables."""
    paused: bool = False
    status: str = ""


def pools(client: SyncPrefectClient) -> tuple[RepositoryPool, ...]:
    """Every pool whose template names a repository, by name."""
    found = [_of_repository(pool) for pool in client.read_work_pools(limit=200)]
    return tuple(sorted((one for one in found if one.repo), key=lambda one: one.name))


def _of_repository(pool: WorkPool) -> RepositoryPool:
    properties: dict[str, dict[str, Any]] = pool.base_job_template.get("variables", {}).get(
        "properties", {}
    )
    defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
    return RepositoryPool(
        name=pool.name,
        type=pool.type,
        repo=str(defaults.get("repo", "")),
        defaults=defaults,
        paused=pool.is_paused,
        status=pool.status.value if pool.status else "",
    )


def pool_of(asked: str) -> RepositoryPool:
    """The pool of this name, or of this repository."""
    with get_client(sync_client=True) as client:
        return chosen(pools(client), asked)


def fitting(known: tuple[RepositoryPool, ...], asked: str) -> list[RepositoryPool]:
    """Those of this name, or else of this repository."""
    return [one for one in known if one.name == asked] or [
        one for one in known if absolute(one.repo) == absolute(asked)
    ]


def chosen(known: tuple[RepositoryPool, ...], asked: str) -> RepositoryPool:
    found = fitting(known, asked)
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{one.name} ({one.repo})" for one in known) or "none"
    what = f"{len(found)} work pools are" if found else "no work pool is"
    raise Refused(
        f"{what} of {asked!r}. There are: {names}. `swathe deploy deployments/REPO.yaml` makes one."
    )
