"""Failpoints: silent unless one is asked for, and then deadly at exactly that arrival."""

import errno
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from adapters.failpoints import POINTS, VARIABLE, arrivals, reach
from adapters.processes import shell
from adapters.whole import write_whole

ROOT = Path(__file__).parents[2]
WRITE_TWICE = """
import sys
from pathlib import Path
from adapters.whole import write_whole
write_whole(Path(sys.argv[1]), "first")
write_whole(Path(sys.argv[1]), "second")
"""


@pytest.fixture(autouse=True, name="none_counted")
def _none_counted():
    yield
    arrivals.clear()


def test_nothing_happens_and_nothing_is_counted_unless_asked_for(world):
    for point in POINTS:
        reach(point)

    assert not arrivals


def test_an_error_is_raised_at_the_asked_arrival_alone(monkeypatch):
    monkeypatch.setenv(VARIABLE, "shelved:2:ENOSPC")

    reach("shelved")
    reach("crossed")
    with pytest.raises(OSError, match="No space left") as raised:
        reach("shelved")
    reach("shelved")

    assert raised.value.errno == errno.ENOSPC
    assert arrivals == {"shelved": 3, "crossed": 1}


def test_a_kill_in_a_write_leaves_the_file_as_it_was(tmp_path):
    """The second write of two dies between the draft and its place."""
    path = tmp_path / "kept.json"
    done = shell.run(
        [sys.executable, "-c", WRITE_TWICE, str(path)],
        cwd=ROOT,
        env={**os.environ, VARIABLE: "file-drafted:2"},
        timeout_seconds=60,
    )

    assert done.exit_code == -signal.SIGKILL
    assert path.read_text() == "first"
    write_whole(path, b"third")
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.json"]
    assert path.read_text() == "third"


def test_every_point_lies_in_the_engine_once():
    found = [
        name
        for path in (ROOT / "adapters").rglob("*.py")
        for name in re.findall(r'\breach\("([a-z-]+)"\)', path.read_text())
    ]

    assert sorted(found) == sorted(POINTS)
