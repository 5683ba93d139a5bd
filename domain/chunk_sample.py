"""How many tokens a repository has, from a sample of places: weighted by size, since a few large files have most of them.

Hansen and Hurwitz' estimator: places are drawn with a probability proportional to the estimated tokens there, so that the
total is the estimated total times the mean of what was counted over what was estimated. The places are drawn
systematically, at equal distances from a random first one, which spreads them over all folders.
"""

import math
import random
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from domain.chunk import Part

PLACES = 200
WINDOW_BYTES = 8_000
"""Read at one place; a file no larger is read whole."""
CERTAINTY = 1.645
"""Standard errors on either side that nine samples in ten stay within."""


class Window(NamedTuple):
    """A stretch of a file."""

    part: Part
    start: int
    bytes: int

    @property
    def estimate(self) -> float:
        return self.part.tokens * self.bytes / self.part.bytes


class Sampled(NamedTuple):
    """What a sample says of the whole."""

    tokens: int
    percent: float
    """Nine samples in ten are no farther from the truth than this."""


def drawn(parts: Sequence[Part], seed: str, places: int = PLACES) -> list[Window]:
    """Where to look. Equal seeds draw equal places."""
    total = sum(part.tokens for part in parts)
    step = total / places
    wanted, reached = random.Random(seed).random() * step, 0  # noqa: S311 -- a sample, no secret
    windows: list[Window] = []
    for part in parts:
        while wanted < reached + part.tokens:
            at = int((wanted - reached) / part.tokens * part.bytes)
            size = min(WINDOW_BYTES, part.bytes)
            windows.append(Window(part, min(at, part.bytes - size), size))
            wanted += step
        reached += part.tokens
    return windows


def sampled(parts: Sequence[Part], counted: Sequence[tuple[Window, int]]) -> Sampled:
    """The total, from the tokens that were counted in the windows."""
    ratios = [tokens / window.estimate for window, tokens in counted]
    mean = fmean(ratios)
    error = CERTAINTY * stdev(ratios) / math.sqrt(len(ratios)) if len(ratios) > 1 else mean
    total = sum(part.tokens for part in parts)
    return Sampled(round(total * mean), round(100 * error / mean, 1) if mean else 100.0)
