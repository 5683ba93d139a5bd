"""What a prefect file asks for, what stands on the server, and how one becomes the other. Prefect is imported here."""

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import (
    WorkPoolCreate,
    WorkPoolUpdate,
)
from prefect.client.schemas.filters import WorkPoolFilter, WorkPoolFilterName
from prefect.client.schemas.objects import ConcurrencyOptions
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound

from cli.loading import flow_at
from cli.wording import (
    FORM,
    Plain,
    deployment_of,
    form_of,
    plain_automation,
    pool_of,
    standing,
    to_create,
)
from domain.automation import automations
from domain.deployment import Deployment, PrefectFile
from domain.difference import Change, differences, told_as_one


class Deploying:
    """One file on its way to one server. `apply` False: nothing is changed, and what would be is told."""

    def __init__(
        self, client: SyncPrefectClient | None, *, apply: bool, prune: bool = False
    ) -> None:
        self.client = client
        self.apply = apply
        self.prune = prune
        """Take what left the file from the server, too."""

    def deploy(self, file: PrefectFile) -> list[Change]:
        changes = [self._pool(file)]
        if self.prune:
            changes += [self._removed(one) for one in self.left(file)]
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
            schedules=[to_create(schedule, found) for schedule in one.schedules],
        )
        return change, str(made)

    def left(self, file: PrefectFile) -> list[DeploymentResponse]:
        """Deployments of our flows that stand in the pool, and not in the file."""
        if self.client is None:
            return []
        pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[file.pool]))
        found = self.client.read_deployments(work_pool_filter=pool, limit=200)
        stated = {(one.entrypoint, one.name) for one in file.deployments}
        return [one for one in found if _ours(one) and (one.entrypoint, one.name) not in stated]

    def names_left(self, file: PrefectFile) -> tuple[str, ...]:
        return tuple(map(self._name, self.left(file)))

    def _name(self, one: DeploymentResponse) -> str:
        """`campaign/pyupgrade@sample`, as Prefect says it."""
        flow = self.client.read_flow(one.flow_id).name if self.client else ""
        return f"{flow}/{one.name}"

    def _removed(self, one: DeploymentResponse) -> Change:
        change = Change(what="deployment", name=self._name(one), gone=True)
        if self.apply and self.client:
            self.client.delete_deployment(one.id)
        return change

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
        changed = differences(plain_automation(found[0]), plain_automation(core))
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


def _ours(one: DeploymentResponse) -> bool:
    """A person may put flows of their own into the pool: they stay."""
    return str(one.entrypoint or "").startswith("flows.")
