import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from domain.progress import Event, Progress
from domain.telling import kept_line, progress_line, told, warning


def event(name: str, elapsed: float = 0.0, **fields: object) -> Event:
    return Event.model_validate_json(json.dumps({"event": name, "elapsed": elapsed, **fields}))


def commits(*shas: str) -> list[dict[str, str]]:
    return [{"sha": sha, "subject": f"change {sha}", "site": f"{sha}.py:1"} for sha in shas]


RUN = (
    event(
        "begun",
        run="r1",
        axis="ruff:UP",
        target="/src/x",
        base="b",
        branch="refs/heads/swathe/ruff-up",
    ),
    event("ui", url="http://127.0.0.1:4200/runs/1"),
    event("step", what="preparing the environment"),
    event("baseline", 3, tests=455, failed=[], seconds=3),
    event("sites", 4, count=3, skipped={}, **{"pass": 1}),
    event("executed", 5, commits=3, seconds=1),
    event("gate-started", 5, commits=3),
    event("gate", 9, kind="red", commits=3, seconds=4, kept=False, failures=["t::a"]),
    event("parked", 9, site="c.py:1", reason="red", failures=["t::a", "t::b"]),
    event("gate", 13, kind="green", commits=2, seconds=4, kept=False),
    event("landed", 13, commits=commits("a", "b")),
    event("gate", 13, kind="green", commits=2, kept=True),
)


def after(*events: Event) -> Progress:
    progress = Progress()
    for one in events:
        progress = progress.after(one)
    return progress


def test_a_run_is_told_in_one_line():
    assert progress_line(after(*RUN), now=75) == (
        "3 sites · 2 gate runs · 2 landed · 1 parked · first commit after 13 s · last one 1 min 2 s ago"
    )


def test_before_the_sites_are_known_none_are_claimed():
    assert progress_line(after(*RUN[:3]), now=1) == "0 gate runs · 0 landed · 0 parked"


def test_a_verdict_known_from_before_is_no_gate_run():
    assert after(*RUN).gate_runs == 2


def test_the_first_commit_is_remembered_and_the_last_one_moves():
    progress = after(*RUN, event("landed", 20, commits=commits("d")))

    assert (progress.first_commit, progress.last_commit, progress.tip, progress.landed) == (
        13,
        20,
        "d",
        3,
    )


def test_sites_of_a_second_pass_come_on_top_of_what_is_settled():
    assert after(*RUN, event("sites", 14, count=5)).total == 8


def test_a_landing_without_commits_changes_nothing():
    assert after(event("landed", 3, commits=[])).first_commit is None


def test_a_run_that_lands_nothing_for_ten_minutes_is_pointed_out():
    """T69: "running" for 2 h 31 with no commit looked healthy."""
    working = after(*RUN[:5])

    assert warning(working, now=4 + 600) is None
    assert "nothing has landed for 10 min 1 s" in (warning(working, now=4 + 601) or "")
    assert "`swathe enough /src/x`" in (warning(working, now=4 + 601) or "")
    assert warning(after(*RUN), now=13 + 599) is None
    assert warning(after(*RUN), now=13 + 601) is not None


def test_a_run_that_prepares_or_is_over_is_not_pointed_out():
    assert warning(after(*RUN[:4]), now=10_000) is None
    assert warning(after(*RUN, event("ended", 14, ending="complete", why="")), now=10_000) is None


def test_a_run_cut_off_names_branch_commit_and_how_to_take_it():
    """T71: the verdict never named the branch."""
    line = kept_line(after(*RUN)) or ""

    assert "2 commits landed on swathe/ruff-up, now at b." in line
    assert "`swathe take /src/x --axis ruff:UP`" in line


def test_a_run_cut_off_before_anything_landed_claims_nothing():
    assert kept_line(after(*RUN[:5])) is None


def test_events_are_told_one_a_line():
    assert [told(one) for one in RUN] == [
        "ruff:UP on /src/x -> swathe/ruff-up",
        "watch it at http://127.0.0.1:4200/runs/1",
        "preparing the environment",
        "baseline: 455 tests, all green (3.0 s)",
        "3 sites found",
        None,
        None,
        "gate red on 3 commits (4.0 s)",
        "parked c.py:1: red, breaks t::a and 1 more",
        "gate green on 2 commits (4.0 s)",
        "landed 2 commits",
        "gate green on 2 commits (known from before)",
    ]


def test_a_red_baseline_says_how_many_fail():
    assert told(event("baseline", tests=None, failed=["a", "b"], seconds=1)) == (
        "baseline: exit code only, 2 fail already (1.0 s)"
    )


@given(st.lists(st.sampled_from(RUN)), st.floats(0, 1e6))
def test_any_order_of_events_can_be_told(events: list[Event], now: float):
    progress = after(*events)

    assert progress_line(progress, now).isprintable()
    assert progress.settled >= 0


def test_an_event_of_a_newer_writer_moves_only_the_clock():
    assert after(*RUN, event("rested", 99, minutes=5)) == after(*RUN).model_copy(
        update={"elapsed": 99}
    )


def test_a_line_that_is_no_event_is_refused():
    with pytest.raises(ValidationError):
        Event.model_validate_json('{"at": "2026"}')
