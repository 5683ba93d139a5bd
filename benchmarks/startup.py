"""Commands that need no flow, against the import of Prefect alone.

Each in a process of its own, in turn, so that a busy machine slows all of them alike.
"""

import os
import statistics
import sys
import time
from pathlib import Path

from benchmarks.choices import Choices
from benchmarks.fields import gate, made
from benchmarks.repositories import shell
from benchmarks.scratch import scratch
from benchmarks.service import ROOT, swathe
from benchmarks.tables import Row, at_most, show

FILES, SITES = 1000, 40
SHARE = 0.5
LEAST_ROUNDS = 5
NOTHING = "ruff:UP032"
"""An axis without a site in the made repository."""


def measure(choices: Choices) -> bool:
    with scratch() as folder:
        field = made(folder, files=FILES, sites=SITES, bad=0, seed=choices.seed)
        home, repo = folder / "home", str(field.repo)
        commands = {
            "--help": ["--help"],
            "status": ["status", repo],
            "plan": ["plan", repo, "--axis", "ruff:RET505", "--verify", "true"],
            "run, nothing to do": ["run", repo, "--axis", NOTHING, "--verify", gate("nothing", 0)],
        }
        checked = ["doctor", repo, "--verify", gate("nothing", 0)]
        for name, words in {**commands, "doctor": checked}.items():
            _without_prefect(name, words, home)
        prefect: list[float] = []
        ours: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(max(choices.rounds, LEAST_ROUNDS)):
            prefect.append(_import_prefect())
            for name, words in commands.items():
                seconds, done = swathe(*words, home=home)
                assert done.exit_code == 0, f"{name}: {done.output}{done.errors}"
                ours[name].append(seconds)
    return _show(prefect, ours)


def _show(prefect: list[float], ours: dict[str, list[float]]) -> bool:
    base = statistics.median(prefect)
    rows = [Row("import prefect", f"{base:.2f} s ({min(prefect):.2f} to {max(prefect):.2f})")]
    for name, seconds in ours.items():
        ratio = statistics.median(one / other for one, other in zip(seconds, prefect, strict=True))
        note = f"{statistics.median(seconds):.2f} s"
        rows.append(at_most(f"swathe {name}", ratio, SHARE, "{:.2f}", note))
    return show(f"Start of commands, against `import prefect` ({FILES:,} files)", rows)


def _import_prefect() -> float:
    began = time.perf_counter()
    assert shell([sys.executable, "-c", "import prefect"], ROOT, **os.environ).ok
    return time.perf_counter() - began


def _without_prefect(name: str, words: list[str], home: Path) -> None:
    """Assert that the command does not import Prefect, by the interpreter's own list."""
    command = [sys.executable, "-X", "importtime", "-m", "cli.main", *words]
    done = shell(command, ROOT, **{**os.environ, "SWATHE_HOME": str(home)})
    imported = {
        row.rpartition("|")[2].strip()
        for row in done.errors.splitlines()
        if row.startswith("import time:")
    }
    assert "typer" in imported, f"{name}: {done.errors[-2000:]}"
    assert "prefect" not in imported, f"`swathe {name}` imports Prefect"
