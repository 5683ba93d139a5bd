import re
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from domain.gate import Failure
from domain.report import (
    EXIT_CODES,
    BaselineSummary,
    Ending,
    Landed,
    Parked,
    Remaining,
    Report,
    Seconds,
)
from domain.summary import MOST_ROWS, broken_tests, markdown, next_step, numbers, verbatim

TAKE = "git -C /src/pyg merge --ff-only swathe/ruff-f401"

REPORT = Report(
    run="20261130-162135-3f9a",
    ending="exhausted",
    why="1 of 3 sites remains.",
    axis="ruff:F401",
    target="/src/pyg",
    base="b" * 40,
    branch="swathe/ruff-f401",
    tip="f" * 40,
    landed=tuple(
        Landed(
            sha=f"{nth}" * 40, site=f"a{nth}.py:3", subject="Remove os | sys", verified="batch of 2"
        )
        for nth in (1, 2)
    ),
    landed_before=4,
    parked=(
        Parked(
            site="c.py:9",
            reason="red",
            failures=tuple(Failure(test=f"t.py::test_{nth}") for nth in range(5)),
            ref="refs/swathe/ruff-f401/parked/1",
        ),
    ),
    remaining=(
        Remaining(site="c.py:9", key="k", rule="F401", message="`os` unused", why="parked"),
    ),
    declined=("d.py:1",),
    baseline=BaselineSummary(failed=("t.py::old",), flaky=("t.py::both",), tests=9),
    flaky=("t.py::both",),
    fixed=("t.py::old",),
    gate=("pytest -q",),
    gate_runs=3,
    spend_usd=0.5,
    seconds=Seconds(agent=1, gate=8, engine=1, active=12),
    first_commit_seconds=11,
    skipped={"generated": 2},
    notes=("3 uncommitted files are not seen",),
    take=TAKE,
    ui="http://127.0.0.1:4200/runs/1",
)


def changed(**fields: object) -> Report:
    return REPORT.model_copy(update=fields)


def test_the_numbers_of_a_run():
    assert dict(numbers(REPORT)) == {
        "landed commits": "2 (and 4 by earlier runs)",
        "landed per active hour": "600.0",
        "time to the first commit": "11 s",
        "gate runs per landed commit": "1.50 (3 in all)",
        "US dollars per landed commit": "0.25 (0.50 in all)",
        "time in agent / gate / engine": "10% / 80% / 10%",
        "active time": "12 s",
        "parked": "1 red",
        "remaining": "1",
    }


def test_a_run_that_landed_nothing_divides_by_nothing():
    empty = changed(
        landed=(), landed_before=0, seconds=Seconds(), first_commit_seconds=None, parked=()
    )

    said = dict(numbers(empty))

    assert said["landed per active hour"] == "-"
    assert said["gate runs per landed commit"] == "- (3 in all)"
    assert said["time in agent / gate / engine"] == "-"
    assert said["time to the first commit"] == "-"
    assert said["parked"] == "none"


@pytest.mark.parametrize("ending", get_args(Ending))
def test_every_ending_says_why_what_to_do_and_how_to_take_the_work(ending: Ending):
    """T71: commits were stranded because the verdict never named the branch."""
    said = markdown(changed(ending=ending))

    assert f"# ruff:F401 on /src/pyg: {ending}" in said
    assert "1 of 3 sites remains." in said
    assert next_step(changed(ending=ending)).endswith((".", "`"))
    assert f"```sh\n{TAKE}\n```" in said
    assert "`swathe/ruff-f401`" in said
    assert "f" * 40 in said


def test_every_ending_has_an_exit_code():
    assert set(EXIT_CODES) == set(get_args(Ending))


def test_a_busy_target_is_named():
    assert "`swathe enough /src/pyg`" in next_step(changed(ending="busy"))


def test_a_parked_commit_stands_with_the_tests_it_breaks():
    said = markdown(REPORT)

    assert "t.py::test_0, t.py::test_1, t.py::test_2 and 2 more" in said
    assert "`refs/swathe/ruff-f401/parked/1`" in said
    assert broken_tests(REPORT.parked[0], most=5).endswith("t.py::test_4")


def test_what_the_operator_should_know_is_listed():
    said = markdown(REPORT)

    for line in (
        "- 3 uncommitted files are not seen",
        "- failed on the base already: `t.py::old`",
        "- answers both ways: `t.py::both`",
        "- failed on the base, passes now: `t.py::old`",
        "- declined: `d.py:1`",
        "- 2 files skipped: generated",
    ):
        assert said.count(line) == 1


def test_a_run_that_did_nothing_has_no_empty_tables():
    said = markdown(
        Report(run="r", ending="nothing-to-do", why="No site.", axis="ruff:UP", target=".")
    )

    assert "## Landed" not in said
    assert "## Parked" not in said
    assert "## Remaining" not in said
    assert "## Notes" not in said
    assert "```" not in said


def test_a_pipe_does_not_break_a_table():
    assert "| Remove os \\| sys |" in markdown(REPORT)


def test_a_repository_cannot_write_markup_into_the_ui():
    hostile = changed(
        why="<img src=x>\x1b[31m",
        landed=(
            Landed(
                sha="1",
                site="a`b.py:1",
                subject="![x](http://evil) [go](http://evil)",
                verified="alone",
            ),
        ),
    )

    said = markdown(hostile)

    assert "<img" not in said
    assert "\x1b" not in said
    assert "![x]" not in said
    assert "](http" not in said
    assert "`` a`b.py:1 ``" in said


@given(st.text(alphabet="ab_*[]()!<>`|\\ /.:1"))
@example("tally/__init__.py:1")
@example("` <img src=x> ``")
@example("\\\\*a\\\\*")
def test_no_text_becomes_markup(text):
    shown = MarkdownIt("commonmark").renderInline(verbatim(text))

    assert set(re.findall(r"<(\w+)", shown)) <= {"code"}


def test_the_name_of_a_module_is_shown_whole():
    """Found by looking at the UI: `__init__` was bold, without its underscores."""
    shown = MarkdownIt("commonmark").renderInline(verbatim("Fix `x` in tally/__init__.py:1"))

    assert shown == "Fix <code>x</code> in tally/__init__.py:1"


def test_a_long_table_is_cut_and_says_so():
    many = changed(landed=REPORT.landed * MOST_ROWS)

    said = markdown(many)

    assert said.count("Remove os") == MOST_ROWS
    assert f"… and {MOST_ROWS} more, in the JSON of this report." in said


def test_a_run_that_stalled_is_not_sent_to_commits_that_do_not_exist():
    stalled = REPORT.model_copy(update={"ending": "stalled"})

    assert "parked commits" in next_step(stalled)
    assert "parked" not in next_step(stalled.model_copy(update={"parked": ()}))


def test_what_nobody_looked_for_is_not_said_to_be_none():
    unknown = REPORT.model_copy(update={"remaining": (), "looked": False})

    assert dict(numbers(unknown))["remaining"] == "nobody has looked"
    assert dict(numbers(REPORT))["remaining"] == "1"
