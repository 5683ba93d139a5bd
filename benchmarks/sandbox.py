"""What the sandbox costs: a command, and whole runs, which must come to the same tree.

Commands take turns, each run as the gate runs one, and so do the runs: on a busy machine all are slowed alike.
The first run of each kind makes the environment; in the sandbox from a cache of its own, which is empty then.
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from adapters import sample
from adapters.processes.sandbox import available, run
from adapters.processes.surroundings import scrubbed_environment
from adapters.repository.git import tree_of
from benchmarks.choices import Choices
from benchmarks.repositories import committed, place, without_campaigns
from benchmarks.scratch import scratch
from benchmarks.sdists import repository
from benchmarks.service import serving, swathe_run
from benchmarks.tables import Row, at_most, grid, show
from domain.choice import Policy
from domain.sandbox import Backend, agent
from domain.target import Target

PYTHON = str(Path(sys.executable).resolve())
COMMANDS = {"true": ["/bin/true"], "python -c pass": [PYTHON, "-I", "-c", "pass"]}
BACKENDS: tuple[Backend, ...] = ("none", "bubblewrap", "landlock")
TURNS = 20
"""Of each command, for a round."""
RUNS = {"inflection": "ruff:UP", "sqlparse": "ruff:UP,C4,SIM"}
POLICIES: tuple[Policy, ...] = ("off", "auto")
SHARE = 1.1
MADE_BEFORE = "the environment made before"


def measure(choices: Choices) -> bool:
    assert available().works, available().words
    _commands(choices.rounds)
    with scratch() as folder, serving(folder / "service") as url:
        demo = folder / "demo"
        sample.create(demo)
        committed(demo)
        repos = {"the demo": (demo, sample.AXIS)}
        for name, axis in RUNS.items():
            repos[name] = (repository(name, choices, folder / name), axis)
        met = [
            _whole(name, repo, axis, url, choices.rounds) for name, (repo, axis) in repos.items()
        ]
    return all(met)


def _commands(rounds: int) -> None:
    seconds: dict[tuple[str, Backend], list[float]] = {
        (name, backend): [] for name in COMMANDS for backend in BACKENDS
    }
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds * TURNS):
            for (name, backend), taken in seconds.items():
                taken.append(_once(COMMANDS[name], backend, Path(folder)))
    middle = {key: 1000 * statistics.median(taken) for key, taken in seconds.items()}
    grid(
        f"A command, medians of {rounds * TURNS} (milliseconds, the supervisor's start among them)",
        ("command", *(f"{backend}" for backend in BACKENDS), "bubblewrap adds", "landlock adds"),
        [
            (
                name,
                *(middle[name, backend] for backend in BACKENDS),
                *(middle[name, held] - middle[name, "none"] for held in BACKENDS[1:]),
            )
            for name in COMMANDS
        ],
    )


def _once(command: list[str], backend: Backend, folder: Path) -> float:
    began = time.perf_counter()
    done = run(
        command,
        profile=agent(str(folder)),
        backend=backend,
        cwd=folder,
        env=scrubbed_environment({"PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin"}),
        timeout_seconds=60,
    )
    assert done.ok, done.output
    return time.perf_counter() - began


def _whole(name: str, repo: Path, axis: str, url: str, rounds: int) -> bool:
    """Runs in turn; each but the first of its kind finds the environment and knows no verdict."""
    walls: dict[Policy, list[float]] = {policy: [] for policy in POLICIES}
    gates: dict[Policy, list[float]] = {policy: [] for policy in POLICIES}
    trees: set[str] = set()
    for _ in range(rounds + 1):
        for policy in POLICIES:
            without_campaigns(repo)
            home = repo.with_name(f"{repo.name}-{policy}")
            for verdicts in home.glob("targets/*/verdicts"):
                shutil.rmtree(verdicts)
            ran = swathe_run(
                Target(repo=str(repo), sandbox=policy), axis, home, PREFECT_API_URL=url
            )
            walls[policy].append(ran.seconds)
            gates[policy].append(ran.report.seconds.gate)
            trees.add(tree_of(place(repo), ran.report.tip))
    (off, *offs), (auto, *autos) = walls["off"], walls["auto"]
    ratio = statistics.median(one / other for one, other in zip(autos, offs, strict=True))
    rows = [
        Row("the same tree at the tip", "yes" if len(trees) == 1 else "no", "yes", len(trees) == 1),
        at_most(f"wall time, {MADE_BEFORE}", ratio, SHARE, note=_both(offs, autos)),
        Row("gate seconds", _both(gates["off"][1:], gates["auto"][1:])),
        Row("wall time with the set-up", f"{auto / off:.2f} ({_both([off], [auto])})"),
    ]
    return show(f"{name} with {axis}, in the sandbox against off, {rounds} runs of each", rows)


def _both(off: list[float], auto: list[float]) -> str:
    return f"{statistics.median(off):.2f} s off, {statistics.median(auto):.2f} s auto"
