"""T70: a duration of `300000` was parsed as invalid, and silently became the default."""

import json
from pathlib import Path

import pytest

from domain.budget import Budget
from domain.hired import Hired
from domain.options import RunOptions
from domain.target import Target

REFUSED = 2


def test_every_answer_reaches_the_engine(swathe, engine, tmp_path):
    ran = swathe(
        *("run", str(tmp_path), "--axis", "ruff:UP", "--paths", "src/**", "--paths", "lib/**"),
        *(
            "--branch",
            "main",
            "--base",
            "v1",
            "--verify",
            "make test",
            "--setup",
            "make",
            "--env",
            str(tmp_path),
        ),
        *(
            "--allow",
            "ci",
            "--allow",
            "tests",
            "--allow",
            "ci",
            "--grain",
            "file",
            "--verify-each",
            "--unsafe",
        ),
        *(
            "--include-generated",
            "--max-passes",
            "3",
            "--max-minutes",
            "1.5",
            "--max-usd",
            "2",
            "--gate-minutes",
            "5",
        ),
        "--retry",
        "--offline",
    )

    assert ran.code == 0
    assert engine.asked == [
        RunOptions(
            target=Target(
                repo=str(tmp_path),
                base="v1",
                branch="main",
                paths=("src/**", "lib/**"),
                verify=("make test",),
                setup=("make",),
                environment=str(tmp_path),
                allow=("tests", "ci"),
                include_generated=True,
                gate_minutes=5,
                offline=True,
            ),
            axis="ruff:UP",
            budget=Budget(max_passes=3, max_minutes=1.5, max_usd=2),
            grain="file",
            verify_each=True,
            unsafe=True,
            retry=True,
        )
    ]


def test_what_is_said_of_a_model_reaches_the_engine(swathe, engine):
    swathe(
        *("run", ".", "--axis", "count from zero", "--executor", "gpt", "--confirm", "sample"),
        *("--max-usd-per-pass", "1.5", "--max-usd-per-site", "0.25"),
        *("--reader-model", "claude-small", "--reader-price", "1/2"),
    )

    assert engine.asked == [
        RunOptions(
            target=Target(repo="."),
            axis="count from zero",
            hired=Hired(family="gpt", reader_model="claude-small", reader_price="1/2"),
            confirm="sample",
            budget=Budget(max_usd_per_pass=1.5, max_usd_per_site=0.25),
        )
    ]


@pytest.mark.parametrize(
    ("executor", "hired"),
    [
        ("codemod", None),
        ("claude", Hired(family="claude")),
        ("gpt", Hired(family="gpt")),
        ("claude-code", Hired(family="claude", agent="vendor")),
        ("codex", Hired(family="gpt", agent="vendor")),
    ],
)
def test_an_executor_is_a_family_and_whose_agent_it_works_in(swathe, engine, executor, hired):
    swathe("run", ".", "--axis", "ruff:UP", "--executor", executor)

    assert [asked.hired for asked in engine.asked] == [hired]
    assert hired is None or hired.executor == executor


def test_what_is_not_said_is_the_default(swathe, engine):
    swathe("run", ".", "--axis", "ruff:UP")

    assert engine.asked == [RunOptions(target=Target(repo="."), axis="ruff:UP")]


@pytest.mark.parametrize(
    "option",
    [
        "--max-passes",
        "--max-minutes",
        "--max-usd",
        "--max-usd-per-pass",
        "--max-usd-per-site",
        "--gate-minutes",
    ],
)
@pytest.mark.parametrize("number", ["0", "-1", "nan", "inf", "-inf", "1e999", "300000s", "", "1,5"])
def test_a_number_that_cannot_be_meant_is_refused_before_anything_is_done(
    swathe, engine, option, number
):
    ran = swathe("run", ".", "--axis", "ruff:UP", f"{option}={number}")

    assert ran.code == REFUSED
    assert option in ran.err
    assert engine.asked == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--axis", " "), "--axis is empty"),
        (("--axis", "a", "--confirm", "each"), "--confirm each is for the commits of a model"),
        (("--axis", "a", "--reader-model", "x"), "no model was asked for"),
        (("--axis", "a", "--verify", ""), "--verify is empty"),
        (("--axis", "a", "--setup", "\t"), "--setup is empty"),
        (("--axis", "a", "--paths", ""), "--paths is empty"),
        (("--axis", "a", "--paths", "../other/**"), "--paths is '../other/**', which leads out"),
        (
            ("--axis", "a", "--branch", "--all"),
            "--branch is '--all', which git would read as an option",
        ),
        (("--axis", "a", "--base", ""), "--base is empty"),
        (("--axis", "a", "--env", "no/such/env"), "--env is 'no/such/env', which is not a folder"),
        (
            ("--axis", "a", "--allow", "all"),
            "--allow is 'all'. It takes one of: tests, ci, deps, config.",
        ),
    ],
)
def test_an_answer_that_cannot_be_meant_is_refused_with_its_value(swathe, engine, arguments, said):
    ran = swathe("run", ".", *arguments)

    assert ran.code == REFUSED
    assert said in ran.err
    assert engine.asked == []


@pytest.mark.parametrize("repo", ["no/such/folder", "ftp://example.org/x", "C:x", " ", "README.md"])
def test_what_is_no_repository_is_refused(swathe, engine, repo):
    ran = swathe("run", repo, "--axis", "a")

    assert ran.code == REFUSED
    assert engine.asked == []


@pytest.mark.parametrize(
    "repo",
    [
        "https://example.org/x.git",
        "ssh://git@example.org/x",
        "git@example.org:x/y.git",
        "file:///x",
    ],
)
def test_an_address_is_left_to_git(swathe, engine, repo):
    swathe("run", repo, "--axis", "a")

    assert engine.asked[0].target.repo == repo


def test_a_dry_run_and_plan_ask_for_the_same(swathe, engine):
    dry = swathe("run", ".", "--axis", "ruff:UP", "--dry-run")
    planned = swathe("plan", ".", "--axis", "ruff:UP")

    assert dry.code == planned.code == 0
    assert dry.out == planned.out
    assert engine.asked[0] == engine.asked[1]
    assert engine.asked[0].dry_run
    assert "50 sites of ruff:UP" in dry.out
    assert "… and 10 more" in dry.out
    assert "pytest -q (detected: pytest)" in dry.out
    assert "12 of F841 have no safe fix" in dry.out


def test_a_plan_in_json_is_one_line(swathe):
    out = swathe("plan", ".", "--axis", "ruff:UP", "--json").out

    assert out.count("\n") == 1
    assert len(json.loads(out)["sites"]) == 50


def test_the_demo_makes_its_repository_where_it_is_told(swathe, engine, tmp_path):
    ran = swathe("demo", str(tmp_path / "tally"))

    assert ran.code == 0
    assert engine.asked == [tmp_path / "tally", "ruff:UP,C4,SIM", "auto"]


def test_the_demo_leaves_a_folder_that_exists_alone(swathe, engine, tmp_path):
    ran = swathe("demo", str(tmp_path))

    assert ran.code == REFUSED
    assert "exists already" in ran.err
    assert engine.asked == []


def test_the_default_folder_of_the_demo_is_in_the_current_one(
    swathe, engine, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    swathe("demo")

    assert engine.asked[0] == Path.cwd() / "swathe-demo"


def test_a_list_is_approved_by_a_person_at_a_terminal(swathe, engine):
    """A program that types the command is told what to do, and nothing is begun."""
    done = swathe("run", ".", "--axis", "ruff:UP", "--approve")

    assert done.code == 2
    assert "--approve asks a person, and this is no terminal" in done.err
    assert "`swathe plan .` shows the list" in done.err
    assert not engine.asked
