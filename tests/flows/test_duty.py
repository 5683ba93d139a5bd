"""On duty: slots that collide or were missed, and what is left after a kill. Real server, worker and engine processes."""

import os
import signal
import time
from datetime import UTC, datetime
from uuid import UUID

import pytest
from harness import CHECKS, campaign, ended, exit_code, forked, wait_for
from servers import LONG

pytestmark = pytest.mark.flow

IN_MID_GATE = f"""
if grep -q DONE m2.py && [ ! -e "$tools/go" ]; then
  echo $engine > "$tools/engine"; echo $$ > "$tools/gate-pid"; touch "$tools/inside"
  while [ ! -e "$tools/go" ]; do sleep 0.05; done
fi
{CHECKS}
"""
"""A gate that waits at the second commit, when the first has landed, and says who runs it."""


@pytest.fixture(name="inside")
def _inside(make, post):
    """A run on duty that stands in its gate, after a first commit has landed; and its worker."""
    repo = make(2)
    repo.gate(IN_MID_GATE)
    placed = post(repo)
    placed.more = {"parameters": {**axis_of(repo), "verify_each": True}}
    placed.deployed()
    worker = placed.worker()
    run = placed.start()
    wait_for(repo.tools / "inside", 120)
    assert len(repo.log()) == 1
    return placed, run, worker


def axis_of(repo) -> dict[str, object]:
    find, _, edit = repo.axis.removeprefix("cmd:").partition(" => ")
    return {"axis": {"kind": "cmd", "find": find, "edit": edit}}


def pid_in(path) -> int:
    return int(path.read_text())


def go(repo) -> None:
    (repo.tools / "go").touch()


def test_a_run_that_is_cancelled_in_mid_gate_leaves_no_process_and_the_next_goes_on(inside):
    """R6, from the UI."""
    from prefect.states import Cancelling  # noqa: PLC0415 -- the server is known by now

    placed, run, _ = inside
    landed = placed.repo.log()

    placed.client.set_flow_run_state(run, Cancelling())

    assert placed.final(run).type.value == "CANCELLED"
    assert ended(pid_in(placed.repo.tools / "engine"))
    assert ended(pid_in(placed.repo.tools / "gate-pid"))
    assert placed.repo.log() == landed
    assert placed.duty()["deployments"][0]["last"]["state"] == "Cancelled"

    go(placed.repo)
    state = placed.final(placed.start())

    assert state.name == "Complete", state.message
    assert placed.repo.log()[:1] == landed
    assert len(placed.repo.log()) == 2


@LONG
def test_a_run_whose_engine_is_killed_goes_on_where_it_stopped(inside):
    placed, run, _ = inside
    landed = placed.repo.log()
    edited = placed.repo.counted("edited")

    os.kill(pid_in(placed.repo.tools / "engine"), signal.SIGKILL)
    go(placed.repo)

    state = placed.final_after_crash(run)
    assert state.name == "Complete", state.message
    assert placed.client.read_flow_run(run).run_count == 2
    assert placed.repo.log()[:1] == landed
    assert len(placed.repo.log()) == 2
    assert placed.repo.counted("edited") == edited, "the pass was paid twice"
    assert ended(pid_in(placed.repo.tools / "gate-pid"))


def test_a_worker_that_is_stopped_in_mid_gate_hands_its_run_over(inside):
    """T103: a service that is started anew, by day and in the midst of a run."""
    from prefect.states import AwaitingRetry  # noqa: PLC0415 -- the server is known by now

    placed, run, worker = inside
    landed = placed.repo.log()
    edited = placed.repo.counted("edited")

    os.kill(worker, signal.SIGTERM)

    assert ended(worker, 30)
    assert ended(pid_in(placed.repo.tools / "engine"))
    assert ended(pid_in(placed.repo.tools / "gate-pid"))
    assert placed.state(run, lambda state: state.type.value == "CRASHED", seconds=10)
    go(placed.repo)
    placed.client.set_flow_run_state(run, AwaitingRetry())  # the automation's part
    placed.worker()
    assert placed.final_after_crash(run).name == "Complete"
    assert placed.repo.log()[:1] == landed
    assert len(placed.repo.log()) == 2
    assert placed.repo.counted("edited") == edited, "the pass was paid twice"


def test_a_run_whose_worker_is_killed_ends_by_itself(inside):
    placed, run, worker = inside

    os.kill(worker, signal.SIGKILL)
    go(placed.repo)

    assert placed.final(run).name == "Complete"
    assert len(placed.repo.log()) == 2


@LONG
def test_a_run_whose_machine_goes_down_is_told_to_have_crashed_and_goes_on(inside):
    """Engine and worker killed: nobody is left to say so, but for the heartbeats that do not come."""
    placed, run, worker = inside
    landed = placed.repo.log()

    os.kill(worker, signal.SIGKILL)
    os.kill(pid_in(placed.repo.tools / "engine"), signal.SIGKILL)

    def told() -> list[str]:
        return [wait for wait in placed.duty()["waits"] if "no process of it is here" in wait]

    deadline = time.monotonic() + 120
    while not told():
        assert time.monotonic() < deadline, placed.duty()
    placed.state(run, lambda state: state.name == "AwaitingRetry", seconds=240)
    go(placed.repo)
    placed.worker()

    assert placed.final(run).name == "Complete"
    assert placed.repo.log()[:1] == landed
    assert len(placed.repo.log()) == 2


def test_a_slot_that_fires_while_a_run_is_on_waits_and_costs_nothing(inside):
    placed, run, _ = inside
    calls = placed.repo.counted("calls")

    second = placed.start()

    assert placed.state(second, lambda state: state.name in ("Late", "Scheduled"))
    assert placed.repo.counted("calls") == calls
    go(placed.repo)
    assert placed.final(run).name == "Complete"
    assert placed.final(second).name == "Nothing to do"
    assert placed.repo.counted("edited") == 2


def test_a_slot_that_fires_while_a_terminal_holds_the_repository_is_busy(make, post):
    repo = make(2)
    repo.gate(IN_MID_GATE)
    placed = post(repo).deployed()
    first = forked(campaign, repo.options(verify_each=True))
    wait_for(repo.tools / "inside")
    edited = repo.counted("edited")
    placed.worker()

    state = placed.final(placed.start())

    assert (state.type.value, state.name) == ("CANCELLED", "Busy")
    assert str(first.pid) in state.message
    assert repo.counted("edited") == edited
    on_duty = placed.duty()
    assert on_duty["home"]["works"]
    assert on_duty["deployments"][0]["last"]["state"] == "Busy"
    go(repo)
    assert exit_code(first) == 0
    assert placed.duty()["home"]["works"] == ""


@LONG
def test_ten_missed_slots_are_one_run(make, post):
    repo = make(2)
    placed = post(repo, more={"schedules": [{"slug": "often", "interval": 1}]}).deployed()

    def due() -> set[UUID]:
        now = datetime.now(UTC)
        return {run.id for run in placed.runs() if run.expected_start_time <= now}

    deadline = time.monotonic() + 120
    while len(missed := due()) < 10:
        assert time.monotonic() < deadline, placed.runs()
    assert placed.duty()["deployments"][0]["late"] >= 10
    placed.worker()
    deadline = time.monotonic() + 120
    while not repo.branches or not all(placed.is_final(run) for run in missed):
        assert time.monotonic() < deadline, placed.said()

    names = [placed.client.read_flow_run(run).state_name for run in missed]
    assert sorted(set(names)) == ["Complete", "Missed"]
    assert names.count("Complete") == 1
    assert placed.duty()["deployments"][0]["last"]["state"] != "Missed"


def test_a_slot_that_asks_for_something_else_and_a_run_by_hand_are_not_answered_for(
    post, monkeypatch
):
    from tasks.slots import answer_for_missed  # noqa: PLC0415 -- the server is known by now

    often = {"slug": "often", "interval": 1}
    other = {"slug": "other", "interval": 1, "parameters": {"retry": True}}
    placed = post(more={"schedules": [often, other]}).deployed()
    by_hand = placed.start()

    def due(*, retry: bool) -> list[UUID]:
        now = datetime.now(UTC)
        return [
            run.id
            for run in placed.runs()
            if run.expected_start_time <= now and run.parameters.get("retry", False) is retry
        ]

    deadline = time.monotonic() + 120
    while len(due(retry=False)) < 4 or len(due(retry=True)) < 2:
        assert time.monotonic() < deadline, placed.runs()
    same, others = due(retry=False), due(retry=True)
    mine = next(run for run in same if run != by_hand)
    known = placed.client.read_deployment_by_name(placed.deployment)
    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", str(known.id))
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", str(mine))

    answer_for_missed()

    names = {run: placed.client.read_flow_run(run).state_name for run in (*same, *others)}
    missed = {run for run, name in names.items() if name == "Missed"}
    assert missed == set(same) - {mine, by_hand}


def test_a_run_is_not_started_for_ever(make, monkeypatch):
    from cli import asked  # noqa: PLC0415
    from flows import campaign as module  # noqa: PLC0415

    repo = make(1)
    arguments = asked.axis_of(repo.options()), repo.options().target
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__RUN_COUNT", "5")

    state = module.campaign(*arguments, return_state=True)

    assert "started 5 times" in str(state.result(raise_on_failure=False))
    assert repo.branches == []
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__RUN_COUNT", "4")
    assert module.campaign(*arguments, return_state=True).name == "Complete"


def test_what_is_on_duty_is_told(make, post):
    """A week's work, what comes next, and what waits."""
    repo = make(2)
    nightly = {"slug": "nightly", "cron": "0 2 * * *", "timezone": "Europe/Berlin"}
    placed = post(repo, more={"schedules": [nightly]}).deployed()

    before = placed.duty()

    (one,) = before["deployments"]
    assert one["schedules"] == ["0 2 * * * (Europe/Berlin)"]
    assert (one["last"], before["home"]["landed_7_days"]) == (None, 0)
    assert any(f"swathe worker {placed.name}" in wait for wait in before["waits"])

    repo.edits("m2", 'sed -i "s/VALUE = 2/VALUE = -2/;s/SITE:/DONE:/" "$SWATHE_PATH"\n')
    report = repo.run()
    after = placed.duty()

    assert after["home"]["landed_7_days"] == len(report.landed) == 1
    assert after["home"]["spend_usd_7_days"] == 0
    assert any("swathe status" in wait for wait in after["waits"]), after["waits"]
    assert any(report.take in wait for wait in after["waits"]), after["waits"]
    repo.git("merge", "-q", repo.branch)
    assert not any(report.take in wait for wait in placed.duty()["waits"])


def test_duty_shows_a_page_for_people_and_refuses_an_unknown_repository(post):
    placed = post().deployed()

    shown = placed.repo.swathe("duty", str(placed.repo.folder))

    assert shown.ok
    assert f"{placed.name}: {placed.repo.folder}" in shown.output
    assert "last ending  none" in shown.output
    refused = placed.repo.swathe("duty", "nobodys-pool")
    assert refused.exit_code == 2
    assert placed.name in refused.errors


def test_a_review_is_on_duty_like_a_campaign(make, post):
    repo = make(1)
    more = {"entrypoint": "flows.review_loop.review_loop", "parameters": {"only_rules": True}}
    placed = post(repo, more=more)
    placed.flow = "review-loop"
    placed.deployed()
    placed.worker()

    run = placed.start()
    state = placed.final(run)

    assert state.type.value == "COMPLETED", state.message
    assert placed.client.read_flow_run(run).name == "review of target"
    (one,) = placed.duty()["deployments"]
    assert (one["deployment"], one["axis"]) == (placed.deployment, "review")
    assert (one["last"]["state"], one["landed_7_days"]) == (state.name, 0)
