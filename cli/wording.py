"""What a file asks for and what stands on the server, in the same words: those of Prefect's API. Prefect is imported here."""

from typing import Any, cast
from uuid import UUID

from prefect import Flow
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.schemas.automations import AutomationCore
from prefect.utilities.callables import parameter_schema

from adapters.catalogue import read_catalogue
from adapters.service.templates import base_template
from cli.loading import schedule_of
from domain.deployment import Deployment, PrefectFile, Schedule
from domain.form import form
from domain.pool import template

Plain = dict[str, Any]
FORM = "parameter_openapi_schema"


def pool_of(file: PrefectFile) -> Plain:
    spec = file.spec
    return {
        "type": spec.type,
        "description": spec.description,
        "concurrency_limit": spec.concurrency_limit,
        "base_job_template": template(base_template(spec.type), spec.job_variables, spec.type),
    }


def form_of(flow: Flow[..., Any]) -> Plain:
    """What the UI asks for, as the flow says it now."""
    return form(parameter_schema(flow).model_dump(exclude_unset=True), read_catalogue())


def deployment_of(one: Deployment, description: str | None, asked: Plain) -> Plain:
    """A deployment in the words of Prefect's API."""
    said = {"paused": one.paused, "version": one.version}
    return {
        "description": one.description or description,
        "tags": list(one.tags),
        "entrypoint": one.entrypoint,
        "parameters": one.parameters,
        "enforce_parameter_schema": one.enforce_parameter_schema,
        **{name: value for name, value in said.items() if value is not None},
        "schedules": [_plain_schedule(schedule) for schedule in one.schedules],
        "concurrency_limit": one.concurrency_limit.limit,
        "concurrency_options": one.concurrency_limit.model_dump(exclude={"limit"}),
        "work_pool_name": one.work_pool.name,
        "work_queue_name": one.work_pool.work_queue_name or "default",
        "job_variables": one.work_pool.job_variables,
        "pull_steps": [],
        FORM: asked,
    }


def standing(found: DeploymentResponse, one: Deployment) -> Plain:
    """A deployment of the server, in the same words. What people may switch off in the UI is compared only where the file says it."""
    plain = found.model_dump(mode="json")
    limit = found.global_concurrency_limit
    plain["concurrency_limit"] = limit.limit if limit else None
    plain["pull_steps"] = plain["pull_steps"] or []
    stated = {schedule.slug: schedule for schedule in one.schedules}
    plain["schedules"] = [
        _standing_schedule(schedule, stated.get(schedule["slug"]))
        for schedule in sorted(plain["schedules"], key=lambda s: _order(one, s["slug"]))
    ]
    return {name: plain[name] for name in deployment_of(one, None, {}) if name in plain}


def _order(one: Deployment, slug: str | None) -> int:
    slugs = [schedule.slug for schedule in one.schedules]
    return slugs.index(slug) if slug in slugs else len(slugs)


def _standing_schedule(found: Plain, stated: Schedule | None) -> Plain:
    when = dict(found["schedule"])
    if stated is None or stated.anchor_date is None:
        when.pop("anchor_date", None)
    active = {} if stated is None or stated.active is None else {"active": found["active"]}
    return {
        "schedule": when,
        "parameters": found["parameters"],
        "slug": found["slug"],
        **active,
    }


def _plain_schedule(one: Schedule) -> Plain:
    when = schedule_of(one).model_dump(mode="json")
    if one.anchor_date is None:
        when.pop("anchor_date", None)
    active = {} if one.active is None else {"active": one.active}
    return {"schedule": when, "parameters": one.parameters, "slug": one.slug, **active}


def to_create(one: Schedule, found: DeploymentResponse | None) -> DeploymentScheduleCreate:
    """With the switch as the file says it, else as a person left it."""
    left = {schedule.slug: schedule.active for schedule in found.schedules} if found else {}
    active = left.get(one.slug, True) if one.active is None else one.active
    return DeploymentScheduleCreate(
        schedule=schedule_of(one), active=active, parameters=one.parameters, slug=one.slug
    )


def plain_automation(core: AutomationCore) -> Plain:
    plain = core.model_dump(mode="json", include={"name", "description", "trigger", "actions"})
    trigger = plain["trigger"]
    trigger.pop("id", None)
    for name in ("after", "expect", "for_each"):
        trigger[name] = sorted(trigger[name])
    return cast("Plain", _ordered(plain))


def _ordered(value: Any) -> Any:
    """Ids in one order: a server keeps a set in whichever it likes."""
    if isinstance(value, dict):
        return {k: _ordered(v) for k, v in cast("Plain", value).items()}
    if isinstance(value, list) and all(isinstance(item, str) for item in cast("list[Any]", value)):
        return sorted(cast("list[str]", value))
    if isinstance(value, list):
        return [_ordered(item) for item in cast("list[Any]", value)]
    return str(value) if isinstance(value, UUID) else value
