"""How a command ended: as a value, in words, and as an exception for callers that need success."""

import signal
from typing import Literal

from domain.value import Value

Ended = Literal["exited", "timeout", "disk", "processes", "memory", "lost", "sandbox-failed"]

TAIL_CHARACTERS = 4_000
SIGNALS = {number.value: number.name for number in signal.Signals}


class Finished(Value):
    """What a command did. A failing command is a value, not an exception."""

    command: str
    ended: Ended = "exited"
    """`disk`: the disk ran full; `processes`, `memory`: too much of it; `lost`: it killed its supervisor;
    `sandbox-failed`: the sandbox could not be made, and the command never ran."""
    exit_code: int | None = None
    """Negative: the number of the signal that ended it. None unless `exited`."""
    seconds: float = 0.0
    output: str = ""
    """Head and tail; a line in the middle says how many bytes were left out."""
    errors: str = ""
    """Standard error, when it was asked for apart; else it is part of `output`."""
    total_bytes: int = 0
    left: int = 0
    """Processes that were still there when the command ended, and were killed."""

    @property
    def ok(self) -> bool:
        return self.ended == "exited" and self.exit_code == 0

    @property
    def how(self) -> str:
        """In words: `ended with exit code 2`, `was ended by SIGSEGV`, `ran out of time`."""
        if self.ended != "exited":
            return {
                "timeout": "ran out of time",
                "disk": "was stopped because the disk was nearly full",
                "processes": "was stopped because it started too many processes",
                "memory": "was stopped because it used too much memory",
                "lost": "killed its supervisor",
                "sandbox-failed": "was not run, since its sandbox could not be made",
            }[self.ended]
        code = self.exit_code or 0
        # A shell reports a signal of its child as 128 + number.
        number = -code if code < 0 else code - 128
        if number in SIGNALS:
            return f"was ended by {SIGNALS[number]}"
        return f"ended with exit code {code}"


class CommandFailed(Exception):
    """A command that had to work did not."""

    def __init__(self, finished: Finished) -> None:
        super().__init__(finished)
        self.finished = finished

    def __str__(self) -> str:
        done = self.finished
        said = "\n".join(part for part in (done.output, done.errors) if part.strip())
        tail = said[-TAIL_CHARACTERS:].strip() or "(no output)"
        return f"`{done.command}` {done.how} after {done.seconds:.1f} s:\n{tail}"
