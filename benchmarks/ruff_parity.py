"""Site by site against `ruff --fix`: the same tree in the end, and how long it takes.

    python benchmarks/ruff_parity.py TREE_OR_SDIST [ROUNDS]

Each selector is run on fresh copies, in turn, `ROUNDS` times; the table gives medians.
"""

import filecmp
import os
import shutil
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from adapters.executors.codemod import work
from adapters.executors.reading import walked
from adapters.processes.tool import run_tool, tool_path
from domain.axis import Ruff
from domain.change import Change

SELECTORS = ("RET505", "UP032", "PIE790", "RET506", "SIM", "UP", "C4")


def unpacked(given: Path, into: Path) -> Path:
    if given.is_dir():
        return given
    with tarfile.open(given) as archive:
        archive.extractall(into, filter="data")
    return next(path for path in into.iterdir() if path.is_dir())


def ruff_fix(tree: Path, select: str, cache: Path) -> float:
    started = time.perf_counter()
    options = ["--fix", "--quiet", "--exit-zero", "--cache-dir", str(cache), "--select", select]
    done = run_tool([tool_path("ruff"), "check", *options, "."], cwd=tree)
    assert done.exit_code == 0, done.complaint
    return time.perf_counter() - started


def site_by_site(tree: Path, select: str, cache: Path) -> tuple[float, int, int]:
    commits: list[str] = []

    def commit(changes: Sequence[Change]) -> None:
        commits.extend(change.path for change in changes)

    started = time.perf_counter()
    worked = work(
        tree, Ruff(select=select), allowed=None, cache=cache, commit=commit, include_generated=True
    )
    seconds = time.perf_counter() - started
    assert worked.commits == len(commits)
    return seconds, len(commits), worked.rounds


def same(one: Path, other: Path) -> bool:
    names = list(walked(one))
    return (
        names == list(walked(other)) and not filecmp.cmpfiles(one, other, names, shallow=False)[1]
    )


def compare(base: Path, scratch: Path, select: str, rounds: int) -> None:
    theirs: list[float] = []
    ours: list[float] = []
    equal, commits, looks = True, 0, 0
    for turn in range(rounds):
        trees = [scratch / f"{select}-{turn}-{name}" for name in ("theirs", "ours")]
        for tree in trees:
            shutil.copytree(base, tree, symlinks=True)
        theirs.append(ruff_fix(trees[0], select, scratch / "cache" / trees[0].name))
        seconds, commits, looks = site_by_site(trees[1], select, scratch / "cache" / trees[1].name)
        ours.append(seconds)
        equal = equal and same(*trees)
        for tree in trees:
            shutil.rmtree(tree)
    a, b = statistics.median(theirs), statistics.median(ours)
    print(
        f"| {select} | {commits} | {looks} | {a * 1000:.0f} | {b * 1000:.0f} | {b / a:.2f} "
        f"| {'yes' if equal else 'NO'} |"
    )


def main() -> None:
    given, *more = sys.argv[1:]
    rounds = int(more[0]) if more else 3
    print(f"{os.cpu_count()} cores; {Path(given).name}; median of {rounds}")
    print("| selector | commits | rounds | ruff --fix, ms | site by site, ms | ratio | identical |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        base = unpacked(Path(given), Path(scratch) / "base")
        for select in SELECTORS:
            compare(base, Path(scratch), select, rounds)


if __name__ == "__main__":
    main()
