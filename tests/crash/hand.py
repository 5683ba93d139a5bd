"""Whoever deals the blows of a campaign: starts runs, waits for them, ends them with all they started."""

import os
import random
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import engine
from ground import Ground

MOST_SECONDS = 120.0
"""A run that takes longer hangs."""
ENDED_WELL = (0, 3)
"""Complete or nothing to do; exhausted, with the work kept."""
REFUSED, DEFECT, BUSY, INTERRUPTED = 2, 70, 75, 130


@dataclass
class Blow:
    """What was done to a run, and how the run ended."""

    what: str
    status: int
    """As Python tells it: an exit code, or the negative number of a signal."""
    counts: bool = False
    """It was dealt, though the run survived."""
    meant: tuple[int, ...] = (-signal.SIGKILL,)
    """How else than well it may end."""
    wrong: list[str] = field(default_factory=list[str])
    """What was wrong while it was dealt."""

    @property
    def survived(self) -> bool:
        return self.status in ENDED_WELL


@dataclass
class Hand:
    """Who deals the blows of one campaign: its ground, its luck, and how an undisturbed run goes."""

    ground: Ground
    draw: random.Random
    seconds: float
    """That an undisturbed run takes."""
    arrivals: dict[str, int]
    """At each failpoint, in an undisturbed run."""
    mutant: str = ""
    first: str = ""
    """The failpoint to begin with."""
    dealt: int = 0
    how: engine.How = engine.AS_USUAL
    """How the engine is run."""
    began: float = 0.0
    """By the monotonic clock: when the last run was started."""

    def start(self, failpoint: str = "") -> int:
        self.began = time.monotonic()
        return engine.start(self.ground, failpoint, self.mutant, self.how)

    def run(self, failpoint: str = "") -> int:
        """A run to its end, whatever that is."""
        return ended(self.start(failpoint), MOST_SECONDS)


def ended(pid: int, seconds: float) -> int:
    """How it ended within `seconds`; it is killed when it did not, and that is told as a time-out."""
    if waits(pid, seconds):
        kill_family(pid)
        os.waitpid(pid, 0)
        raise TimeoutError(f"the run did not end within {seconds:g} s")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == engine.NOT_STARTED:
        raise RuntimeError("the harness itself failed in the engine's process, and said why")
    return status


def waits(pid: int, seconds: float) -> bool:
    """Whether it still runs after `seconds`."""
    watched = os.pidfd_open(pid)
    try:
        return not select.select([watched], [], [], seconds)[0]
    finally:
        os.close(watched)


def kill_family(root: int) -> None:
    """Stop the root, so that it cannot answer to the death of its children; then kill them all."""
    seen = {root}
    os.kill(root, signal.SIGSTOP)
    while True:
        # A signal takes its time: whoever still runs may be about to fork.
        forking = {pid for pid in seen if _state(pid) == "R"}
        fresh = _descendants(root) - seen
        if not fresh and not forking:
            break
        for pid in fresh:
            send(pid, signal.SIGSTOP)
        seen |= fresh
    for pid in seen:
        send(pid, signal.SIGKILL)


def _state(pid: int) -> str:
    """`R` runs, `T` is stopped; nothing: it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return stat.rpartition(b")")[2].split()[0].decode()


def send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _descendants(root: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_bytes()
            except OSError:
                continue
            children.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(
                int(entry.name)
            )
    found: set[int] = set()
    ahead = [root]
    while ahead:
        for pid in children.get(ahead.pop(), ()):
            found.add(pid)
            ahead.append(pid)
    return found
