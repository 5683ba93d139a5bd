"""The campaign lock: one run per target. The kernel drops it when the last holder dies.

Our git children hold it too: a run that starts after a kill waits until the orphans of the
dead one have stopped writing (facts/security.md §2.6).
"""

import fcntl
import os
import time
from pathlib import Path

from adapters.failpoints import reach
from adapters.processes.living import lives
from domain.value import Value

TRIES = 5
A_MOMENT = 0.02
SECONDS_FOR_ORPHANS = 60.0

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
    if not _locked(handle):
        found = _holder(handle)
        os.close(handle)
        return found
    reach("lock-taken")
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()} {run}\n".encode(), 0)
    _held[path] = handle
    reach("lock-named")
    return None


def take_over(path: Path, run: str) -> Holder | None:
    """The same, with patience for the git children of a run that is dead: what they are writing is soon written."""
    deadline = time.monotonic() + SECONDS_FOR_ORPHANS
    while (found := take(path, run)) and _ended(found) and time.monotonic() < deadline:
        time.sleep(A_MOMENT)
    return found


def _ended(found: Holder) -> bool:
    """Of one that did not say who it is, nothing is known."""
    return found.pid is not None and not lives(found.pid)


def _locked(handle: int) -> bool:
    """Take the lock. Tried for a moment: somebody who only asks who has it holds it for as long as that takes."""
    for _ in range(TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(A_MOMENT)
        else:
            return True
    return False


def _holder(handle: int) -> Holder:
    text = os.pread(handle, 200, 0).decode(errors="replace").split()
    pid = int(text[0]) if text and text[0].isdigit() else None
    return Holder(pid=pid, run=text[1] if len(text) > 1 else "")


def release(path: Path) -> None:
    """Let go; without effect when this process does not hold it."""
    handle = _held.pop(path, None)
    if handle is not None:
        os.close(handle)


def holder(path: Path) -> Holder | None:
    """Who holds the lock of a target right now. What is written in it stays."""
    if not path.exists():
        return None
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(handle)
    else:
        return None
    finally:
        os.close(handle)


def inherited() -> tuple[int, ...]:
    """The file descriptors that a git child must keep open."""
    return tuple(_held.values())
