"""Whose turn it is: which chunk is looked at next, by which family, and whether there is any need."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from domain.coverage import absent, covered, lacks
from domain.review_state import Look, ReviewState
from domain.sweep import Sweep

MOST_VOID = 2
"""Passes of one family over one content of a chunk that bring no verdict, in one run."""


def converged(state: ReviewState, sweep: Sweep) -> bool:
    """The one place that says so. A blocker on present content is in the way of either rule."""
    if state.unresolved(sweep):
        return False
    if sweep.terms.stop_when == "streak":
        return state.streak.fires(sweep)
    return covered(state.clean, sweep)


def next_look(state: ReviewState, sweep: Sweep) -> Look | None:
    """None: converged, or nobody is left whose look at anything could decide something."""
    if not sweep.size or converged(state, sweep):
        return None
    table = _Table(state, sweep)
    found = table.in_order() if sweep.terms.stop_when == "streak" else table.uncovered()
    if not found:
        return None
    chunk, family = found
    return Look(turn=state.turn, chunk=chunk, family=family, binding=sweep.binding)


@dataclass(frozen=True)
class _Table:
    """State and sweep, laid out chunk by chunk."""

    state: ReviewState
    sweep: Sweep

    @cached_property
    def families(self) -> tuple[str, ...]:
        """Of this review, the one whose turn it is first."""
        families = self.sweep.terms.families
        first = self.state.turn % len(families)
        return (*families[first:], *families[:first])

    @cached_property
    def stuck(self) -> frozenset[int | None]:
        return frozenset(
            self.sweep.home(one.blocker.path, one.blocker.line)
            for one in self.state.unresolved(self.sweep)
            if one.stuck
        )

    @cached_property
    def fruitless(self) -> frozenset[tuple[str, str]]:
        """Looks not to be asked for again: one of doubt, or as many without a verdict as are bearable."""
        weights: Counter[tuple[str, str]] = Counter()
        for one in self.state.fruitless:
            weights[one.content, one.family] += 1 if one.kind == "void" else MOST_VOID
        return frozenset(look for look, weight in weights.items() if weight >= MOST_VOID)

    @cached_property
    def owed(self) -> dict[int | None, frozenset[str]]:
        """By chunk: families that may withdraw a blocker there; anybody, if those that raised it are not asked."""
        asked, found = frozenset(self.families), dict[int | None, frozenset[str]]()
        for one in self.state.unresolved(self.sweep):
            chunk = self.sweep.home(one.blocker.path, one.blocker.line)
            found[chunk] = found.get(chunk, frozenset()) | (
                asked.intersection(one.raised_by) or asked
            )
        return found

    def open_to(self, chunk: int, family: str) -> bool:
        """Whether a look could decide something: nothing is stuck there, and `family` did not look in vain."""
        return chunk not in self.stuck and (
            not self.fruitless or (self.sweep.content(chunk), family) not in self.fruitless
        )

    def uncovered(self) -> tuple[int, str] | None:
        """The first chunk from the cursor on that needs this family; else what needs another; else one who stayed away."""
        state, sweep = self.state, self.sweep
        for family in self.families:
            for chunk in sweep.around(state.cursor):
                needed = family in self.owed.get(chunk, ()) or lacks(
                    state.clean, sweep, chunk, family
                )
                if needed and self.open_to(chunk, family):
                    return chunk, family
        away = absent(state.clean, sweep)
        for family in self.families:
            for chunk in sweep.around(state.cursor):
                if family in away and self.open_to(chunk, family):
                    return chunk, family
        return None

    def in_order(self) -> tuple[int, str] | None:
        """The chunk at the cursor, by the family whose turn it is, unless only another one's verdict can help."""
        if self.hopeless:
            return None
        state, sweep = self.state, self.sweep
        chunk = state.cursor % sweep.size
        wanted = self.owed.get(chunk, frozenset())
        if state.streak.long_enough(sweep):
            wanted |= frozenset(state.streak.absent(sweep))
        ranked = sorted(self.families, key=lambda family: family not in wanted)
        return next(((chunk, family) for family in ranked if self.open_to(chunk, family)), None)

    @property
    def hopeless(self) -> bool:
        """No streak can come about: something is stuck, or nobody is left to withdraw a blocker or to join in."""
        state, sweep = self.state, self.sweep
        for chunk, owed in self.owed.items():
            if chunk is not None and not any(self.open_to(chunk, family) for family in owed):
                return True
        away = state.streak.absent(sweep) if state.streak.long_enough(sweep) else ()
        return any(
            not any(self.open_to(chunk, family) for chunk in range(sweep.size)) for family in away
        )
