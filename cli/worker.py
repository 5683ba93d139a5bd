"""`swathe worker REPO`: a worker for the pool of a repository, with the settings under which its runs survive."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from adapters.home import swathe_home
from adapters.processes import handover
from cli import terminal
from domain.pool import SECONDS_BETWEEN_HEARTBEATS
from domain.value import Refused

HANDOVER = Path(handover.__file__)

Which = Annotated[
    str,
    typer.Argument(
        metavar="REPO", help="The repository (a path, or a git URL), or the name of its work pool."
    ),
]


def worker(repo: Which) -> None:
    """Start a worker for a repository's work pool, and stay with it. Ctrl-C ends it.

    A run that it is stopped in the midst of goes on, from what has landed, with the next worker. Its runs send
    heartbeats, so that one whose machine goes down is known to be dead, and are started directly.
    """
    from cli.connecting import address, connected

    url = address(start=True)
    if url is None:
        raise Refused("no Prefect server. `swathe server start` starts one.")
    before = dict(os.environ)
    with connected(url):
        from cli.pools import pool_of

        pool = pool_of(repo)
        terminal.remarks().print(
            f"A worker for {pool.name!r} ({pool.repo}); Ctrl-C ends it.", markup=False
        )
        command = [sys.executable, "-m", "prefect", "worker", "start"]
        command += ["--pool", pool.name, "--type", pool.type, "--install-policy", "never"]
        over = [sys.executable, "-I", "-S", str(HANDOVER), *command]
        os.execve(over[0], over, environment(before, os.environ))  # noqa: S606 -- it stands over the worker


def environment(before: Mapping[str, str], connected: Mapping[str, str]) -> dict[str, str]:
    """The operator's own, with our server's address and home, and what the runs need."""
    ours = ("PREFECT_API_URL", "PREFECT_HOME", "PREFECT_PROFILES_PATH", "DO_NOT_TRACK")
    beside = str(Path(sys.executable).parent)
    return {
        **{name: value for name, value in before.items() if name != "PREFECT_FLOWS"},
        **{name: connected[name] for name in ours if name in connected},
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(SECONDS_BETWEEN_HEARTBEATS),
        "SWATHE_HOME": str(swathe_home()),
        # The pool's command is `python -m prefect.engine`: the Python that Swathe is installed for.
        "PATH": os.pathsep.join((beside, before.get("PATH", os.defpath))),
    }
