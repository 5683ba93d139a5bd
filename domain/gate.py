"""The gate: the target's own checks, what they said, and what that means for a commit."""

from collections.abc import Collection
from typing import Literal

from pydantic import Field

from domain.value import Value

TestOutcome = Literal["passed", "failed", "error", "skipped"]
Language = Literal["python", "node", "go", "other"]
BAD: frozenset[TestOutcome] = frozenset({"failed", "error"})
KILLED = frozenset({-9, -15, 128 + 9, 128 + 15})
"""SIGKILL and SIGTERM, as the kernel tells them and as a shell does."""


class GatePlan(Value):
    """The commands that prove a commit, and where they came from."""

    verify: tuple[str, ...]
    """Shell commands, run in order in the root of a clean checkout; the first failure ends the run."""
    setup: tuple[str, ...] = ()
    """Shell commands that prepare the environment; empty: Swathe prepares one for the language it detected."""
    language: Language = "other"
    source: str = ""
    """Where the commands come from, in words: `given by the operator`, `detected: pytest from pyproject.toml`."""
    environment: str = ""
    """Path of an environment that exists already (`--env`); empty: prepare one."""
    timeout_seconds: float = 1800.0


class GateRun(Value):
    """What one run of the gate did. A failing command is a value, not an exception."""

    status: Literal["passed", "failed", "timeout", "unavailable", "setup-failed", "sandbox-failed"]
    exit_code: int | None = None
    command: str = ""
    """The command that decided: the failing one, or the last."""
    seconds: float = 0.0
    tests: dict[str, TestOutcome] | None = None
    """Outcome by test id, from JUnit XML; None when no runner wrote a report."""
    messages: dict[str, str] = Field(default_factory=dict[str, str])
    """Message with the end of its traceback, by failing test id."""
    tail: str = ""
    """The end of the log, bounded."""
    log: str = ""
    """Path of the kept log."""
    signed: int = 0
    """Reports that bear this run's mark, which pytest was told: what the judged code writes by itself has none."""
    why: str = ""
    """In words, what decided a run that did not pass: `pytest: command not found`, `ended with exit code 2`."""

    @property
    def failing(self) -> frozenset[str]:
        return frozenset(test for test, outcome in (self.tests or {}).items() if outcome in BAD)

    @property
    def skipped(self) -> frozenset[str]:
        return frozenset(
            test for test, outcome in (self.tests or {}).items() if outcome == "skipped"
        )

    @property
    def killed(self) -> bool:
        """A signal ended it that no program sends itself: a person did, or the kernel, short of memory."""
        return self.status == "failed" and self.exit_code in KILLED

    @property
    def answered(self) -> bool:
        """The commands ran to their end, so that what they said is about the commit."""
        return self.status in {"passed", "failed"}


class Baseline(Value):
    """The gate's outcome on the base commit, test by test."""

    run: GateRun
    failed: tuple[str, ...] = ()
    """Known failures: tests that failed on the base commit, both times."""
    flaky: tuple[str, ...] = ()
    """Tests that answered both ways on the base commit."""

    def excusing(self, flaky: Collection[str]) -> "Baseline":
        """The same baseline, with more tests known as flaky."""
        return self.model_copy(update={"flaky": tuple(sorted({*self.flaky, *flaky}))})


class Failure(Value):
    """One new failure: a test that passed on the base commit and fails here."""

    test: str
    message: str = ""


class Verdict(Value):
    """What a gate run means for a commit, against the baseline. Only green lands."""

    kind: Literal["green", "red", "timeout", "unavailable", "setup-failed", "sandbox-failed"]
    failures: tuple[Failure, ...] = ()
    """New failures only. A red without test names has one, with the command as `test` and the log's tail as message."""
    fixed: tuple[str, ...] = ()
    """Known failures of the baseline that pass here."""
    seconds: float = 0.0
    kept: bool = False
    """True when the tree had been verified before and no gate was run."""
    pinned: bool = False
    """True when the protected files of the base were restored for the run that decided; as committed, it was green."""
    truncated: bool = False
    """True when fewer tests ran than on the base: the runner stopped at its first failure."""
    log: str = ""

    @property
    def green(self) -> bool:
        return self.kind == "green"
