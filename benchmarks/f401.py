"""The whole campaign F401 on Pygments 2.6.1, proved by its own tests.

Against the naive loop, which runs the gate once for every site. `ruff --fix` in one go removes imports
that other modules rely on; what must be parked is found here, and the final tree is compared with that of
`ruff --fix`: outside of the parked files they are the same.
"""

from pathlib import Path

from adapters import events
from adapters.processes.tool import run_tool, tool_path
from adapters.repository.git import git
from benchmarks.choices import Choices
from benchmarks.repositories import contents, place
from benchmarks.scratch import scratch
from benchmarks.sdists import repository
from benchmarks.service import serving, swathe_run
from benchmarks.tables import TIMES, Row, at_least, at_most, grid, show
from domain.report import Report
from domain.target import Target

SELECT = "F401"
FASTER, WALL = 20.0, 1.3


def measure(choices: Choices) -> bool:
    with scratch() as folder:
        repo = repository("Pygments", choices, folder / "pygments")
        home = folder / "run"
        with serving(folder / "service") as url:
            ran = swathe_run(Target(repo=str(repo)), f"ruff:{SELECT}", home, PREFECT_API_URL=url)
        report = ran.report
        _right(repo, report, folder)
        setup = _setup_seconds(home, report.run)
    grid(
        "Parked",
        ("site", "why", "tests that break", "the first of them"),
        [
            (p.site, p.reason, len(p.failures), p.failures[0].test if p.failures else "")
            for p in report.parked
        ],
    )
    return _show(report, ran.seconds, setup)


def _show(report: Report, wall: float, setup: float) -> bool:
    gate = report.seconds.gate / report.gate_runs
    commits = (*report.landed, *report.parked)
    sites = sum(len(commit.sites) for commit in commits)
    landed = f"{len(report.landed)}, {len(report.parked)} ({sites} sites in all)"
    one_by_one = TIMES.format(len(commits) * gate / report.seconds.gate)
    rows = [
        Row("commits landed, parked", landed),
        Row("ending, passes", f"{report.ending}, {report.passes}"),
        Row(
            "gate runs, seconds of one",
            f"{report.gate_runs}, {gate:.1f} s (two before the first pass)",
        ),
        Row("naive: one gate run for each of the sites", f"{sites * gate:.0f} s"),
        at_least(
            "gate seconds against the naive loop's", sites * gate / report.seconds.gate, FASTER
        ),
        Row("the same, for a loop that makes our commits one by one", one_by_one),
        at_most(
            "wall / gate seconds, without the environment's set-up",
            (wall - setup) / report.seconds.gate,
            WALL,
        ),
        Row(
            "wall / gate seconds, with it",
            f"{wall / report.seconds.gate:.2f} ({setup:.1f} s of set-up)",
        ),
        Row(
            "seconds: executor, engine, in all",
            f"{report.seconds.agent:.1f}, {report.seconds.engine:.1f}, {wall:.1f}",
        ),
    ]
    return show("F401 through Pygments", rows)


def _right(repo: Path, report: Report, folder: Path) -> None:
    """Nothing is left but what is parked; elsewhere the tree is that of `ruff --fix`."""
    assert report.ending == "exhausted", report.why
    assert report.parked, "nothing is parked, so that tests must be broken"
    assert all(parked.failures for parked in report.parked if parked.reason == "red")
    fixed = contents(repo, report.base, folder / "fixed")
    options = ["check", "--fix", "--quiet", "--exit-zero", "--no-cache", "--select", SELECT, "."]
    assert run_tool([tool_path("ruff"), *options], cwd=fixed).exit_code == 0
    ours = contents(repo, report.tip, folder / "ours")
    listed = git(place(repo), "ls-tree", "-r", "-z", "--name-only", report.tip).decode().split("\0")
    other = {
        path
        for path in listed
        if path and (ours / path).read_bytes() != (fixed / path).read_bytes()
    }
    held_back = {remaining.site.rpartition(":")[0] for remaining in report.remaining}
    assert other <= held_back, f"other than `ruff --fix`: {sorted(other - held_back)}"


def _setup_seconds(home: Path, run: str) -> float:
    """From the start of the environment's preparation to the first gate run."""
    folder = next(home.glob(f"targets/*/runs/{run}"))
    steps = {
        str(e["what"]): float(str(e["elapsed"]))
        for e in events.read(folder)
        if e["event"] == "step"
    }
    return steps["running the gate on the base commit"] - steps["preparing the environment"]
