"""Stands over a worker, so that its stop hands its runs over: they are told first, and say so themselves.

A program of its own: `python -I -S handover.py COMMAND…`. Stopped alone, Prefect's worker kills its runs outright, and
the server takes them for running until no heartbeat has come for a while. Here a stop (SIGTERM, SIGINT) holds the
worker, so that it takes no other run, and asks its engines to end; each tells the server that it was cut off, and the run
goes on elsewhere, or here later. Then the worker is stopped. A second stop waits for nobody.
"""

import os
import signal
import sys
import time
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
ENGINE = b"prefect.engine"
SECONDS_TO_END = 20.0
SECONDS_TO_BE_GONE = 20.0
"""Once killed: on a busy machine that takes a moment."""
SECONDS_BETWEEN_LOOKS = 0.05
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def stand_over(command: list[str]) -> int:
    """Run the worker; its exit code."""
    parent, worker = os.getpid(), os.fork()
    if worker == 0:
        _become(command, parent)
    stops: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        stops.append(number)
        if len(stops) > 1:
            _end(worker, signal.SIGKILL)

    for number in STOPS:
        signal.signal(number, stop)
    handed_over = False
    while (code := _ended(worker)) is None:
        if stops and not handed_over:
            handed_over = True
            _hand_over(worker)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return code


def _become(command: list[str], parent: int) -> None:
    # In a group of its own, or Ctrl-C would reach the engines before us; and it goes when we are killed.
    os.setpgid(0, 0)
    CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # In a script's background a process ignores SIGINT, and the worker would SIGTERM with it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.getppid() != parent:
        os._exit(1)
    os.execvp(command[0], command)  # noqa: S606


def _ended(worker: int) -> int | None:
    pid, status = os.waitpid(worker, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None


def _hand_over(worker: int) -> None:
    _end(worker, signal.SIGSTOP)
    engines = _engines(worker)
    for engine in engines:
        _end(engine, signal.SIGTERM)
    _wait_for(engines, SECONDS_TO_END)
    for engine in filter(_lives, engines):
        _end(engine, signal.SIGKILL)
    _wait_for(engines, SECONDS_TO_BE_GONE)
    _end(worker, signal.SIGTERM)
    _end(worker, signal.SIGCONT)


def _wait_for(engines: list[int], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(map(_lives, engines)) and time.monotonic() < deadline:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _engines(worker: int) -> list[int]:
    everybody = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in everybody if _parent(pid) == worker and ENGINE in _words(pid)]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _lives(pid: int) -> bool:
    """One that nobody has waited for yet has no words."""
    return bool(_words(pid))


def _end(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(max(stand_over(sys.argv[1:]), 0))
