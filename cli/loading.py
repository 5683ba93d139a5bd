"""The flow that a deployment names, and whether its parameters are what the flow takes. Prefect is imported here."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from prefect import Flow
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule
from prefect.exceptions import ParameterTypeError
from prefect.flows import load_flow_from_entrypoint
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools.validation import validate
from pydantic import ValidationError

from adapters.service.templates import base_template
from domain.deployment import Deployment, Path, PrefectFile, Schedule, Trouble, nearest
from domain.pool import template

FLOWS = re.compile(r"^flows\.[a-z_]+\.[a-z_]+$")
OTHER_KIND = ".kind: Input should be"


def flow_at(entrypoint: str) -> Flow[..., Any]:
    return load_flow_from_entrypoint(entrypoint, use_placeholder_flow=False)


def troubles(file: PrefectFile) -> Iterator[Trouble]:
    """What only Prefect, the flows and the workers' own schemas can tell."""
    place: Path = ("definitions", "work_pools", file.pool, "job_variables")
    yield from _variables(file, file.spec.job_variables, place)
    for number, one in enumerate(file.deployments):
        here: Path = ("deployments", number)
        yield from _deployment(one, here)
        given = file.spec.job_variables | one.work_pool.job_variables
        yield from _variables(file, given, (*here, "work_pool", "job_variables"))


def _deployment(one: Deployment, here: Path) -> Iterator[Trouble]:
    if not FLOWS.fullmatch(one.entrypoint):
        yield Trouble(
            path=(*here, "entrypoint"),
            said=f"{one.entrypoint!r} is no flow of Swathe. Write flows.campaign.campaign.",
        )
        return
    try:
        flow = flow_at(one.entrypoint)
    except Exception as error:  # noqa: BLE001 -- whatever importing it raises, it cannot be deployed
        yield Trouble(path=(*here, "entrypoint"), said=f"{one.entrypoint!r} is no flow: {error}")
        return
    yield from parameters(flow, one.parameters, (*here, "parameters"), whole=False)
    for number, schedule in enumerate(one.schedules):
        place = (*here, "schedules", number)
        more = one.parameters | schedule.parameters
        yield from parameters(flow, more, (*place, "parameters"))
        yield from _schedule(schedule, place)


def schedule_of(one: Schedule) -> CronSchedule | IntervalSchedule:
    """In Prefect's words, which checks the line and the zone."""
    if one.cron is not None:
        more: dict[str, Any] = {} if one.day_or is None else {"day_or": one.day_or}
        return CronSchedule.model_validate({"cron": one.cron, "timezone": one.timezone, **more})
    said = {"anchor_date": one.anchor_date, "timezone": one.timezone}
    given = {name: value for name, value in said.items() if value is not None}
    return IntervalSchedule.model_validate({"interval": one.interval, **given})


def _schedule(schedule: Schedule, place: Path) -> Iterator[Trouble]:
    try:
        schedule_of(schedule)
    except ValidationError as error:
        for problem in error.errors():
            name = ".".join(map(str, problem["loc"]))
            yield Trouble(path=(*place, *problem["loc"]), said=f"{name}: {problem['msg']}.")


def parameters(
    flow: Flow[..., Any], given: Mapping[str, Any], path: Path, *, whole: bool = True
) -> Iterator[Trouble]:
    """`whole` False: what a slot of a schedule would lack, a person fills in in the form."""
    known = parameter_schema(flow)
    missing = set(known.required) - set(given)
    unknown = set(given) - set(known.properties)
    for name in sorted(unknown):
        yield Trouble(path=(*path, name), said=nearest(name, set(known.properties)))
    for name in sorted(missing if whole else ()):
        yield Trouble(
            path=path, said=f"no {name!r}, which a run of {flow.name!r} by schedule needs."
        )
    if unknown or (missing and whole):
        return
    try:
        flow.validate_parameters(dict(given))
    except ParameterTypeError as error:
        for where, said in _complaints(str(error)):
            if where[0] in missing:
                continue
            yield Trouble(path=(*path, *where), said=said)


def _complaints(text: str) -> Iterator[tuple[Path, str]]:
    """Each complaint, without those of the kinds of axis that were not meant."""
    rows = [row.removeprefix(" - ") for row in text.splitlines() if row.startswith(" - ")]
    others = {_member(row) for row in rows if OTHER_KIND in row}
    for row in rows:
        if _member(row) in others:
            continue
        where, _, said = row.partition(": ")
        parts = tuple(part for part in where.split(".") if not part[:1].isupper())
        yield parts, f"{where}: {said}."


def _member(row: str) -> str:
    """`axis.Ruff` of `axis.Ruff.select: …`."""
    return ".".join(row.partition(": ")[0].split(".")[:2])


def _variables(file: PrefectFile, given: Mapping[str, Any], path: Path) -> Iterator[Trouble]:
    """Against the schema of the pool's own kind of worker, with the repository's variables in it."""
    base = base_template(file.spec.type)
    bare = template(base, {}, file.spec.type)["variables"]
    unknown = set(given) - set(bare["properties"])
    for name in sorted(unknown):
        yield Trouble(path=(*path, name), said=nearest(name, set(bare["properties"])))
    if unknown:
        return
    for error in validate(dict(given), bare, raise_on_error=False, preprocess=False):
        name = ".".join(map(str, error.path))
        yield Trouble(path=(*path, *error.path), said=f"{name}: {error.message}.")
