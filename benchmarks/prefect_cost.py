"""What Prefect adds to a campaign: the flow, against the same steps called as plain functions.

Both set out from a run that the command line has begun already: clones laid, baseline known. The gate
takes no time, so that nothing hides the cost.
"""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from adapters import beginning
from adapters.repository.opening import open_target
from adapters.service.environment import client_environment
from benchmarks.checks import landed_all_but_the_bad
from benchmarks.choices import Choices
from benchmarks.fields import AXIS, Field, made
from benchmarks.repositories import without_campaigns
from benchmarks.scratch import home, scratch
from benchmarks.service import serving, task_runs
from benchmarks.tables import Row, at_most, grid, say, show
from cli.asked import new_run
from domain.axis import slug
from domain.budget import Budget
from domain.report import Report
from domain.target import Target

FILES, SITES, BAD = 7000, 400, 5
MILLISECONDS, TASK_RUNS = 5.0, 59


@dataclass(frozen=True)
class Spent:
    """One campaign."""

    seconds: float
    cpu: float
    """Of this process alone: git, ruff and the gate are others."""
    task_runs: int = 0


def measure(choices: Choices) -> bool:
    with scratch() as folder, serving(folder / "service") as url:
        os.environ.update(client_environment(url, folder / "service"))
        began = time.perf_counter()
        import_module("flows.campaign")
        say(f"import of the flow, once per process: {time.perf_counter() - began:.2f} s")
        field = made(folder, files=FILES, sites=SITES, bad=BAD, seed=choices.seed)
        _plain(field, folder / "warm-up")
        first = _flow(field, "tests", folder / "first", url)
        pairs = [
            (
                _plain(field, folder / f"plain-{turn}"),
                _flow(field, "tests", folder / f"flow-{turn}", url),
            )
            for turn in range(choices.rounds)
        ]
        blind = _flow(field, "nothing", folder / "blind", url)
    return _show(first, pairs, blind)


def _plain(field: Field, folder: Path) -> Spent:
    from benchmarks.plainly import carry  # noqa: PLC0415 -- Prefect reads its settings when imported

    def go(target: Target, run: str) -> Report:
        return carry(target, AXIS, run).report

    return _spent(field, "tests", folder, go)


def _flow(field: Field, says: str, folder: Path, url: str) -> Spent:
    from flows.campaign import campaign  # noqa: PLC0415

    ids: list[str] = []

    def go(target: Target, run: str) -> Report:
        state = campaign(AXIS, target, Budget(), "finding", False, False, run, return_state=True)
        ids.append(str(state.state_details.flow_run_id))
        return cast("Report", state.result())  # the flow ends with the state that holds it

    spent = _spent(field, says, folder, go)
    return Spent(spent.seconds, spent.cpu, task_runs(url, ids[0]))


def _spent(field: Field, says: str, folder: Path, go: Callable[[Target, str], Report]) -> Spent:
    without_campaigns(field.repo)
    target, run = field.target(says, 0), new_run()
    with home(folder):
        workspace = open_target(target, slug(AXIS), run)
        beginning.attach(workspace)
        beginning.set_out(workspace, AXIS)
        began, cpu = time.perf_counter(), time.process_time()
        report = go(target, run)
        spent = Spent(time.perf_counter() - began, time.process_time() - cpu)
    landed_all_but_the_bad(field, report)
    return spent


def _show(first: Spent, pairs: list[tuple[Spent, Spent]], blind: Spent) -> bool:
    grid(
        f"{SITES} sites, {BAD} bad, a gate of no time (seconds)",
        ("round", "plain", "plain, CPU", "flow", "flow, CPU", "task runs"),
        [
            (turn, plain.seconds, plain.cpu, flow.seconds, flow.cpu, flow.task_runs)
            for turn, (plain, flow) in enumerate(pairs, start=1)
        ],
    )
    wall = statistics.median(flow.seconds - plain.seconds for plain, flow in pairs)
    cpu = statistics.median(flow.cpu - plain.cpu for plain, flow in pairs)
    usual = statistics.median(plain.seconds for plain, _ in pairs)
    form = "{:.2f} ms"
    runs = pairs[0][1].task_runs
    rows = [
        at_most(
            "added per site",
            1000 * wall / SITES,
            MILLISECONDS,
            form,
            f"{1000 * cpu / SITES:.2f} ms of CPU",
        ),
        at_most(
            "added per site, first flow of a process",
            1000 * (first.seconds - usual) / SITES,
            MILLISECONDS,
            form,
        ),
        at_most("task runs, red gate names tests", runs, TASK_RUNS, "{:d}"),
        at_most("task runs, red gate says nothing", blind.task_runs, TASK_RUNS, "{:d}"),
        Row("added per task run", form.format(1000 * wall / max(runs, 1))),
    ]
    return show("Prefect's share", rows)
