"""A Prefect server of ours for the time of a benchmark, and whole runs of `swathe run`."""

import json
import os
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.processes.finished import Finished
from adapters.service import server
from benchmarks.repositories import shell
from domain.report import Report
from domain.target import Target

ROOT = Path(__file__).resolve().parent.parent
QUIET_SECONDS = 6.0
"""The server records task runs late: a count is believed once it has stood still so long."""


@contextmanager
def serving(home: Path) -> Generator[str]:
    """The address of a server that runs under `home`."""
    home.mkdir(parents=True, exist_ok=True)
    server.start(home)
    url = server.ready(home, 120.0)
    assert url, server.log_file(home).read_text()
    try:
        yield url
    finally:
        server.stop(home)


@dataclass(frozen=True)
class Ran:
    """One `swathe run` in a process of its own."""

    seconds: float
    report: Report


def swathe(*words: str, home: Path, **environment: str) -> tuple[float, Finished]:
    """One command in a process of its own, in the operator's environment: seconds, and what it did."""
    began = time.perf_counter()
    done = shell(
        [sys.executable, "-m", "cli.main", *words],
        ROOT,
        **{**os.environ, "SWATHE_HOME": str(home), **environment},
    )
    return time.perf_counter() - began, done


def swathe_run(target: Target, axis: str, home: Path, **environment: str) -> Ran:
    words = ["run", target.repo, "--axis", axis, "--sandbox", target.sandbox, "--json"]
    words += [word for command in target.verify for word in ("--verify", command)]
    words += [word for path in target.paths for word in ("--paths", path)]
    seconds, done = swathe(*words, home=home, **environment)
    assert done.exit_code in (0, 3), f"exit code {done.exit_code}: {done.errors[-2000:]}"
    return Ran(seconds, Report.from_json(done.output))


def task_runs(url: str, flow_run: str | None = None) -> int:
    """How many task runs the server has recorded, once no more come."""
    wanted: dict[str, Any] = {}
    if flow_run:
        wanted = {"flow_runs": {"id": {"any_": [flow_run]}}}
    seen, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        count = int(asked(f"{url}/task_runs/count", wanted))
        if count != seen:
            seen, since = count, time.monotonic()
        time.sleep(0.2)
    return seen


def asked(url: str, body: dict[str, Any]) -> Any:
    """The answer to a POST."""
    token, client = _csrf(url)
    headers = {
        "Content-Type": "application/json",
        "Prefect-Csrf-Token": token,
        "Prefect-Csrf-Client": client,
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 -- loopback
    with _direct().open(request, timeout=30) as answer:
        return json.load(answer)


def _csrf(url: str) -> tuple[str, str]:
    """Our server demands a token of every client that is no browser page of its own."""
    base = url[: url.index("/api") + 4]
    with _direct().open(f"{base}/csrf-token?client=bench", timeout=30) as answer:
        return json.load(answer)["token"], "bench"


def _direct() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))
