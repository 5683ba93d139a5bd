"""What a prefect file asks for, what stands on the server, and how one becomes the other. Prefect is imported here."""

from typing import Any, cast
from uuid import UUID

from prefect import Flow
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import (
    DeploymentScheduleCreate,
    WorkPoolCreate,
    WorkPoolUpdate,
)
from prefect.client.schemas.objects import ConcurrencyOptions
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.utilities.callables import parameter_schema

from adapters.catalogue import read_catalogue
from adapters.service.templates import base_template
from cli.loading import flow_at, schedule_of
from domain.automation import automations
from domain.deployment import Deployment, PrefectFile, Schedule
from domain.difference import Change, differences, told_as_one
from domain.form import form
from domain.pool import template

Plain = dict[str, Any]
FORM = "parameter_openapi_schema"


class Deploying:
    """One file on its way to one server. `apply` False: nothing is changed, and what would be is told."""

    def __init__(self, client: SyncPrefectClient | None, *, apply: bool) -> None:
        self.client = client
        self.apply = apply

    def deploy(self, file: PrefectFile) -> list[Change]:
        changes = [self._pool(file)]
        ids: list[str] = []
        for one in file.deployments:
            change, known = self._deployment(file, one)
            changes.append(change)
            ids += [known] if known else []
        whole = len(ids) == len(file.deployments)
        wanted = automations(file.pool, ids)
        return [*changes, *(self._automation(one, whole=whole) for one in wanted)]

    def _pool(self, file: PrefectFile) -> Change:
        wanted = pool_of(file)
        found = self.found_pool(file.pool)
        if found is None:
            if self.apply and self.client:
                self.client.create_work_pool(WorkPoolCreate(name=file.pool, **wanted))
            return Change(what="work pool", name=file.pool, new=True)
        before = {name: found[name] for name in wanted}
        changed = differences(before, wanted)
        if changed and self.apply and self.client:
            del wanted["type"]
            self.client.update_work_pool(file.pool, WorkPoolUpdate(**wanted))
        return Change(what="work pool", name=file.pool, differences=changed)

    def found_pool(self, name: str) -> Plain | None:
        if self.client is None:
            return None
        try:
            return self.client.read_work_pool(name).model_dump(mode="json")
        except ObjectNotFound:
            return None

    def _deployment(self, file: PrefectFile, one: Deployment) -> tuple[Change, str]:
        """What changes, and the id of the deployment where it has one."""
        flow = flow_at(one.entrypoint)
        name = f"{flow.name}/{one.name}"
        wanted = deployment_of(one, flow.description, form_of(flow))
        found = self._found_deployment(name)
        change = Change(what="deployment", name=name, new=found is None)
        if found is not None:
            before = standing(found, one)
            found_out = told_as_one(differences(before, wanted), FORM, "run form")
            change = change.model_copy(update={"differences": found_out})
        if not (change.needed and self.apply and self.client):
            return change, str(found.id) if found else ""
        made = self.client.create_deployment(
            flow_id=self.client.create_flow_from_name(flow.name),
            name=one.name,
            **{k: v for k, v in wanted.items() if k not in ("schedules", "concurrency_options")},
            concurrency_options=ConcurrencyOptions(**wanted["concurrency_options"]),
            schedules=[_to_create(schedule, found) for schedule in one.schedules],
        )
        return change, str(made)

    def _found_deployment(self, name: str) -> DeploymentResponse | None:
        if self.client is None:
            return None
        try:
            return self.client.read_deployment_by_name(name)
        except ObjectNotFound:
            return None

    def _automation(self, wanted: Plain, *, whole: bool) -> Change:
        """`whole`: every deployment has its id, so that the automation can be compared."""
        core = AutomationCore.model_validate(wanted)
        change = Change(what="automation", name=core.name, new=True)
        if self.client is None:
            return change
        found = self.client.read_automations_by_name(core.name)
        if not found:
            if self.apply:
                self.client.create_automation(core)
            return change
        if not whole:
            return Change(what="automation", name=core.name)
        changed = differences(_plain_automation(found[0]), _plain_automation(core))
        if changed and self.apply:
            self.client.update_automation(found[0].id, core)
        return Change(what="automation", name=core.name, differences=changed)

    def missing_blocks(self, names: set[str]) -> list[str]:
        """Secret blocks that are referred to and do not exist."""
        if self.client is None:
            return []
        missing: list[str] = []
        for name in sorted(names):
            try:
                self.client.read_block_document_by_name(name, "secret", include_secrets=False)
            except ObjectNotFound:
                missing.append(name)
        return missing


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


def _to_create(one: Schedule, found: DeploymentResponse | None) -> DeploymentScheduleCreate:
    """With the switch as the file says it, else as a person left it."""
    left = {schedule.slug: schedule.active for schedule in found.schedules} if found else {}
    active = left.get(one.slug, True) if one.active is None else one.active
    return DeploymentScheduleCreate(
        schedule=schedule_of(one), active=active, parameters=one.parameters, slug=one.slug
    )


def _plain_automation(core: AutomationCore) -> Plain:
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
