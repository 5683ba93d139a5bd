"""The stop rule `streak` (ADR-011): a full round of clean passes and one more, on one and the same plan."""

from typing import Literal

from pydantic import Field

from domain.sweep import Sweep
from domain.value import Value

Kind = Literal["clean", "blocked", "unsure", "void"]


class Streak(Value):
    """Clean passes in a row. It is about one plan on one set of terms, and worth nothing on another."""

    binding: str = ""
    clean: int = Field(default=0, ge=0)
    families: tuple[str, ...] = ()
    """Who gave them."""

    def counted(self, sweep: Sweep, kind: Kind, family: str) -> "Streak":
        """Fold in one pass. A void one changes nothing; any but a clean one begins anew."""
        before = self if self.binding == sweep.binding else Streak(binding=sweep.binding)
        if kind == "void":
            return before
        if kind != "clean":
            return Streak(binding=sweep.binding)
        return Streak(
            binding=sweep.binding,
            clean=before.clean + 1,
            families=tuple(sorted({*before.families, family})),
        )

    def length(self, sweep: Sweep) -> int:
        """On this plan."""
        return self.clean if self.binding == sweep.binding else 0

    def absent(self, sweep: Sweep) -> tuple[str, ...]:
        """Families that have yet to give a pass of this streak."""
        there = self.families if self.binding == sweep.binding else ()
        return tuple(family for family in sweep.terms.families if family not in there)

    def long_enough(self, sweep: Sweep) -> bool:
        """A round and one more pass: whoever gave the first verdict, each chunk was seen since the last blocker."""
        return self.length(sweep) >= needed(sweep)

    def fires(self, sweep: Sweep) -> bool:
        return bool(sweep.size) and self.long_enough(sweep) and not self.absent(sweep)


def needed(sweep: Sweep) -> int:
    """Clean passes in a row; with a single chunk two, one of each family."""
    return sweep.size + 1
