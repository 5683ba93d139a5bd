"""What Prefect shows of a run: states, artifacts, and how many task runs it took."""

import time
from uuid import UUID

import pytest
from harness import CHECKS, WAIT, breaks, campaign, exit_code, forked, wait_for

pytestmark = pytest.mark.flow


def flow_run_id(report) -> UUID:
    return UUID(report.ui.rstrip("/").rsplit("/", 1)[-1])


STATES = {
    "complete": ({}, "COMPLETED", "Complete"),
    "exhausted": ({"m1": breaks(1)}, "COMPLETED", "Exhausted"),
    "stalled": ({"m1": "exit 3\n"}, "FAILED", "Stalled"),
    "red": ({"m1": breaks(1), "m2": breaks(2)}, "FAILED", "Red"),
}


@pytest.mark.parametrize("ending", STATES)
def test_the_state_says_how_the_run_ended(make, client, ending):
    repo = make(2)
    edits, kind, name = STATES[ending]
    for site, script in edits.items():
        repo.edits(site, script)

    report = repo.run()

    state = client.read_flow_run(flow_run_id(report)).state
    assert (report.ending, state.type.value, state.name) == (ending, kind, name)
    assert state.message == f"{ending}: {report.why}"


def test_a_flow_on_a_target_that_is_busy_is_cancelled(make, client):
    """R4, from the UI."""
    from cli import asked  # noqa: PLC0415
    from flows import campaign as module  # noqa: PLC0415

    repo = make(2)
    repo.gate(WAIT + CHECKS)
    first = forked(campaign, repo.options())
    wait_for(repo.tools / "inside")

    state = module.campaign(asked.axis_of(repo.options()), repo.options().target, return_state=True)

    assert (state.type.value, state.name) == ("CANCELLED", "Busy")
    assert str(first.pid) in state.message
    (repo.tools / "go").touch()
    assert exit_code(first) == 0


def test_the_progress_the_commits_and_the_report_are_artifacts(make, client):
    from prefect.client.schemas.filters import (  # noqa: PLC0415
        ArtifactFilter,
        ArtifactFilterFlowRunId,
    )

    repo = make(3)
    repo.edits("m2", breaks(2))
    report = repo.run()

    of_the_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[flow_run_id(report)]))
    found = {
        artifact.type: artifact
        for artifact in client.read_artifacts(artifact_filter=of_the_run)
        if artifact.key
    }

    assert found.keys() == {"progress", "table", "markdown"}
    assert float(found["progress"].data) == 100
    assert report.landed[0].sha[:12] in found["table"].data
    assert "checks::m2.py" in found["table"].data
    assert report.take in found["markdown"].data


def test_four_hundred_sites_take_fewer_than_sixty_task_runs(make, client):
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId  # noqa: PLC0415

    text = "VALUE = 1  # one\n" + "".join(
        f"\n\nclass C{n}(object):\n    pass\n" for n in range(100)
    )
    repo = make(
        0,
        {f"m{n}.py": text for n in range(4)}
        | {"tests/values": "".join(f"m{n}.py 1\n" for n in range(4))},
    )

    report = repo.run(axis="ruff:UP004")

    assert report.ending == "complete"
    assert len(report.landed) == 400
    one = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id(report)]))
    deadline = time.monotonic() + 60
    runs = []
    while not any(run.name.startswith("close") for run in runs):
        assert time.monotonic() < deadline, "the last task run is not recorded"
        runs = client.read_task_runs(flow_run_filter=one, limit=200)
        time.sleep(0.2)
    assert 5 < len(runs) < 60
