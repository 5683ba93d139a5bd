"""A run that was stopped, however it was, and the one that goes on (cases.md, R1, R2, R5, R7, R9)."""

import contextlib
import json
import signal
from datetime import datetime, timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from harness import CHECKS, breaks, ended, exit_code, forked, in_flow, killed_at, sh

from adapters import events

pytestmark = pytest.mark.flow

KILL = """
if [ "$call" = {call} ]; then
  sleep 120 & echo $! > "$tools/orphan"
  kill -{sign} "$engine"
  wait
fi
"""


SITE = "%(trailers:key=Swathe-Site,valueonly,separator=)"


def leftovers(repo) -> list[str]:
    """Locks and half-written files, in the target and in our folder for it."""
    found = [*repo.folder.rglob("*.lock"), *repo.home.rglob("*.lock"), *repo.home.rglob("*.draft")]
    return [str(path) for path in found]


def test_a_killed_run_is_gone_on_with_and_nothing_is_done_twice(make):
    """R1: the console script is killed by SIGKILL in the gate of its fourth commit."""
    repo = make(8)
    repo.gate(KILL.format(call=6, sign="KILL") + CHECKS)

    killed = repo.swathe("run", *repo.words(), "--verify-each")

    assert killed.exit_code == -signal.SIGKILL
    assert ended(int((repo.tools / "orphan").read_text())), "the gate outlived the run"
    first = repo.log()
    assert len(first) == 3

    report = repo.run(verify_each=True)

    assert report.ending == "complete"
    assert (report.landed_before, len(report.landed)) == (3, 5)
    assert repo.log()[:3] == first
    assert repo.log(SITE) == [f"m{n}.py:1" for n in range(1, 9)]
    assert leftovers(repo) == []
    assert sum("target" in path.name for path in repo.home.glob("targets/*")) == 1


def test_a_run_that_is_gone_on_with_stays_on_its_base_and_the_next_takes_the_new_one(make, client):
    """T67: the base branch moves between the crash of a run and its second start."""
    repo = make(4)
    repo.gate(KILL.format(call=5, sign="KILL") + CHECKS)
    first = repo.git("rev-parse", "HEAD")
    run = str(client.create_flow_run(import_module("flows.campaign").campaign).id)
    assert exit_code(forked(in_flow, repo.options(), run)) == -signal.SIGKILL
    landed = repo.log()
    now = repo.write({"meanwhile.txt": "moved on\n"}).commit("Meanwhile")

    report = in_flow(repo.options(), run)

    assert (report.ending, report.base) == ("complete", first)
    assert landed
    assert repo.log()[: len(landed)] == landed
    assert any("moved on by 1 commits during the run" in note for note in report.notes)
    assert repo.run().base == now


def test_a_run_that_was_terminated_in_the_gate_leaves_no_process_and_keeps_what_landed(make):
    """R6."""
    repo = make(4)
    repo.gate(KILL.format(call=5, sign="TERM") + CHECKS)

    done = repo.swathe("run", *repo.words(), "--verify-each")

    assert done.ended == "exited"
    assert done.exit_code != 0
    assert "Traceback" not in done.errors
    assert ended(int((repo.tools / "orphan").read_text()))
    assert len(repo.log()) == 2
    assert repo.run().ending == "complete"
    assert len(repo.log()) == 4


def test_runs_killed_one_event_later_each_time_end_with_the_same_tree(make):
    """T34, T55: the first run dies at its first event, the next at its second, until one survives."""
    calm = make(6, name="calm")
    calm.edits("m2", breaks(2))
    calm.run()
    repo = make(6)
    repo.edits("m2", breaks(2))
    before: list[str] = []
    died_at: list[str] = []
    while (
        exit_code(forked(killed_at, repo.options(verify_each=True), len(died_at) + 1))
        == -signal.SIGKILL
    ):
        died_at.append(repo.last_event())
        assert repo.log()[: len(before)] == before, died_at
        before = repo.log()

    assert {"begun", "sites", "baseline", "ui", "executed", "gate-started", "gate", "landed"} <= {
        *died_at
    }, died_at
    assert repo.git("rev-parse", f"{repo.branch}^{{tree}}") == calm.git(
        "rev-parse", f"{calm.branch}^{{tree}}"
    )
    assert repo.log(SITE) == [f"m{n}.py:1" for n in (1, 3, 4, 5, 6)]
    assert [parked.site for parked in repo.state().parked] == ["m2.py:1"]
    assert sum("/parked/" in ref for ref in repo.refs) == 1
    assert leftovers(repo) == []
    assert repo.run().ending == "nothing-to-do"


def test_a_budget_that_is_reached_in_mid_pass_keeps_what_landed(make, monkeypatch):
    """R2, T19, T56: the clock goes on by a minute at each gate run."""
    repo = make(8)
    repo.gate(CHECKS)
    clock = SimpleNamespace(monotonic=lambda: 60.0 * repo.counted("calls"))
    monkeypatch.setattr(events, "time", clock)

    report = repo.run(verify_each=True, budget={"max_minutes": 4.5})

    assert report.ending == "budget"
    assert report.exit_code == 3
    assert len(report.landed) == 3
    assert [site.site for site in report.remaining] == [f"m{n}.py:1" for n in range(4, 9)]
    assert report.seconds.active == 300
    assert report.take
    first = repo.log()

    again = repo.run()

    assert again.ending == "complete"
    assert again.landed_before == 3
    assert repo.log()[:3] == first
    assert repo.state().active_seconds == 300 + again.seconds.active


def test_a_wall_clock_that_jumps_changes_no_budget(make, monkeypatch):
    """R9, T61."""
    jumps = iter(range(1, 1000))

    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=10 * (-1) ** next(jumps))

    monkeypatch.setattr(events, "datetime", Jumping)
    repo = make(2)

    report = repo.run(budget={"max_minutes": 30})

    assert next(jumps) > 5, "the clock was looked at"
    assert report.ending == "complete"
    assert 0 < report.seconds.active < 600


def test_a_base_that_moves_during_the_run_is_left_alone_and_the_report_says_so(make):
    """R5."""
    repo = make(3)
    base = repo.git("rev-parse", "main")
    move = f'cd "{repo.folder}"; echo > moved.txt; git add moved.txt; git commit -qm Moved; cd - > /dev/null'
    identity = (
        "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b"
    )
    repo.gate(f'if [ "$call" = 3 ]; then {identity}; {move}; fi\n{CHECKS}')

    report = repo.run()

    moved = repo.git("rev-parse", "main")
    assert moved != base == report.base
    assert any("moved on by 1 commit" in note for note in report.notes)
    assert len(repo.log(since=base)) == 3
    assert sh(report.take, repo.folder).ok
    assert repo.git("merge-base", "--is-ancestor", moved, "main") == ""
    assert repo.run().ending == "nothing-to-do"


def test_work_that_is_behind_a_moved_base_is_gone_on_with_and_said(make):
    """R5: the next run finds the base moved on before it begins."""
    repo = make(3)
    repo.run(paths=("m1.py",))
    first = repo.log()
    repo.write({"other.txt": "x\n"}).commit("Moved")

    report = repo.run()

    assert report.ending == "complete"
    assert repo.log()[0] == first[0], "no landed commit is written anew"
    assert any("the base has 1 commit" in note for note in report.notes)


DEAD = "http://127.0.0.1:9/api"
"""Nobody answers there: whoever starts a flow fails."""


def test_a_second_run_has_nothing_to_do_and_starts_no_prefect(make, monkeypatch):
    """R7."""
    repo = make(2)
    repo.run()
    before, gates = repo.refs, repo.counted("edited")
    monkeypatch.setenv("PREFECT_API_URL", DEAD)

    report = repo.run()

    assert (report.ending, report.exit_code) == ("nothing-to-do", 0)
    assert report.gate_runs == report.passes == 0
    assert (repo.refs, repo.counted("edited")) == (before, gates)
    assert report.take, "what landed earlier is still to be taken"


def test_a_site_that_was_taken_back_is_declined_and_done_again_on_request(make):
    """R7, T78."""
    repo = make(2)
    report = repo.run()
    sh(report.take, repo.folder)
    repo.git("revert", "--no-edit", report.landed[0].sha)

    second = repo.run()

    assert second.ending == "nothing-to-do"
    assert [(site.site, site.why) for site in second.remaining] == [("m1.py:1", "declined")]
    assert len(second.declined) == 1
    assert repo.git("show", "main:m1.py").endswith("SITE:m1")

    third = repo.run(retry=True)

    assert third.ending == "complete"
    assert [commit.site for commit in third.landed] == ["m1.py:1"]


def test_a_flow_that_prefect_tries_again_does_no_finished_step_again(make, tmp_path):
    """The second look for sites fails once; what was made and proved before it is kept."""
    from cli import asked  # noqa: PLC0415 -- the home of the test is set by now
    from flows.campaign import campaign  # noqa: PLC0415

    calm = make(3, name="calm")
    calm.run()
    repo = make(3)
    repo.gate(CHECKS)
    last = calm.counted("found")
    (repo.tools / "before-find").write_text(
        f'[ $(wc -l < "{repo.tools}/found") != {last} ] || exit 7\n'
    )
    options = repo.options()
    (tmp_path / "room").mkdir()

    with contextlib.chdir(tmp_path / "room"):
        state = campaign.with_options(retries=1, retry_delay_seconds=0)(
            asked.axis_of(options), options.target, return_state=True
        )

    assert state.name == "Complete"
    assert repo.counted("found") == last + 1, "the look that failed was made again"
    assert repo.counted("edited") == 3
    assert repo.counted("calls") == 3, "the base, the broken base, one batch"
    assert len(repo.log()) == 3
    (report,) = repo.home.glob("targets/target-*/runs/*/report.json")
    assert json.loads(report.read_text())["gate_runs"] == 3
