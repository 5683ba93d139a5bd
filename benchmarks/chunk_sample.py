"""The tokens of a repository by a sample of places, against a count of every file: 20 seeds on three real repositories."""

import time
from pathlib import Path

from adapters.repository import kept_chunks, sampling
from adapters.repository.chunks import plan_of
from benchmarks import sdists
from benchmarks.choices import Choices
from benchmarks.scratch import scratch
from benchmarks.tables import Row, at_least, at_most, show
from domain.chunk import Settings

SEEDS = 20
P90 = 17
"""Of 20 in order: nine in ten are no larger."""
NAMES = ("sqlparse", "Pygments", "Django")
LARGE = 1_000_000
"""Tokens, from which on a sample has to be cheaper: below, it reads about as much."""


def measure(choices: Choices) -> bool:
    with scratch() as folder:
        rows = [row for name in NAMES for row in _of(name, folder, choices)]
    return show(f"Tokens by a sample, {SEEDS} seeds", rows)


def _of(name: str, folder: Path, choices: Choices) -> list[Row]:
    repo = str(sdists.repository(name, choices, folder / name))
    planned = plan_of(repo, Settings())
    began = time.process_time()
    counted = kept_chunks.whole(kept_chunks.keep(repo, Settings(), anew=True)).plan
    whole_seconds = time.process_time() - began
    truth = sum(part.tokens for part in counted.parts)
    estimate = sum(part.tokens for part in planned.plan.parts)
    began = time.process_time()
    errors = sorted(
        abs(sampling.sample(planned, seed=str(seed)).tokens - truth) / truth * 100
        for seed in range(SEEDS)
    )
    seconds = (time.process_time() - began) / SEEDS
    note = f"median {errors[SEEDS // 2]:.1f}, most {errors[-1]:.1f} %; by extension {abs(estimate - truth) / truth * 100:.1f} %"
    rows = [
        at_most(f"{name}: p90 of the error, percent", errors[P90], 5.0, form="{:.1f}", note=note)
    ]
    if truth >= LARGE:
        rows.append(
            at_least(f"{name}: cheaper than to count every file", whole_seconds / seconds, 10.0)
        )
    return rows
