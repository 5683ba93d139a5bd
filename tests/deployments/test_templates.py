"""A pool's template is the worker's own, with the repository in it: the worker makes of it what a flow reads."""

import asyncio
from uuid import uuid4

import pytest

from adapters.service.templates import base_template
from domain.pool import target_in, template
from domain.target import Target

GIVEN = {
    "repo": "https://example.com/acme.git",
    "verify": "make test\nmake lint",
    "offline": True,
    "gate_minutes": 7,
    "env": {"LANG": "C.UTF-8"},
}
MEANT = Target(
    repo="https://example.com/acme.git",
    verify=("make test", "make lint"),
    offline=True,
    gate_minutes=7,
    share="origin",
)
WORKERS = {
    "process": ("prefect.workers.process", "ProcessJobConfiguration"),
    "docker": ("prefect_docker.worker", "DockerWorkerJobConfiguration"),
    "kubernetes": ("prefect_kubernetes.worker", "KubernetesWorkerJobConfiguration"),
}
"""Those of containers are installed with the extra `workers`."""


@pytest.mark.parametrize("kind", WORKERS)
def test_the_workers_own_configuration_takes_the_template(kind):
    module, name = WORKERS[kind]
    reason = f"{module} needs the extra workers: pip install -c constraints.txt -e '.[workers]'"
    configuration = getattr(pytest.importorskip(module, reason=reason), name)
    from prefect.client.schemas.objects import FlowRun  # noqa: PLC0415 -- slow to import

    given = GIVEN if kind == "process" else GIVEN | {"image": "acme/swathe:1"}
    made = template(base_template(kind), given, kind)

    job = asyncio.run(
        configuration.from_template_and_values(made, {"env": {"MORE": "1"}}, client=object())
    )
    job.prepare_for_flow_run(FlowRun(id=uuid4(), flow_id=uuid4(), name="x"))

    env = job.env
    if kind == "kubernetes":
        (container,) = job.job_manifest["spec"]["template"]["spec"]["containers"]
        env = {one["name"]: one["value"] for one in container["env"]}
        assert container["image"] == "acme/swathe:1"
    assert target_in(env) == MEANT
    assert (env["LANG"], env["MORE"]) == ("C.UTF-8", "1")
    assert env["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"


@pytest.mark.parametrize("kind", WORKERS)
def test_a_template_names_no_variable_that_it_does_not_have(kind):
    """Prefect leaves such a placeholder out, without a word."""
    made = template(base_template(kind), {"repo": "/x"}, kind)

    named = {
        value.strip("{} ")
        for value in made["job_configuration"]["env"].values()
        if value.startswith("{{")
    }

    assert named <= set(made["variables"]["properties"])
    assert made["variables"]["properties"]["repo"]["default"] == "/x"
