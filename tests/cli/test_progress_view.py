import io
import json
import time
from pathlib import Path

import pytest
from rich.console import Console

from cli.progress import Follower, Lines, follow
from domain.progress import Progress


def line(event: str, elapsed: float = 0.0, **fields: object) -> str:
    return (
        json.dumps(
            {"at": "2026-11-30T16:00:00+00:00", "elapsed": elapsed, "event": event, **fields}
        )
        + "\n"
    )


BEGUN = line(
    "begun", run="r", axis="ruff:UP", target="/src/x", base="b", branch="refs/heads/swathe/ruff-up"
)
SITES = line("sites", 1, count=2)
LANDED = line("landed", 3, commits=[{"sha": "a" * 40, "subject": "Use [bold]", "site": "a.py:1"}])
PARKED = line("parked", 4, site="b.py:2", reason="red", failures=["t::x\x1b[2J"])


@pytest.fixture(name="events")
def _events(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def console(*, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=200, highlight=False)


def printed(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_events_are_told_as_they_are_appended(events: Path):
    on = console()

    with follow(events, on):
        events.write_text(BEGUN + SITES[:10])  # a line may be half written when it is read
        time.sleep(0.3)
        assert printed(on) == "ruff:UP on /src/x -> swathe/ruff-up\n"
        with events.open("a") as more:
            more.write(SITES[10:] + LANDED)

    assert printed(on).splitlines()[1:] == [
        "2 sites found",
        "landed 1 commit",
        "2 sites · 0 gate runs · 1 landed · 0 parked · first commit after 3.0 s · last one 0.0 s ago",
    ]


def test_a_run_without_events_shows_nothing(events: Path):
    on = console()

    with follow(events, on):
        pass

    assert printed(on) == ""


def test_lines_that_are_no_events_are_passed_over(events: Path):
    on = console()
    events.write_text(
        "nonsense\n[]\n{}\n\n\xff\n" + BEGUN + line("of a newer version", 2, x=1),
        encoding="latin-1",
    )

    with follow(events, on) as follower:
        pass

    assert follower.progress.axis == "ruff:UP"
    assert follower.progress.elapsed == 2


def test_a_run_that_is_cut_off_names_what_has_landed(events: Path):
    """T71: every exit path prints branch, commit and the command to take it."""
    on = console()
    events.write_text(BEGUN + SITES + LANDED)

    with pytest.raises(KeyboardInterrupt), follow(events, on):
        raise KeyboardInterrupt

    assert "1 commit landed on swathe/ruff-up, now at aaaaaaaaaaaa." in printed(on)
    assert "`swathe take /src/x --axis ruff:UP`" in printed(on)


def test_a_terminal_shows_what_goes_on_and_keeps_what_was_parked(events: Path):
    on = console(terminal=True)
    events.write_text(BEGUN + SITES + LANDED + PARKED + line("gate-started", 5, commits=1))

    with follow(events, on):
        time.sleep(0.4)

    said = printed(on)
    assert "parked b.py:2: red, breaks t::x [2J" in said
    assert "2 sites · 0 gate runs · 1 landed · 1 parked" in said
    assert "the gate runs on 1 commit" in said
    assert "\x1b[2J" not in said


def test_a_run_that_lands_nothing_is_warned_about_once_in_ten_minutes():
    """T69."""
    on = console()
    lines = Lines(on)
    working = Progress(stage="working", target="/src/x", working_since=0)

    for minute in range(35):
        lines.tick(working, minute * 60.0)

    assert printed(on).count("warning: nothing has landed for") == 3


def test_a_follower_reads_only_what_is_new(events: Path):
    on = console()
    follower = Follower(events, Lines(on))
    events.write_text(LANDED)
    follower._look()
    follower._look()

    assert follower.progress.landed == 1
