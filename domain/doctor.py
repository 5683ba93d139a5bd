"""What was found before anything is changed: a check-up of a repository, and the plan of a run."""

from pydantic import Field

from domain.gate import GatePlan
from domain.report import BaselineSummary
from domain.value import Value


class Check(Value):
    """One thing a run needs."""

    name: str
    """`git`, `gate`, `baseline`, `sandbox`, …"""
    ok: bool
    found: str
    """What there is, with the value."""
    advice: str = ""
    """What to do, when it is not well or could be better."""


class Doctor(Value):
    """The check-up: what was detected, and what happened when it was run."""

    repo: str
    base: str = ""
    checks: tuple[Check, ...] = ()
    gate: GatePlan | None = None
    baseline: BaselineSummary | None = None

    @property
    def well(self) -> bool:
        return all(check.ok for check in self.checks)


class PlannedSite(Value):
    """A site a run would work on."""

    place: str
    """`path:line`."""
    rule: str = ""
    message: str = ""


class Plan(Value):
    """What a run would do. Nothing has been changed."""

    axis: str
    target: str
    base: str = ""
    branch: str = ""
    """The branch that commits would land on."""
    sites: tuple[PlannedSite, ...] = ()
    commits: int = 0
    """How many commits that makes at the chosen grain."""
    gate: GatePlan | None = None
    """None when no command was found: a run would refuse to start."""
    skipped: dict[str, int] = Field(default_factory=dict[str, int])
    notes: tuple[str, ...] = ()
