"""Watches over a boxed command: asks it to end at its deadline, and kills it when it grows too large.

The number of its processes and a full disk are watched where every command is: by supervisor and shell.
"""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self, cast

from adapters.processes.supervisor import numbers, parent_of

LOOK_SECONDS = 0.1
PAGE = os.sysconf("SC_PAGE_SIZE")
SHARE_OF_MEMORY = 0.75


class Status:
    """What the sandbox says of itself, in memory: no file of ours is left when we are killed."""

    def __init__(self) -> None:
        self._fd = os.memfd_create("sandbox-status")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    @property
    def path(self) -> str:
        """For a process that is to write to it."""
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    def said(self, name: str) -> int | None:
        for line in os.pread(self._fd, 1 << 16, 0).splitlines():
            with suppress(ValueError):
                told = cast("dict[str, int]", json.loads(line))
                if name in told:
                    return told[name]
        return None


class Watch:
    """A thread beside the one that waits for the command."""

    def __init__(self, status: Status, timeout_seconds: float, memory_bytes: int) -> None:
        self.cause: Literal["timeout", "memory"] | None = None
        self._status = status
        self._deadline = time.monotonic() + timeout_seconds
        self._most = memory_bytes or int(os.sysconf("SC_PHYS_PAGES") * PAGE * SHARE_OF_MEMORY)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="sandbox-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            child = self._status.said("child-pid")
            if child is None:
                continue
            if self.cause is None and time.monotonic() >= self._deadline:
                self.cause = "timeout"
                # The sandbox's first process leads the group and, being a first process, ignores this; the
                # command does not, and a test runner says where it hung.
                _signal_group(child, signal.SIGINT)
            if resident(child, self._most) > self._most:
                self.cause = "memory"
                _kill(child)
                return


def resident(root: int, doubt: int) -> int:
    """Bytes of memory that `root` and its descendants hold.

    Above `doubt` what they share is counted once, which costs a look at every mapping.
    """
    pids = list(family(root))
    held = sum(map(_rss, pids))
    return sum(map(_pss, pids)) if held > doubt else held


def family(root: int) -> Iterator[int]:
    """`root` and its descendants; in a pid namespace these are all there is, orphans too."""
    children: dict[int, list[int]] = {}
    for pid in numbers():
        children.setdefault(parent_of(pid), []).append(pid)
    ahead = [root]
    while ahead:
        pid = ahead.pop()
        yield pid
        ahead += children.get(pid, [])


def _rss(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
    return 0


def _pss(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
        return 0
    return _rss(pid)


def _signal_group(leader: int, number: int) -> None:
    with suppress(OSError):
        os.killpg(leader, number)


def _kill(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
