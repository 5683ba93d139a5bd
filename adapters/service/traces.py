"""Traces of our server that outlive the process that started it: its locks, its port, its facts.

The server inherits `server.lock`, locked: the kernel holds the lock exactly as long as it lives.
"""

import fcntl
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from adapters.processes.living import lives
from domain.value import Refused, Value

LOOPBACK = "127.0.0.1"
MOST_PROBES = 100
SECONDS_OF_A_PROBE = 0.01


class Started(Value):
    """The remembered facts, in `server.json`. True of a live server only while the lock is held."""

    pid: int
    port: int
    version: str
    since: str

    @property
    def ui(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.ui}/api"


@contextmanager
def deciding(room: Path) -> Generator[None]:
    """One caller at a time decides whether to start or to stop."""
    with (room / "starting.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def lock(room: Path) -> int | None:
    """The server's lock, taken; None when a living server holds it."""
    for _ in range(MOST_PROBES):
        if (descriptor := _try(room)) is not None:
            return descriptor
        started = remembered(room)
        if started and lives(started.pid):
            return None
        # Else `alive` of another process may hold it, for the microseconds of its question; or a server that was
        # killed, for as long as it takes to give its memory back.
        time.sleep(SECONDS_OF_A_PROBE)
    return None


def alive(room: Path) -> bool:
    if not room.is_dir():
        return False
    if (descriptor := _try(room)) is None:
        return True
    os.close(descriptor)
    return False


def _try(room: Path) -> int | None:
    descriptor = os.open(room / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def gone(room: Path, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while alive(room):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def listen(before: Started | None) -> socket.socket:
    """Bind the port of last time, so that addresses people kept still work; else any free one."""
    for port in (before.port if before else 0, 0):
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError:
            listening.close()  # taken by another program
            continue
        listening.listen(128)
        return listening
    raise Refused(f"no free port on {LOOPBACK}. Set PREFECT_API_URL to a Prefect server that runs.")


def remember(room: Path, pid: int, port: int) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    started = Started(pid=pid, port=port, version=version("prefect"), since=now)
    fresh = room / "server.json.new"
    fresh.write_text(started.model_dump_json(), encoding="utf-8")
    fresh.replace(room / "server.json")


def remembered(room: Path) -> Started | None:
    try:
        return Started.model_validate_json((room / "server.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a ValidationError is one, too
        return None
