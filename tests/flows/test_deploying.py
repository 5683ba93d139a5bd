"""A prefect file becomes a work pool, and the pool's worker works on its repository. Real server, real worker."""

import json
import sys
from pathlib import Path

import pytest
from harness import sh

pytestmark = pytest.mark.flow


def changes(done) -> list[dict]:
    (file,) = json.loads(done.output.rstrip("\n").rsplit("\n", 1)[-1])["files"]
    return file["changes"]


def needed(done) -> dict[str, list[str]]:
    """Fields that change, or `new`, by what changes."""
    return {
        one["what"]: ["new"] if one["new"] else [field["field"] for field in one["differences"]]
        for one in changes(done)
        if one["new"] or one["differences"]
    }


def test_a_second_deploy_changes_nothing_and_says_so(post):
    acme = post()
    acme.write()

    first, second = acme.deploy("--json"), acme.deploy("--json")

    assert needed(first) == {"work pool": ["new"], "deployment": ["new"], "automation": ["new"]}
    assert needed(second) == {}
    assert "nothing to change" in acme.deploy().output


def test_what_left_the_file_is_told_and_removed_when_that_is_asked_for(post, client):
    acme = post().deployed()
    acme.write(name=f"others@{acme.name}")

    told = acme.deploy()

    assert f"{acme.deployment} left the file" in told.output
    assert "--prune" in told.output
    assert client.read_deployment_by_name(acme.deployment)
    of_a_person = client.read_deployment_by_name(acme.deployment).model_dump(
        include={"flow_id", "work_pool_name"}
    )
    theirs = client.create_deployment(**of_a_person, name="mine", entrypoint="mine.py:mine")

    checked = acme.deploy("--check", "--prune", "--json")
    assert [one["name"] for one in changes(checked) if one["gone"]] == [acme.deployment]
    assert client.read_deployment_by_name(acme.deployment)
    done = acme.deploy("--prune")
    assert f"deployment {acme.deployment}: removed" in done.output
    left = [one.name for one in client.read_deployments() if one.work_pool_name == acme.name]
    assert sorted(left) == ["mine", f"others@{acme.name}"]
    client.delete_deployment(theirs)
    client.delete_deployment(client.read_deployment_by_name(f"campaign/others@{acme.name}").id)


def test_the_file_is_prefects_own(post):
    """`prefect deploy` takes it for a pool that exists, and leaves what `swathe deploy` would, but for the form."""
    nightly = {"slug": "nightly", "cron": "0 2 * * *", "timezone": "Europe/Berlin"}
    acme = post(more={"schedules": [nightly]}).deployed()
    acme.write(schedules=[nightly], tags=["by-prefect"])
    prefect = str(Path(sys.executable).with_name("prefect"))

    done = sh(
        [prefect, "--no-prompt", "deploy", "--all", "--prefect-file", str(acme.file)],
        acme.repo.tools,
    )

    assert done.ok, done.output + done.errors
    assert needed(acme.deploy("--json")) == {"deployment": ["run form"]}
    assert needed(acme.deploy("--json")) == {}


def test_a_check_shows_what_differs_and_changes_nothing(post, client):
    acme = post().deployed()
    before = client.read_deployment_by_name(acme.deployment).model_dump_json()
    nightly = {"slug": "nightly", "cron": "0 2 * * *", "timezone": "Europe/Berlin"}
    acme.job_variables["gate_minutes"] = 7
    acme.write(schedules=[nightly], description="Every night.")

    checked = acme.deploy("--check", "--json")

    wanted = {
        "work pool": ["base_job_template.variables.properties.gate_minutes.default"],
        "deployment": ["description", "schedules"],
    }
    assert needed(checked) == wanted
    assert client.read_deployment_by_name(acme.deployment).model_dump_json() == before

    made = acme.deploy("--json")

    assert needed(made) == wanted
    after = client.read_deployment_by_name(acme.deployment)
    assert [(s.slug, s.schedule.timezone) for s in after.schedules] == [
        ("nightly", "Europe/Berlin")
    ]
    assert needed(acme.deploy("--json")) == {}


def test_what_only_a_person_starts_may_leave_the_axis_to_the_form(post):
    acme = post(more={"parameters": {"verify_each": True}}).deployed()

    assert "the form asks for it" in acme.repo.swathe("duty", acme.name).output


def test_a_schedule_that_a_person_switched_off_stays_off(post, client):
    acme = post(more={"schedules": [{"slug": "often", "interval": 3600}]}).deployed()
    known = client.read_deployment_by_name(acme.deployment)
    client.update_deployment_schedule(known.id, known.schedules[0].id, active=False)

    acme.write(description="Changed, and the switch is not mentioned.")

    assert needed(acme.deploy("--json")) == {"deployment": ["description"]}
    assert [s.active for s in client.read_deployment_by_name(acme.deployment).schedules] == [False]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"parameters": {"axes": {"kind": "ruff", "select": "UP"}}}, "Did you mean 'axis'?"),
        ({"parameters": {"axis": {"kind": "ruff", "selekt": "UP"}}}, "axis.Ruff.selekt"),
        ({"parameters": {"axis": {"kind": "ruff", "select": "UP"}, "budget": {"max_usd": -1}}}, "max_usd"),
        ({"parameters": {}, "schedules": [{"interval": 3600}]}, "no 'axis', which a run of 'campaign' by schedule needs"),
        ({"parameters": {"budget": {"max_usd": 0}}}, "budget.max_usd"),
        ({"schedules": [{"cron": "0 2 * *", "timezone": "UTC"}]}, "cron"),
        ({"schedules": [{"cron": "0 2 * * *", "timezone": "Europe/Berlim"}]}, "timezone"),
        ({"entrypoint": "flows.campain.campaign"}, "flows.campain"),
        ({"work_pool": {"name": "POOL", "job_variables": {"repoo": "/x"}}}, "Did you mean 'repo'?"),
        ({"work_pool": {"name": "POOL", "job_variables": {"gate_minutes": "7"}}}, "gate_minutes"),
        ({"work_pool": {"name": "POOL", "job_variables": {"env": {"A_KEY": "{{ prefect.blocks.secret.nobodys }}"}}}}, "no Secret block 'nobodys'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_wrong_exits_with_2_names_file_and_line_and_deploys_nothing(
    post, client, changed, said
):
    acme = post()
    if "work_pool" in changed:
        changed = {"work_pool": {**changed["work_pool"], "name": acme.name}}
    acme.write(**changed)

    # Both look in the same way; each takes seconds to start.
    done = acme.deploy(*(("--check",) if "schedules" in changed else ()))

    assert done.exit_code == 2, done.output
    assert said in done.errors
    assert f"{acme.file}:" in done.errors
    assert acme.name not in [pool.name for pool in client.read_work_pools(limit=200)]


def test_a_secret_block_reaches_the_run_and_stands_nowhere_on_the_server(post, client):
    from prefect.blocks.system import Secret  # noqa: PLC0415 -- the server is known by now
    from prefect.workers.process import ProcessJobConfiguration  # noqa: PLC0415

    value = "the-key-of-nobody-at-all"
    acme = post()
    Secret(value=value).save(f"key-{acme.name}", overwrite=True, _sync=True)
    reference = f"{{{{ prefect.blocks.secret.key-{acme.name} }}}}"
    acme.job_variables["env"] = {"ANTHROPIC_API_KEY": reference}
    acme.deployed()

    pool = client.read_work_pool(acme.name)
    configured = ProcessJobConfiguration.from_template_and_values(
        pool.base_job_template, {}, client=None
    )
    import asyncio  # noqa: PLC0415

    env = asyncio.run(configured).env

    assert env["ANTHROPIC_API_KEY"] == value
    assert env["SWATHE_TARGET_REPO"] == str(acme.repo.folder)
    assert value not in pool.model_dump_json()
    assert value not in client.read_deployment_by_name(acme.deployment).model_dump_json()
    assert needed(acme.deploy("--json")) == {}


def test_a_worker_carries_the_axis_through_the_repository_of_its_pool(post):
    acme = post().deployed()
    acme.worker()
    run = acme.start()

    state = acme.final(run)

    assert (state.name, state.type.value) == ("Complete", "COMPLETED"), state.message
    assert len(acme.repo.log()) == 2
    assert acme.client.read_flow_run(run).name.endswith("on target")


def test_the_target_of_the_form_wins_over_the_pools(post, make):
    other = make(1, name="other")
    acme = post().deployed()
    acme.worker()
    target = {
        "repo": str(other.folder),
        "verify": other.verify,
        "environment": other.environment,
        "sandbox": "off",
    }

    state = acme.final(acme.start(parameters={"target": target}))

    assert state.name == "Complete", state.message
    assert (len(other.log()), acme.repo.branches) == (1, [])


def test_a_flow_without_a_repository_says_what_to_do(make):
    from cli import asked  # noqa: PLC0415
    from flows import campaign as module  # noqa: PLC0415

    state = module.campaign(asked.axis_of(make(1).options()), return_state=True)

    assert state.type.value == "FAILED"
    assert "swathe deploy" in str(state.result(raise_on_failure=False))


def test_a_worker_for_nothing_that_is_deployed_is_refused(post):
    acme = post().deployed()

    done = acme.repo.swathe("worker", "nobodys-pool")

    assert done.exit_code == 2
    assert acme.name in done.errors
    assert "swathe deploy" in done.errors
