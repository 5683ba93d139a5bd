"""What the deployment path costs: from a scheduled slot to the first gate command, and a whole run, against `swathe run`.

Each turn has an empty flow on the same worker, a run on duty and a run of the command line, side by side, each campaign with
a new `$SWATHE_HOME`: nothing is known of the repository, as on another machine.
"""

import os
import shutil
import signal
import statistics
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from adapters.processes import daemon
from adapters.service.environment import client_environment
from benchmarks.choices import Choices
from benchmarks.fields import Field, made
from benchmarks.repositories import without_campaigns
from benchmarks.scratch import scratch
from benchmarks.service import serving, swathe, swathe_run
from benchmarks.tables import TIMES, Row, at_most, grid, show

FILES, SITES = 1000, 40
POOL = "bench"
SECONDS_AHEAD = 15.0
"""A slot is known so long before: a worker looks 10 s ahead, every 10 s."""
MOST_SECONDS = 10.0
GATE_SECONDS = 5.0


@dataclass(frozen=True)
class Turn:
    empty: float
    """Seconds from the slot to the first line of a flow that does nothing."""
    gate: float
    """To the first gate command."""
    whole: float
    """To the end of the run."""
    typed: float
    """The same work by `swathe run`."""


def measure(choices: Choices) -> bool:
    with scratch() as folder, serving(folder / "service") as url:
        os.environ.update(client_environment(url, folder / "service"))
        field = made(folder, files=FILES, sites=SITES, bad=0, seed=choices.seed)
        with _on_duty(field, folder):
            turns = [_turn(field, folder, url) for _ in range(choices.rounds)]
    return _show(turns)


@contextmanager
def _on_duty(field: Field, folder: Path) -> Generator[None]:
    file = folder / f"{POOL}.yaml"
    file.write_text(yaml.safe_dump(_file(field, folder)))
    _, done = swathe("deploy", str(file), home=folder / "home")
    assert done.exit_code == 0, done.errors
    worker = daemon.start(
        [sys.executable, "-m", "cli.main", "worker", POOL],
        env={**os.environ, "SWATHE_HOME": str(folder / "home")},
        cwd=folder,
        log=folder / "worker.log",
    )
    try:
        yield
    finally:
        os.kill(worker, signal.SIGTERM)
        os.waitpid(worker, 0)


def _file(field: Field, folder: Path) -> dict[str, Any]:
    variables = {
        "repo": str(field.repo),
        "verify": _gate(folder),
        "environment": sys.prefix,
        "sandbox": "off",
        "swathe_home": str(folder / "duty"),
    }
    limit = {"limit": 1, "collision_strategy": "ENQUEUE"}
    common = {"work_pool": {"name": POOL}, "concurrency_limit": limit}
    axis = {"kind": "ruff", "select": "RET505"}
    return {
        "pull": [],
        "definitions": {"work_pools": {POOL: {"type": "process", "job_variables": variables}}},
        "deployments": [
            {
                "name": f"sites@{POOL}",
                "entrypoint": "flows.campaign.campaign",
                "parameters": {"axis": axis},
                **common,
            }
        ],
    }


def _gate(folder: Path) -> str:
    """A gate that says when it was first run, and takes a while, as real ones do."""
    return f"test -e {folder}/first || date +%s.%N > {folder}/first; sh checks/gate.sh nothing {GATE_SECONDS:g}"


def _turn(field: Field, folder: Path, url: str) -> Turn:
    mark, first = folder / "empty", folder / "first"
    slot = _run("nothing", "benchmarks.empty_flow.nothing", {"mark": str(mark)})[0]
    empty = float(mark.read_text()) - slot
    without_campaigns(field.repo)
    shutil.rmtree(folder / "duty", ignore_errors=True)
    first.unlink(missing_ok=True)
    slot, ended = _run(f"sites@{POOL}", "", {})
    gate = float(first.read_text()) - slot
    without_campaigns(field.repo)
    shutil.rmtree(folder / "typed", ignore_errors=True)
    target = field.target("nothing", GATE_SECONDS).model_copy(
        update={"verify": (_gate(folder),), "environment": sys.prefix}
    )
    typed = swathe_run(target, "ruff:RET505", folder / "typed", PREFECT_API_URL=url)
    assert len(typed.report.landed) == SITES
    return Turn(empty, gate, ended - slot, typed.seconds)


def _run(name: str, entrypoint: str, parameters: dict[str, Any]) -> tuple[float, float]:
    """A run of a deployment at a slot: when that was, and when the run had ended."""
    from prefect.client.orchestration import get_client  # noqa: PLC0415 -- it reads its settings when imported
    from prefect.states import Scheduled  # noqa: PLC0415

    with get_client(sync_client=True) as client:
        if entrypoint:
            flow = client.create_flow_from_name("nothing")
            known = client.create_deployment(
                flow_id=flow, name=name, entrypoint=entrypoint, work_pool_name=POOL
            )
        else:
            known = client.read_deployment_by_name(f"campaign/{name}").id
        slot = datetime.now(UTC) + timedelta(seconds=SECONDS_AHEAD)
        run = client.create_flow_run_from_deployment(
            known, parameters=parameters, state=Scheduled(scheduled_time=slot)
        ).id
        while not (found := client.read_flow_run(run)).state.is_final():
            time.sleep(0.1)
        assert found.state.is_completed(), found.state
        assert found.end_time
        return slot.timestamp(), found.end_time.timestamp()


def _show(turns: list[Turn]) -> bool:
    grid(
        f"{SITES} sites in {FILES:,} files, a gate of {GATE_SECONDS:g} s (seconds)",
        ("turn", "slot to an empty flow", "slot to the gate", "slot to the end", "`swathe run`"),
        [(n, one.empty, one.gate, one.whole, one.typed) for n, one in enumerate(turns, 1)],
    )
    over = statistics.median(one.gate - one.empty for one in turns)
    ratio = statistics.median(one.whole / one.typed for one in turns)
    rows = [
        at_most(
            "slot to the first gate command, over an empty flow", over, MOST_SECONDS, "{:.1f} s"
        ),
        Row("a run on duty, from its slot, against `swathe run`", TIMES.format(ratio)),
    ]
    return show("The deployment path", rows)
