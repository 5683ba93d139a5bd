"""What a model is asked for, and the typed end of each phase.

All ends are offered in every phase, and the phase is a gate at run time: a difference in the tools would drop
the whole prompt cache (measured: 0 % against 97 % of the context read from it).
"""

from typing import Literal

from pydantic import Field

from domain.value import Value
from domain.verdict import Review

Phase = Literal["work", "fix", "review", "confirm", "rescan", "teach", "gate"]

READ_ONLY: frozenset[Phase] = frozenset({"review", "confirm", "rescan", "teach"})

COMMITS: frozenset[Phase] = frozenset({"work", "fix"})
"""Only what is committed counts; of the others, nothing that they leave in the clone is kept."""


class PassReport(Value):
    """End of a work phase. A hint for the next step, never a verdict on this one."""

    axis_complete: bool = Field(description="A fresh search of the whole scope found nothing.")
    sites_remaining: tuple[str, ...] = Field(default=(), description="path:line and what is left")
    needs_human: str = ""
    options: tuple[str, ...] = Field(default=(), description="Answers to needs_human, if a choice.")
    note: str


class Finding(Value):
    """A place, and what is the matter with it."""

    path: str
    line: int = Field(default=1, ge=1)
    what: str


class Opinion(Value):
    """End of a confirm phase."""

    verdict: Literal["holds", "breaks", "unsure"]
    sure: bool = Field(default=True, description="False if you could not check what you say.")
    findings: tuple[Finding, ...] = Field(default=(), description="What breaks, and where.")
    note: str = ""


class Refusal(Value):
    """A finding that the fixer does not act on."""

    path: str
    line: int = Field(default=1, ge=1, description="As the finding has it.")
    why: str


class FixReport(Value):
    """End of a fix phase."""

    fixed: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = Field(default=(), description="Findings that are mistaken.")
    note: str = ""


class SiteList(Value):
    """End of a rescan phase."""

    sites: tuple[Finding, ...] = Field(description="Places the axis still applies to.")
    note: str = ""


class Rule(Value):
    """End of a teach phase."""

    rule: str = Field(description="YAML of an ast-grep rule with a fix; empty: none can do it.")
    note: str = ""


class Commands(Value):
    """End of a gate phase."""

    commands: tuple[str, ...] = Field(description="Shell commands, run in order.")
    note: str = ""


Answer = PassReport | Opinion | FixReport | Review | SiteList | Rule | Commands

ENDS: dict[Phase, tuple[str, type[Value]]] = {
    "work": ("finish_pass", PassReport),
    "fix": ("submit_fix", FixReport),
    "review": ("submit_review", Review),
    "confirm": ("submit_verdict", Opinion),
    "rescan": ("submit_sites", SiteList),
    "teach": ("submit_rule", Rule),
    "gate": ("submit_gate", Commands),
}
"""The tool that ends a phase, and what it takes."""
