"""What the machine that has the repository adds: landed, spent, parked, and who works there now."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

from adapters import beginning
from adapters.campaigns import workspaces_of
from adapters.repository import lock
from adapters.repository.git import ask
from adapters.repository.lately import Lately, lately
from adapters.repository.opening import open_target
from adapters.repository.workspaces import target_place
from cli.pools import RepositoryPool
from cli.standing import status
from domain.duty import DAYS, Home, OnDuty, PoolDuty, waiting
from domain.status import CampaignStatus
from domain.target import Target, Workspace
from domain.value import Refused


def reckoned(pool: RepositoryPool, duty: PoolDuty, slugs: tuple[str, ...]) -> PoolDuty:
    """With what git and the lock tell, where they are within reach; without, where they are not."""
    with _home_of(pool), suppress(Refused):  # the repository may be another machine's
        duty = _with_home(duty, slugs)
    return waiting(duty)


def _with_home(duty: PoolDuty, slugs: tuple[str, ...]) -> PoolDuty:
    since = int((datetime.now(UTC) - timedelta(days=DAYS)).timestamp())
    found = {one.axis: _lately(one, since) for one in workspaces_of(duty.repo, None)}
    deployments = tuple(
        _with_week(one, found.get(axis, Lately())) if axis else one
        for one, axis in zip(duty.deployments, slugs, strict=True)
    )
    standing = status(duty.repo, None).campaigns
    whole = open_target(Target(repo=duty.repo), "none", "", offline=True)
    holder = lock.holder(beginning.lock_path(whole))
    home = Home(
        landed_7_days=sum(one.landed for one in found.values()),
        spend_usd_7_days=sum(one.spend_usd for one in found.values()),
        parked=tuple(f"{one.branch}: {len(one.parked)}" for one in standing if one.parked),
        to_take=tuple(one.take for one in standing if one.take and _to_take(whole, one)),
        undelivered=tuple(one.undelivered for one in standing if one.undelivered),
        works=(holder.run or "a run that is just beginning") if holder else "",
    )
    return duty.model_copy(update={"home": home, "deployments": deployments})


def _with_week(one: OnDuty, week: Lately) -> OnDuty:
    return one.model_copy(update={"landed_7_days": week.landed, "spend_usd_7_days": week.spend_usd})


def _lately(workspace: Workspace, since: int) -> Lately:
    return lately(target_place(workspace), workspace.state_ref, workspace.branch, since)


def _to_take(whole: Workspace, one: CampaignStatus) -> bool:
    """Whether the branch holds commits that the base has not."""
    status, out, _ = ask(
        target_place(whole), "rev-list", "--count", f"{whole.base}..refs/heads/{one.branch}"
    )
    return status == 0 and int(out) > 0


@contextmanager
def _home_of(pool: RepositoryPool) -> Generator[None]:
    """The pool may keep its working files elsewhere than we do."""
    theirs, ours = pool.defaults.get("swathe_home"), os.environ.get("SWATHE_HOME")
    if theirs:
        os.environ["SWATHE_HOME"] = str(theirs)
    try:
        yield
    finally:
        if theirs and ours is not None:
            os.environ["SWATHE_HOME"] = ours
        elif theirs:
            del os.environ["SWATHE_HOME"]
