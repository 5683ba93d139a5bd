"""What a person, and what a program, reads at the end."""

import json
import os
from pathlib import Path
from typing import get_args

import pytest

from domain.gate import Failure
from domain.report import EXIT_CODES, BaselineSummary, Ending, Parked, Remaining, Report
from domain.status import CampaignStatus
from domain.value import Refused

TAKE = "git -C /src/x merge --ff-only swathe/ruff-up"


@pytest.mark.parametrize("ending", get_args(Ending))
def test_every_ending_has_its_exit_code_and_names_branch_commit_and_command(swathe, engine, ending):
    """T71: $16.81 and $23.70 of commits were stranded, since the verdict never named the branch."""
    engine.report = engine.report.model_copy(update={"ending": ending})

    ran = swathe("run", ".", "--axis", "ruff:UP")

    assert ran.code == EXIT_CODES[ending]
    assert f"{ending}: No site is left." in ran.out
    assert "swathe/ruff-up ffffffffffff" in ran.out
    assert ran.out.rstrip().endswith(TAKE)


def test_the_address_of_the_run_is_in_one_piece(swathe, engine):
    address = f"http://127.0.0.1:45893/flow-runs/flow-run/{'f3e5569e-' * 9}"
    engine.report = engine.report.model_copy(update={"ui": address})

    ran = swathe("run", ".", "--axis", "ruff:UP")

    assert address in ran.out


def test_a_program_reads_one_line_of_json(swathe, engine):
    ran = swathe("run", ".", "--axis", "ruff:UP", "--json")

    assert ran.out.count("\n") == 1
    assert Report.model_validate_json(ran.out) == engine.report
    assert ran.code == 0


def test_a_program_reads_a_refusal_as_json_too(swathe, engine):
    engine.failure = Refused("no gate. Name one with --verify.")

    ran = swathe("run", ".", "--axis", "ruff:UP", "--json")

    assert ran.code == 2
    assert json.loads(ran.out)["ending"] == "refused"
    assert json.loads(ran.out)["why"] == "no gate. Name one with --verify."
    assert ran.err == "swathe: no gate. Name one with --verify.\n"


def test_a_parked_commit_is_shown_with_the_tests_it_breaks(swathe, engine):
    failures = tuple(Failure(test=f"t.py::test_{nth}[red]") for nth in range(5))
    engine.report = engine.report.model_copy(
        update={
            "ending": "exhausted",
            "parked": (Parked(site="c.py:9", reason="red", failures=failures),),
            "remaining": (
                Remaining(site="c.py:9", key="k", rule="F401", message="unused", why="parked"),
            ),
            "baseline": BaselineSummary(failed=("t.py::old",)),
            "flaky": ("t.py::both",),
            "fixed": ("t.py::mended",),
            "skipped": {"vendored": 3},
            "notes": ("2 files are not committed \x1b[2J",),
        }
    )

    out = swathe("run", ".", "--axis", "ruff:UP").out

    assert "t.py::test_0[red], t.py::test_1[red], t.py::test_2[red] and 2 more" in out
    assert "1 test failed on the base already: t.py::old" in out
    for word in ("t.py::both", "t.py::mended", "3 vendored", "2 files are not committed"):
        assert word in out
    assert "\x1b[2J" not in out


def test_a_long_list_is_cut_and_says_where_the_rest_is(swathe, engine):
    engine.report = engine.report.model_copy(update={"landed": engine.report.landed * 100})

    out = swathe("run", ".", "--axis", "ruff:UP").out

    assert "Landed (100)" in out
    assert "… and 88 more: swathe report r1" in out


def stored(home: Path, run: str, *, at: int, target: str = "x-1", text: str | None = None) -> None:
    path = home / "targets" / target / "runs" / run / "report.json"
    path.parent.mkdir(parents=True)
    report = Report(run=run, ending="complete", why="Done.", axis="ruff:UP", target="x")
    path.write_text(report.model_dump_json() if text is None else text)
    os.utime(path, (at, at))


def test_a_stored_report_is_found_under_any_target(swathe, home):
    stored(home, "20261130-1-aaaa", at=2)
    stored(home, "20261130-2-bbbb", at=1, target="y-2")

    assert "`20261130-2-bbbb`" in swathe("report", "20261130-2-bbbb").out
    assert "`20261130-2-bbbb`" in swathe("report", "20261130-2").out
    assert json.loads(swathe("report", "last", "--json").out)["run"] == "20261130-1-aaaa"


@pytest.mark.parametrize("run", ["20261130", "", "../x", "*", "20261131"])
def test_a_run_that_is_not_one_is_refused_with_those_there_are(swathe, home, run):
    stored(home, "20261130-1-aaaa", at=2)
    stored(home, "20261130-2-bbbb", at=1)

    ran = swathe("report", run)

    assert ran.code == 2
    assert "20261130-1-aaaa, 20261130-2-bbbb" in ran.err


def test_a_report_that_cannot_be_read_is_refused(swathe, home):
    stored(home, "r1", at=1, text='{"version": 2}')

    ran = swathe("report", "r1")

    assert ran.code == 2
    assert "is not a report this version of Swathe can read" in ran.err


def test_status_says_what_to_do_next(swathe, engine):
    engine.campaigns = (
        CampaignStatus(
            axis="ruff:UP",
            branch="swathe/ruff-up",
            landed=3,
            parked=(Parked(site="a", reason="red"), Parked(site="b", reason="scope")),
            remaining=2,
            ending="exhausted",
            why="2 remain.",
            next="Run again with `--retry`.",
            take=TAKE,
        ),
    )

    ran = swathe("status", ".", "--axis", "ruff:UP")

    assert engine.asked == [".", "ruff:UP"]
    for words in (
        "3 commits",
        "1 red, 1 scope",
        "exhausted: 2 remain.",
        "next: Run again with `--retry`.",
        TAKE,
    ):
        assert words in ran.out
    assert "warning" not in ran.out


def test_status_points_out_a_run_that_lands_nothing(swathe, engine):
    """T69: "running" for 2 h 31 with no commit looked healthy."""
    quiet = CampaignStatus(axis="a", branch="swathe/a", running=True, minutes_since_last_commit=151)
    engine.campaigns = (quiet,)

    out = swathe("status", ".").out

    assert "warning: nothing has landed for 2 h 31 min" in out
    assert not quiet.model_copy(update={"minutes_since_last_commit": 9.0}).quiet


def test_status_of_a_repository_without_campaigns_says_how_to_begin(swathe, engine):
    engine.campaigns = ()

    assert "`swathe run . --axis AXIS` begins one" in swathe("status", ".").out
    assert json.loads(swathe("status", ".", "--json").out) == {"repo": ".", "campaigns": []}


def test_take_prints_the_command_alone_and_runs_it_when_asked(swathe, engine):
    assert swathe("take", ".").out == f"{TAKE}\n"
    assert engine.asked[-2:] == ["ruff:UP", False]
    assert (
        "Took 3 commits of swathe/ruff-up" in swathe("take", ".", "--axis", "ruff:UP", "--run").out
    )
    assert engine.asked[-2:] == ["ruff:UP", True]


def test_take_asks_which_axis_when_there_are_several(swathe, engine):
    engine.campaigns *= 2

    assert "Say which, with --axis: ruff:UP, ruff:UP." in swathe("take", ".").err

    engine.campaigns = ()
    assert "nothing has landed in '.' yet" in swathe("take", ".").err


def test_enough_says_what_will_happen(swathe, engine):
    assert swathe("enough", ".").out == "Asked: ruff:UP finishes its pass, lands it, and stops.\n"
    engine.well = False
    assert "Nothing runs now" in swathe("enough", ".").out
    engine.campaigns = ()
    assert "there is nobody to hear it" in swathe("enough", ".").out


def test_doctor_says_what_is_missing(swathe, engine):
    assert swathe("doctor", ".").code == 0
    engine.well = False

    ran = swathe("doctor", ".", "--base", "v1", "--gate-minutes", "2")

    assert ran.code == 2
    assert "Name a command with --verify." in ran.out
    assert engine.asked[-1].base == "v1"
    assert json.loads(swathe("doctor", ".", "--json").out)["checks"][1]["ok"] is False


def test_the_operators_own_server_is_used_and_none_is_started(swathe, monkeypatch, home):
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect.example/api")

    assert "uses the server at http://prefect.example/api" in swathe("server", "start").out
    assert not home.exists()


def test_a_server_that_does_not_run_is_said_so(swathe, home):
    assert (
        swathe("server", "status").out
        == "No server of Swathe runs. `swathe run` starts one by itself.\n"
    )
    assert json.loads(swathe("server", "status", "--json").out)["running"] is False
    assert swathe("server", "stop").out == "No server of Swathe runs.\n"
