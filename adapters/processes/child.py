"""A started command: read to its end, stopped when it is due, buried with all it started."""

import os
import selectors
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from adapters.processes.capture import Capture
from adapters.processes.finished import Ended

DISK_FLOOR_BYTES = 200_000_000
READ_BYTES = 1 << 20
LOOK_SECONDS = 0.2
EXIT_SECONDS = 0.001
"""Between two questions whether a bare command has ended, once it has closed its output."""
INTERRUPT_SECONDS = 2.0
"""From SIGINT at the deadline to the end of it all: a test runner uses it to say where it hung."""
SWEEP_SECONDS = 25.0
"""The supervisor's own limit is 20; after this one it is taken for dead."""


class Process(Protocol):
    """What is used of `subprocess.Popen`, which only the shell may import."""

    pid: int
    returncode: int
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None: ...


class Child:
    """A command and the ways to stop it: through its supervisor, or bare by its process group."""

    def __init__(self, process: Process, cwd: Path, mark: str, status: int, lifeline: int) -> None:
        self.process = process
        self.cwd = cwd
        self.mark = mark
        """In the environment of all that the command starts: what to look for when the supervisor is lost."""
        self.status = status
        """Read end of the supervisor's pipe; -1 when there is no supervisor."""
        self.lifeline = lifeline
        self.said = b""
        self.contained = status >= 0

    @property
    def exit_code(self) -> int | None:
        if not self.contained:
            return self.process.returncode
        code = self.said.split()[1:2]
        return int(code[0]) if code and code[0] != b"-" else None

    @property
    def left(self) -> int:
        return int((self.said.split()[2:3] or [b"0"])[0])

    def hear(self, said: bytes) -> None:
        self.said += said

    def interrupt(self) -> None:
        if not self.contained:
            self._signal_group(signal.SIGINT)
        elif self.lifeline >= 0:
            with suppress(BrokenPipeError):
                os.write(self.lifeline, b"i")

    def kill(self) -> None:
        if not self.contained:
            self._signal_group(signal.SIGKILL)
        elif self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1

    def bury(self) -> None:
        """Return when it is gone, with all it started, however it was left."""
        self.kill()
        give_up = time.monotonic() + SWEEP_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > give_up:
                # Stopped, or out of its mind: it is killed like all the others.
                os.kill(self.process.pid, signal.SIGKILL)
            time.sleep(0.002)
        if self.contained and not self.said:
            _kill_marked(self.mark.encode())
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        if self.contained:
            os.close(self.status)

    def _signal_group(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def follow(child: Child, out: Capture, err: Capture, deadline: float) -> Ended:
    """Read to the end, and see to it that there is one."""
    late: Ended = "exited"
    steps = [child.kill, child.interrupt]
    with selectors.DefaultSelector() as ready:
        _listen(ready, child, out, err)
        while _runs(child, ready) and (steps or time.monotonic() < deadline):
            _read(ready, LOOK_SECONDS if ready.get_map() else EXIT_SECONDS)
            if steps and time.monotonic() >= deadline:
                late = "timeout" if late == "exited" else late
                steps.pop()()
                deadline += INTERRUPT_SECONDS if steps else SWEEP_SECONDS
            elif late == "exited" and child.contained and _disk_is_full(child.cwd):
                late, steps, deadline = "disk", [child.kill], 0.0
            elif child.contained and _is_stopped(child.process.pid):
                # Only the command can have stopped it, so that nothing would ever end.
                os.kill(child.process.pid, signal.SIGKILL)
        while _read(ready, 0):
            pass
    return late if late != "exited" or not child.contained else _word(child.said)


def _listen(ready: selectors.BaseSelector, child: Child, out: Capture, err: Capture) -> None:
    for pipe, capture in ((child.process.stdout, out), (child.process.stderr, err)):
        if pipe:
            os.set_blocking(pipe.fileno(), False)
            ready.register(pipe.fileno(), selectors.EVENT_READ, capture.take)
    if child.contained:
        ready.register(child.status, selectors.EVENT_READ, child.hear)


def _runs(child: Child, ready: selectors.BaseSelector) -> bool:
    if child.contained:
        return child.status in ready.get_map()
    return child.process.poll() is None


def _read(ready: selectors.BaseSelector, timeout: float) -> bool:
    """Take what there is; False when there was nothing."""
    events = ready.select(timeout)
    for key, _ in events:
        sink: Callable[[bytes], None] = key.data
        chunk = os.read(key.fd, READ_BYTES)
        if chunk:
            sink(chunk)
        else:
            ready.unregister(key.fd)
    return bool(events)


def _word(said: bytes) -> Ended:
    match said.split()[:1]:
        case [b"exited"]:
            return "exited"
        case [b"processes"]:
            return "processes"
        case _:
            return "lost"


def _is_stopped(pid: int) -> bool:
    try:
        state = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2]
    except OSError:
        return False
    return state.split()[:1] == [b"T"]


def _disk_is_full(folder: Path) -> bool:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize < DISK_FLOOR_BYTES


def _kill_marked(mark: bytes) -> None:
    """Without a supervisor, what the command started is known by its environment. Killed until none is found."""
    give_up = time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < give_up:
        found = [pid for pid in map(str, _pids()) if mark in _environment_of(pid)]
        if not found:
            return
        for pid in found:
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _pids() -> list[int]:
    try:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _environment_of(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return b""
