"""Whether a process is alive."""

import os
from pathlib import Path


def lives(pid: int) -> bool:
    """Whether it is there and not dying: of what is killed, the first thread is dead at once, and the files are closed last."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody else's: it exists
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:  # gone by now, or a system without /proc
        return not Path("/proc/self").exists()
    return state not in ("Z", "X")
