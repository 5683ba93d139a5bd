"""A gate that does its worst while a run goes on (cases.md, V9)."""

import os
import resource
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from harness import CHECKS

from adapters.processes import shell

pytestmark = pytest.mark.flow

BOMB = """
import os, time
for _ in range(9):
    os.fork()
if os.getpid() != os.getpgid(0):
    os.setsid()
time.sleep(1000)
"""
MEGABYTES = 80
"""More than may be kept, and less than takes long; three gigabytes are counted in the tests of the shell."""


@pytest.fixture(name="mark")
def _mark():
    """A word that what a gate starts bears; nothing of it is left after the test."""
    word = f"mark{uuid4().hex}"
    yield word
    left = [
        int(entry.parent.name)
        for entry in Path("/proc").glob("[0-9]*/cmdline")
        if word in entry.read_text(errors="replace")
    ]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_daemons_a_fork_bomb_endless_output_a_wait_and_a_hang_stop_no_run(make, mark, monkeypatch):
    """Every call waits on stdin and leaves a daemon; what a commit says makes it worse."""
    monkeypatch.setattr(shell, "MOST_PROCESSES", 100)
    repo = make(4)
    (repo.tools / "bomb.py").write_text(BOMB)
    repo.gate(
        f"cat\nsetsid nohup sh -c 'sleep 1000; : {mark}' >/dev/null 2>&1 &\n"
        f"! grep -q BOMB m1.py || exec python3 -S {repo.tools}/bomb.py {mark}\n"
        f"! grep -q LOUD m2.py || yes | head -c {MEGABYTES}M\n"
        f"! grep -q SLOW m3.py || sleep 1000\n{CHECKS}"
    )
    for name, word in (("m1", "BOMB"), ("m2", "LOUD"), ("m3", "SLOW")):
        repo.edits(name, f'sed -i "s/SITE:{name}/DONE:{name} {word}/" {name}.py\n')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    report = repo.run(verify_each=True, gate_minutes=0.06)

    whys = {parked.site: parked.failures[0].message for parked in report.parked}
    assert whys.keys() == {"m1.py:1", "m3.py:1"}
    assert "started too many processes" in whys["m1.py:1"]
    assert "ran out of time: 3.6 s" in whys["m3.py:1"]
    kinds = [event["kind"] for event in repo.events(report) if event["event"] == "gate"]
    assert kinds == ["red", "red", "green", "timeout", "timeout", "green"]
    assert [commit.site for commit in report.landed] == ["m2.py:1", "m4.py:1"]
    assert report.ending == "exhausted"
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024 < 50
