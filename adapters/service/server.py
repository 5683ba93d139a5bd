"""Our one shared Prefect server: in the background, under `$SWATHE_HOME`, loopback only.

Whether it runs is asked of the kernel, never of a pid file: the server inherits a locked file,
and the lock goes when it dies, however it dies. So a reused pid or port is never taken for it.
Nothing here imports Prefect (2 s).
"""

import os
import signal
import sys
import time
import urllib.request
from pathlib import Path

from adapters.processes import daemon
from adapters.service import traces
from adapters.service.environment import client_environment, operators_server, server_environment
from domain.value import Refused, Value

__all__ = [
    "ServerStatus",
    "client_environment",
    "log_file",
    "operators_server",
    "ready",
    "start",
    "status",
    "stop",
]

SECONDS_TO_STOP = 15.0


class ServerStatus(Value):
    """What is known of the server."""

    running: bool
    url: str = ""
    """Address of the API."""
    ui: str = ""
    pid: int | None = None
    version: str = ""
    """Prefect's version when it was started."""
    since: str = ""
    """When it was started, UTC."""
    healthy: bool = False
    """It answers."""


def start(home: Path) -> None:
    """See to it that the server runs, without waiting until it answers. Safe to call again and at once."""
    room = _room(home)
    with traces.deciding(room):
        lock = traces.lock(room)
        if lock is None:
            return
        with traces.listen(traces.remembered(room)) as listening:
            os.set_inheritable(lock, True)
            pid = daemon.start(
                [sys.executable, "-P", "-m", "adapters.service.serve", str(listening.fileno())],
                env=server_environment(room, listening.getsockname()[1]),
                cwd=room,
                log=_log(room),
                keep=(listening.fileno(), lock),
            )
            traces.remember(room, pid, listening.getsockname()[1])
        os.close(lock)


def ready(home: Path, timeout: float = 60.0) -> str | None:
    """The API's address once it answers; None when it died, was never started, or `timeout` seconds passed."""
    room = _room(home)
    deadline = time.monotonic() + timeout
    while traces.alive(room):
        started = traces.remembered(room)
        if started and _answers(started.url, min(2.0, timeout)):
            return started.url
        if time.monotonic() > deadline:
            return None
        time.sleep(0.1)
    return None


def stop(home: Path) -> bool:
    """Stop the server and wait until it is gone; False when none ran."""
    room = _room(home)
    with traces.deciding(room):
        started = traces.remembered(room)
        if not traces.alive(room):
            return False
        if started is None:
            raise Refused(
                f"a server runs, but {str(room / 'server.json')!r}, which names its process, is missing or damaged. "
                f"End the process that runs `adapters.service.serve` yourself, then start the server again."
            )
        for sign in (signal.SIGTERM, signal.SIGKILL):
            _signal(started.pid, sign)
            if traces.gone(room, SECONDS_TO_STOP):
                return True
    raise Refused(f"the server (process {started.pid}) does not end. Its log: {str(_log(room))!r}.")


def status(home: Path) -> ServerStatus:
    """What runs under `home`. Starts nothing."""
    room = home / "prefect"
    started = traces.remembered(room)
    if started is None or not traces.alive(room):
        return ServerStatus(running=False)
    return ServerStatus(
        running=True,
        url=started.url,
        ui=started.ui,
        pid=started.pid,
        version=started.version,
        since=started.since,
        healthy=_answers(started.url, 1.0),
    )


def log_file(home: Path) -> Path:
    """Where the server writes what goes wrong."""
    return _log(home / "prefect")


def _log(room: Path) -> Path:
    return room / "server.log"


def _room(home: Path) -> Path:
    room = home / "prefect"
    try:
        room.mkdir(parents=True, exist_ok=True, mode=0o700)
        writable = os.access(room, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise Refused(
            f"cannot write to {str(room)!r}. Set SWATHE_HOME to a folder you can write to."
        )
    return room


def _signal(pid: int, sign: signal.Signals) -> None:
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        return  # it went by itself


def _answers(url: str, timeout: float) -> bool:
    # No proxy: an operator's http_proxy would be asked for our loopback address.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{url}/health", timeout=timeout) as answer:
            return answer.read(16) == b"true"
    except OSError:  # URLError is one, too
        return False
