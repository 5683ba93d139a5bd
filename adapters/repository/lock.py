"""The campaign lock: one run per target. The kernel drops it when the last holder dies.

Our git children hold it too: a run that starts after a kill waits until the orphans of the
dead one have stopped writing (facts/security.md §2.6).
"""

import fcntl
import os
from pathlib import Path

from domain.value import Value

_held: dict[Path, int] = {}


class Holder(Value):
    """Who holds the lock, as far as it told."""

    pid: int | None = None
    run: str = ""


def take(path: Path, run: str) -> Holder | None:
    """Take the lock of a target for this process, or return who has it. Taking it twice is fine."""
    if path in _held:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(handle, 200).decode(errors="replace").split()
        os.close(handle)
        return _holder(text)
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()} {run}\n".encode(), 0)
    _held[path] = handle
    return None


def _holder(text: list[str]) -> Holder:
    pid = int(text[0]) if text and text[0].isdigit() else None
    return Holder(pid=pid, run=text[1] if len(text) > 1 else "")


def release(path: Path) -> None:
    """Let go; without effect when this process does not hold it."""
    handle = _held.pop(path, None)
    if handle is not None:
        os.close(handle)


def holder(path: Path) -> Holder | None:
    """Who holds the lock of a target right now, without taking it."""
    if path in _held:
        return Holder(pid=os.getpid())
    if not path.exists():
        return None
    found = take(path, "")
    release(path)
    return found


def inherited() -> tuple[int, ...]:
    """The file descriptors that a git child must keep open."""
    return tuple(_held.values())
