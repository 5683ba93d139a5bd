"""The planner of a review: against repomix, against git's own listing, as repositories grow, and after a commit.

`swathe plan` prints which file is in which chunk and reads none; repomix prints the text of all files. Both are given the
same tree and the same set of files, as far as their rules allow; each says how many it took. Every command is run in a
process of its own, and its processor time and peak memory are those of all that it started.
"""

import gc
import json
import math
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from adapters.repository import kept_chunks
from adapters.repository.chunks import plan_of
from adapters.repository.git import git
from adapters.repository.writing import Draft, write_commits
from benchmarks import chunk_history, sdists
from benchmarks.choices import Choices
from benchmarks.repositories import LONG_AGO, committed, place, shell
from benchmarks.scratch import scratch
from benchmarks.service import ROOT
from benchmarks.tables import Row, at_least, at_most, show
from domain.chunk import Settings

REPOMIX = "repomix@1.18.1"
SMALL_FILES = 1_400
SIZES = (10_000, 80_000, 1_000_000)
CONTENTS = 80_000
"""A larger repository has some of them twice: a million would take gigabytes."""
WORDS = "lorem ipsum dolor sit amet "
MEASURED = """
import resource, subprocess, sys, time
began = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
wall = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


class Cost(NamedTuple):
    """What a command took."""

    wall: float
    cpu: float
    mebibytes: float


def measure(choices: Choices) -> bool:
    with scratch() as folder:
        rows = _peers(folder, choices) + _growth(folder, choices)
    met = show("Planning a review", rows)
    return chunk_history.measure(choices) and met


def cost(*command: str) -> Cost:
    done = shell([sys.executable, "-c", MEASURED, *command], ROOT)
    status, wall, cpu, mebibytes = done.output.split()
    assert status == "0", f"{command}: {done.errors}"
    return Cost(float(wall), float(cpu), float(mebibytes))


def plan(repo: Path, *words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("swathe")), "plan", str(repo), *words]


def _peers(folder: Path, choices: Choices) -> list[Row]:
    if shutil.which("npm") is None:
        return [Row("repomix", "not measured: no npm")]
    tool = folder / "npm"
    tool.mkdir()
    done = shell(
        ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(tool), REPOMIX],
        tool,
        **os.environ,
    )
    if not done.ok:
        return [Row("repomix", "not measured: npm could not install it")]
    large = sdists.repository("Django", choices, folder / "large")
    small = _first_files(large, folder / "small")
    rows: list[Row] = []
    for repo, least in ((small, 10.0), (large, 25.0)):
        rows += _against_repomix(repo, tool / "node_modules" / ".bin" / "repomix", least, choices)
    return rows


def _first_files(repo: Path, into: Path) -> Path:
    """About `SMALL_FILES` of its files, whole folders in order."""
    names = [path for path in sorted(repo.rglob("*.py")) if path.is_file()][:SMALL_FILES]
    for path in names:
        target = into / path.relative_to(repo)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    committed(into)
    return into


def _against_repomix(repo: Path, tool: Path, least: float, choices: Choices) -> list[Row]:
    out = repo.with_suffix(".json")
    theirs = [
        str(tool), "--quiet", "--style", "json", "--no-gitignore", "--no-default-patterns", "--ignore", ".git/**", "-o", str(out), str(repo),
    ]  # fmt: skip
    ours = plan(repo, "--include-generated")
    pairs = [(cost(*ours), cost(*theirs)) for _ in range(choices.rounds)]
    planned = plan_of(str(repo), Settings(include_generated=True)).plan
    files, packed = (
        len({part.path for part in planned.parts}),
        len(json.loads(out.read_text())["files"]),
    )
    wall = statistics.median(b.wall / a.wall for a, b in pairs)
    cpu = statistics.median(b.cpu / a.cpu for a, b in pairs)
    memory = statistics.median(b.mebibytes / a.mebibytes for a, b in pairs)
    note = f"{statistics.median(a.wall for a, _ in pairs):.2f} s; files: {files:,} planned, {packed:,} packed"
    name = f"{files:,} files"
    return [
        at_least(f"quicker than repomix, {name}", wall, least, note=note),
        Row(f"processor time, {name}", f"{cpu:.1f} times less"),
        at_least(f"less memory, {name}", memory, 8.0),
    ]


def made(repo: Path, files: int, seed: int) -> Path:
    """A repository of so many files in folders of all sizes, without a work tree."""
    repo.mkdir()
    git(place(repo), "init", "-q", "--initial-branch=main", str(repo))
    draw = random.Random(seed)  # noqa: S311 -- draws that can be repeated
    feed: list[str] = []
    contents = min(files, CONTENTS)
    for mark in range(1, contents + 1):
        size = int(min(60_000, max(40, draw.lognormvariate(6.5, 1.1))))
        text = (f"{mark} " + WORDS * (size // len(WORDS) + 1))[:size]
        feed.append(f"blob\nmark :{mark}\ndata {size}\n{text}\n")
    feed.append(f"commit refs/heads/main\ncommitter x <x@localhost> {LONG_AGO} +0000\ndata 1\nx\n")
    done = folder = 0
    while done < files:
        some = min(max(1, int(draw.lognormvariate(2, 1))), files - done)
        for number in range(some):
            kind = draw.choice(("c", "h", "py", "go", "md", "rst", "yaml", "json"))
            path = f"s{folder % 97}/p{folder % 1009}/d{folder}/file_{number}_name.{kind}"
            feed.append(f"M 100644 :{(done + number) % contents + 1} {path}\n")
        done, folder = done + some, folder + 1
    git(place(repo), "fast-import", "--quiet", stdin="".join(feed).encode())
    return repo


def _growth(folder: Path, choices: Choices) -> list[Row]:
    times: dict[int, float] = {}
    rows: list[Row] = []
    for files in SIZES:
        repo = made(folder / f"made-{files}", files, choices.seed)
        listing = ["git", "-C", str(repo), "ls-tree", "-r", "-l", "-z", "HEAD"]
        pairs = [(cost(*plan(repo)), cost(*listing)) for _ in range(choices.rounds)]
        times[files] = statistics.median(a.cpu for a, _ in pairs)
        ratio = statistics.median(a.cpu / b.cpu for a, b in pairs)
        memory = statistics.median(a.mebibytes for a, _ in pairs)
        what = f"processor time over `git ls-tree -r -l`, {files:,} files"
        note = f"{times[files]:.2f} s, {memory:.0f} MiB"
        rows.append(
            at_most(what, ratio, 3.0, note=note) if files == SIZES[1] else Row(what, f"{ratio:.2f} ({note})")
        )  # fmt: skip
        if files < SIZES[2]:
            rows.append(_replanned(repo, files))
    exponent = math.log(times[SIZES[2]] / times[SIZES[0]], SIZES[2] / SIZES[0])
    rows.append(at_most(f"exponent from {SIZES[0]:,} to {SIZES[2]:,} files", exponent, 1.0))
    rows.append(at_most("processor seconds of a million files", times[SIZES[2]], 5.0))
    return rows


def _replanned(repo: Path, files: int) -> Row:
    """In one process: a plan with estimated tokens that is not kept, against bringing the kept plan up to one commit."""
    asked = (str(repo), Settings())
    kept_chunks.keep(*asked)
    colds: list[float] = []
    warms: list[float] = []
    gc.disable()  # as the command does
    for number in range(5):
        colds.append(_seconds(lambda: plan_of(*asked)))
        _commit_one(repo, number)
        warms.append(_seconds(lambda: kept_chunks.keep(*asked)))
    gc.enable()
    cold, warm = statistics.median(colds), statistics.median(warms)
    note = f"{warm * 1000:.0f} ms, from nothing {cold * 1000:.0f} ms"
    what = f"quicker after one commit, {files:,} files"
    if files < SIZES[1]:
        return Row(what, f"{cold / warm:.1f} times ({note})")
    return at_least(what, cold / warm, 8.0, note=note)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _commit_one(repo: Path, number: int) -> None:
    parent = git(place(repo), "rev-parse", "HEAD").decode().strip()
    listed = git(place(repo), "ls-tree", "-r", "--name-only", "HEAD", "s1/").decode().splitlines()
    draft = Draft(f"{number}\n", {listed[number]: f"{number} {WORDS}\n".encode() * 40}, parent)
    (sha,) = write_commits(place(repo), [draft], LONG_AGO + number)
    git(place(repo), "update-ref", "HEAD", sha)
