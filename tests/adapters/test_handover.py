"""Who stands over a worker: a stop reaches its engines first. The worker is a script here."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from adapters.processes import daemon, handover

SECONDS = 60.0
"""That anything here may take."""

WORKER = """
import os, signal, subprocess, sys, time
folder = sys.argv[1]
engine = subprocess.Popen([sys.executable, "-c", sys.argv[2], folder, "prefect.engine"])
def stop(*_):
    open(folder + "/worker-said", "w").write(f"{engine.poll()}")
    sys.exit(7)
signal.signal(signal.SIGTERM, stop)
open(folder + "/worker", "w").write(str(os.getpid()))
while True:
    time.sleep(0.01)
"""
ENGINE = """
import signal, sys, time
def stop(*_):
    open(sys.argv[1] + "/engine-said", "w").write("told")
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
open(sys.argv[1] + "/engine", "w").close()
while True: time.sleep(0.01)
"""
DEAF = ENGINE.replace(
    "signal.signal(signal.SIGTERM, stop)", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
)


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + SECONDS
    while not path.exists() or (path.name == "worker" and not path.read_text()):
        assert time.monotonic() < deadline, f"{path} does not come"
    return path.read_text()


@pytest.fixture(name="begin")
def _begin(tmp_path):
    def begin(engine: str = ENGINE) -> int:
        script = tmp_path / "worker.py"
        script.write_text(WORKER)
        command = [sys.executable, "-I", "-S", handover.__file__, sys.executable, str(script)]
        pid = daemon.start(
            [*command, str(tmp_path), engine],
            env=dict(os.environ),
            cwd=tmp_path,
            log=tmp_path / "log",
        )
        wait_for(tmp_path / "engine")
        wait_for(tmp_path / "worker")
        return pid

    return begin


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_reaches_the_engine_and_then_the_worker(begin, tmp_path, stop):
    """T103."""
    pid = begin()

    os.kill(pid, stop)

    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    assert (tmp_path / "engine-said").read_text() == "told"
    assert (tmp_path / "worker-said").read_text() == "3", "the engine was still there"


def test_an_engine_that_does_not_end_is_ended(begin, tmp_path, monkeypatch):
    text = Path(handover.__file__).read_text()
    quick = tmp_path / "handover.py"
    quick.write_text(text.replace("SECONDS_TO_END = 20.0", "SECONDS_TO_END = 0.1"))
    monkeypatch.setattr(handover, "__file__", str(quick))
    pid = begin(DEAF)

    os.kill(pid, signal.SIGTERM)

    os.waitpid(pid, 0)
    assert (tmp_path / "worker-said").read_text() == "-9"


def test_a_second_stop_waits_for_nobody(begin, tmp_path):
    pid = begin(DEAF)
    engine = [
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and f"{tmp_path}\0prefect.engine" in _words(path)
    ]

    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGINT)

    os.waitpid(pid, 0)
    assert not (tmp_path / "worker-said").exists()
    for one in engine:
        os.kill(one, signal.SIGKILL)


def test_a_worker_goes_with_the_one_who_stands_over_it(begin, tmp_path):
    pid = begin()
    worker = int((tmp_path / "worker").read_text())

    os.kill(pid, signal.SIGKILL)

    os.waitpid(pid, 0)
    deadline = time.monotonic() + SECONDS
    while _words(Path(f"/proc/{worker}")):
        assert time.monotonic() < deadline, "it outlives the one who stood over it"
    engine = next(
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and f"{tmp_path}\0prefect.engine" in _words(path)
    )
    os.kill(engine, signal.SIGKILL)  # it ends by itself else: nobody took its run from it


def _words(path: Path) -> str:
    try:
        return (path / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
