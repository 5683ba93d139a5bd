"""The crash harness in small: some sixty kills, a handful of seeded bugs, and the points a kill may fall on.

The long version is `just crash`; what it found last is in the README.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from adapters.failpoints import POINTS
from adapters.processes import shell

HERE = Path(__file__).parent


@pytest.fixture(name="crash")
def _crash(tmp_path):
    """Run the harness as a program: it forks, and this process has threads. Its words, and what it found."""

    def crash(*words, status=0):
        report = tmp_path / "report.json"
        done = shell.run(
            [sys.executable, str(HERE), *words, "--folder", str(tmp_path), "--report", str(report)],
            cwd=HERE,
            env={"PATH": os.environ["PATH"]},
            timeout_seconds=1200,
            contain=False,
        )
        assert done.exit_code == status, done.output
        return json.loads(report.read_text()) if report.exists() else {}, done.output

    return crash


SHARES = {
    "failpoint": 22,
    "time": 6,
    "group": 8,
    "planted": 5,
    "torn": 5,
    "orphan": 3,
    "in-gate": 3,
    "gate": 1,
    "sigterm": 2,
    "error": 3,
    "clock": 2,
    "review": 6,
    "sweep": 5,
    "units": 4,
}
"""Kills by mode: more where each is at another place."""


def test_some_sixty_kills_leave_nothing_wrong(crash):
    shares = [word for mode, kills in SHARES.items() for word in ("--share", f"{mode}={kills}")]

    found, said = crash(*shares, "--workers", "2")

    assert {mode: tally["kills"] for mode, tally in found.items()} == SHARES
    assert {mode: tally["wrong"] for mode, tally in found.items()} == {mode: [] for mode in SHARES}
    assert sum(found["failpoint"]["points"].values()) == found["failpoint"]["kills"]
    assert set(found["failpoint"]["points"]) <= set(POINTS)
    assert "kills by failpoint" in said


def test_a_disk_that_runs_full_costs_nothing_that_landed(crash):
    found, said = crash("--share", "disk=2")
    if "disk is left out" in said:
        pytest.skip("only root can mount a small disk")

    assert (found["disk"]["kills"], found["disk"]["wrong"]) == (2, [])


QUICK = (
    "state-apart-from-the-branch",
    "parked-refs-not-restored",
    "lock-not-inherited",
    "landed-before-the-gate",
    "gate-outlives-the-engine",
)
"""Caught in the first campaign of the mode that is made for them; `just crash --mutants` tries all."""


def test_seeded_bugs_are_caught_and_said_with_the_words_that_replay_them(crash):
    only = [word for name in QUICK for word in ("--only", name)]

    _, said = crash("--mutants", "--campaigns", "3", *only)

    assert "5 of 5 seeded bugs caught" in said
    for name in QUICK:
        assert re.search(rf"\[--mode [a-z-]+ --seed \d --mutant {name}\]", said)


def test_a_bug_that_escapes_is_not_called_caught(crash):
    """Ref locks go stale where git is killed, and there is none to be found by one kill elsewhere."""
    _, said = crash("--mutants", "--campaigns", "1", "--only", "drafts-stay", status=1)

    assert "ESCAPED drafts-stay" in said
