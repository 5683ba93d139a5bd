"""A Postgres of the tests' own: a cluster in a temporary folder, reached by a socket there, run by an ordinary user."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ended, sh, wait_for

from adapters.processes import daemon

PLACES = "/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb"


def programs() -> Path:
    """Where Debian and others keep them: not on the search path."""
    found = [path for place in PLACES for path in Path("/").glob(place[1:])]
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve())
    if not found:
        pytest.skip("needs the system package postgresql")
    return max(found).parent


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a new database, as Prefect takes it."""
    bin_folder = programs()
    room = Path(tempfile.mkdtemp(prefix="swathe-pg-"))
    as_user: list[str] = []
    if os.getuid() == 0:  # which it refuses to run as
        shutil.chown(room, "postgres", "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(room)}
    data = str(room / "data")
    made = sh(
        [*as_user, str(bin_folder / "initdb"), "-D", data, "-U", "swathe", "-A", "trust", "--no-sync"], room, env
    )  # fmt: skip
    assert made.ok, made.errors + made.output
    options = ("-k", str(room), "-c", "listen_addresses=", "-c", "fsync=off")
    server = daemon.start(
        [*as_user, str(bin_folder / "postgres"), "-D", data, *options],
        env=env,
        cwd=room,
        log=room.with_suffix(".log"),
    )
    try:
        wait_for(room / ".s.PGSQL.5432")
        yield f"postgresql+asyncpg://swathe@/postgres?host={room}"
    finally:
        os.kill(server, signal.SIGINT)
        assert ended(server, 30)
        shutil.rmtree(room)
        room.with_suffix(".log").unlink()
