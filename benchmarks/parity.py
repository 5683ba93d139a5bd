"""Site by site against `ruff --fix`: the same final tree, and how much longer it takes.

The comparison itself is that of `ruff_parity`; here it runs on `--tree`, or on Django, and is held
against what is asked.
"""

import shutil
import statistics
from pathlib import Path

from benchmarks.choices import Choices
from benchmarks.repositories import unpacked
from benchmarks.ruff_parity import SELECTORS, ruff_fix, same, site_by_site
from benchmarks.scratch import scratch
from benchmarks.sdists import archive
from benchmarks.tables import Row, at_most, grid, show

TIMES = 2.5


def measure(choices: Choices) -> bool:
    rows: list[Row] = []
    figures: list[tuple[object, ...]] = []
    with scratch() as folder:
        base = unpacked(choices.tree or archive("Django", choices), folder / "base")
        for select in SELECTORS:
            theirs, ours, commits, rounds, equal = _compared(base, folder, select, choices.rounds)
            figures.append((select, commits, rounds, 1000 * theirs, 1000 * ours))
            rows.append(at_most(f"{select}: time of `ruff --fix`", ours / theirs, TIMES))
            rows.append(Row(f"{select}: same tree", "yes" if equal else "no", "yes", equal))
    grid(
        f"{base.name}, medians of {choices.rounds}",
        ("selector", "commits", "rounds", "ruff --fix, ms", "site by site, ms"),
        figures,
    )
    return show("Site by site against `ruff --fix`", rows)


def _compared(
    base: Path, folder: Path, select: str, turns: int
) -> tuple[float, float, int, int, bool]:
    """Medians of both, commits, rounds of looking, and whether every tree was the same."""
    theirs: list[float] = []
    ours: list[float] = []
    equal, commits, rounds = True, 0, 0
    for turn in range(turns):
        trees = [folder / f"{select}-{turn}-{name}" for name in ("theirs", "ours")]
        caches = [folder / "cache" / tree.name for tree in trees]
        for tree in trees:
            shutil.copytree(base, tree, symlinks=True)
        theirs.append(ruff_fix(trees[0], select, caches[0]))
        seconds, commits, rounds = site_by_site(trees[1], select, caches[1])
        ours.append(seconds)
        equal = equal and same(*trees)
        for tree in trees:
            shutil.rmtree(tree)
    return statistics.median(theirs), statistics.median(ours), commits, rounds, equal
