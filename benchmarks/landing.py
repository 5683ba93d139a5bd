"""Four hundred sites, five of them bad, and a gate of a second, against the naive loop.

Four gates that differ in what they say when they are red. A pass is the engine's own: the executor, which
finds the sites and makes the edits, then admission, batches, gates, landing. The naive loop is given its changes
ready made, so the figure without finding and editing stands beside; `swathe run` is all of it and the baseline, in a process of its own that imports Prefect.
"""

import random
import statistics
from functools import partial
from math import comb, log2
from pathlib import Path

from benchmarks.checks import landed_all_but_the_bad
from benchmarks.choices import Choices
from benchmarks.fields import AXIS, SAYINGS, Field, gate, made, real
from benchmarks.naive import SLICE, Naive, loop
from benchmarks.plainly import Carried, carry
from benchmarks.repositories import without_campaigns
from benchmarks.scratch import home, scratch
from benchmarks.service import Ran, serving, swathe_run
from benchmarks.simulation import gates_needed
from benchmarks.tables import TIMES, Row, at_least, at_most, grid, say, show
from domain.axis import title

FILES, SITES, BAD, SECONDS = 7000, 400, 5, 1.0
DRAWS = 200
CASES = ((400, 1), (400, 5), (400, 20), (100, 5))
NAMED, BLIND = 100.0, 9.5
"""Times faster than the naive loop, when red names anything and when it does not."""


def measure(choices: Choices) -> bool:
    with scratch() as folder:
        field = _field(choices, folder)
        say(f"{field.sites} sites in {field.files} files, {len(field.bad)} of them bad")
        most = None if choices.full else SLICE
        naive = loop(field, gate("nothing", SECONDS), folder / "naive", most)
        passes = {says: _pass(field, says, folder) for says in SAYINGS}
        with serving(folder / "service") as url:
            runs = {says: _run(field, says, folder, url) for says in ("tests", "first")}
    met = [_show(field, naive, passes, runs), _simulate(choices.seed)]
    return all(met)


def _field(choices: Choices, folder: Path) -> Field:
    make = partial(real, choices.tree) if choices.tree else partial(made, files=FILES)
    return make(folder=folder, sites=SITES, bad=BAD, seed=choices.seed)


def _pass(field: Field, says: str, folder: Path) -> Carried:
    without_campaigns(field.repo)
    with home(folder / f"home-{says}"):
        done = carry(field.target(says, SECONDS), AXIS)
    landed_all_but_the_bad(field, done.report)
    return done


def _run(field: Field, says: str, folder: Path, url: str) -> Ran:
    without_campaigns(field.repo)
    target = field.target(says, SECONDS)
    ran = swathe_run(target, title(AXIS), folder / f"run-{says}", PREFECT_API_URL=url)
    landed_all_but_the_bad(field, ran.report)
    return ran


def _show(field: Field, naive: Naive, passes: dict[str, Carried], runs: dict[str, Ran]) -> bool:
    whole = naive.whole(field.sites)
    note = naive.how(field.sites)
    grid(
        "Where the time of a pass went (seconds)",
        ("gate", "runs", "gates", "executor", "admit + verify + land beyond gates", "in all"),
        [
            (says, d.gates, d.gate_seconds, d.spent("agent_pass"), d.landing, d.passing)
            for says, d in passes.items()
        ],
    )
    rows = [
        Row("naive: one gate run", f"{naive.gate:.3f} s"),
        Row("naive: one git add + commit", f"{1000 * naive.commit:.1f} ms"),
        Row(f"naive: {field.sites} sites", f"{whole:.1f} s ({note})"),
    ]
    for says, done in passes.items():
        what = f"gate {SAYINGS[says]}"
        note = f"without finding and editing {TIMES.format(whole / done.proving)}"
        rows.append(_faster(says, f"{what}: pass", whole / done.passing, note))
        if says == "first":
            limit = (len(field.bad) + 2) * naive.gate + 1.0
            note = f"without finding and editing {done.proving:.2f} s"
            rows.append(
                at_most(
                    f"{what}: seconds, (k + 2) gates + 1 s", done.passing, limit, "{:.2f} s", note
                )
            )
        if says == "nothing":
            limit = 1.2 * log2(comb(field.sites, len(field.bad)))
            rows.append(
                Row(
                    f"{what}: gate runs, this draw",
                    f"{done.gates} ({done.gates / limit * 1.2:.2f} log2 C)",
                )
            )
    for says, ran in runs.items():
        how = f"{ran.report.gate_runs} gate runs, {ran.seconds:.1f} s with import and baseline"
        rows.append(
            Row(
                f"gate {SAYINGS[says]}: `swathe run`",
                f"{TIMES.format(whole / ran.seconds)} ({how})",
            )
        )
    return show("Landing against the naive loop", rows)


def _faster(says: str, what: str, times: float, note: str) -> Row:
    if says == "first":
        # For this one the issue counts seconds, in the next row.
        return Row(what, f"{TIMES.format(times)} ({note})")
    return at_least(what, times, BLIND if says == "nothing" else NAMED, note=note)


def _simulate(seed: int) -> bool:
    """Gate runs over many draws, by the engine's own batch."""
    chance = random.Random(seed)  # noqa: S311 -- draws to repeat
    rows: list[Row] = []
    for sites, bad in CASES:
        draws = [sorted(chance.sample(range(sites), bad)) for _ in range(DRAWS)]
        floor = log2(comb(sites, bad))
        blind = statistics.mean(gates_needed(sites, draw, "nothing") for draw in draws)
        rows.append(
            at_most(
                f"{sites} sites, {bad} bad, red or green: mean gate runs",
                blind,
                1.2 * floor,
                "{:.1f}",
                f"{blind / floor:.2f} log2 C",
            )
        )
        first = statistics.mean(gates_needed(sites, draw, "first") for draw in draws)
        rows.append(
            at_most(
                f"{sites} sites, {bad} bad, one named a run: mean gate runs",
                first,
                bad + 2,
                "{:.1f}",
            )
        )
        every = statistics.mean(gates_needed(sites, draw, "all") for draw in draws)
        rows.append(Row(f"{sites} sites, {bad} bad, all named: mean gate runs", f"{every:.1f}"))
    return show(f"Gate runs of the batch, simulated over {DRAWS} draws", rows)
