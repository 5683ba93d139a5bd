"""How often commits have been red so far, and the batch that tells most.

The share p of red commits is unknown; its posterior, from a log-uniform prior over a grid, is
p^found · (1-p)^cleared. A probe tells most when it is red with probability one half (one bit a
gate run: facts/performance.md §3); Hwang's generalised binary splitting is the case of a known p.
"""

import math
from functools import cached_property

from domain.value import Value

GRID = tuple(10 ** (-4 + 0.2 * step) for step in range(19))
"""Candidate shares of red commits, 0.0001 to 0.4."""


class RedRate(Value):
    """Commits found red and commits cleared, over the whole campaign."""

    red: int = 0
    green: int = 0

    def found(self) -> "RedRate":
        return RedRate(red=self.red + 1, green=self.green)

    def cleared(self, commits: int) -> "RedRate":
        return RedRate(red=self.red, green=self.green + commits)

    def size(self, pending: int, *, small: int) -> int:
        """How many of the `pending` commits to verify next: all, until something was red."""
        if not self.red or pending <= small or self._any_red(pending) <= self._total / 2:
            return pending
        return self._half(pending, self._total)

    def split(self, group: int) -> int:
        """Where to cut a group of two or more that holds a culprit: 1 to `group` - 1."""
        return min(group - 1, self._half(group, self._any_red(group)))

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        logs = [self.red * math.log(p) + self.green * math.log1p(-p) for p in GRID]
        peak = max(logs)
        return tuple(math.exp(value - peak) for value in logs)

    @cached_property
    def _total(self) -> float:
        return sum(self._weights)

    def _any_red(self, commits: int) -> float:
        """Weight of the case that one of `commits` is red."""
        return sum(w * (1 - (1 - p) ** commits) for w, p in zip(self._weights, GRID, strict=True))

    def _half(self, limit: int, total: float) -> int:
        """The number of commits whose chance to be red is nearest to half of `total`."""
        low, high = 1, limit
        while low < high:
            middle = (low + high) // 2
            if self._any_red(middle) >= total / 2:
                high = middle
            else:
                low = middle + 1
        below = abs(self._any_red(low - 1) - total / 2) if low > 1 else math.inf
        return low - 1 if below < abs(self._any_red(low) - total / 2) else low
