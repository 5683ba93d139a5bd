"""One real Prefect server for the module: it takes about 20 s to start."""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.processes import shell
from adapters.service import server, traces
from adapters.service.environment import client_environment, server_environment
from domain.value import Refused

START = "import sys; from pathlib import Path; from adapters.service import server; server.start(Path(sys.argv[1]))"

FLOW = """
import time
from prefect import flow, task

@task
def step():
    return 1

@flow
def walk():
    return step()

walk()
begun = time.monotonic()
walk()
print("seconds", time.monotonic() - begun)
"""


@pytest.fixture(scope="module", name="home")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    server.start(home)
    yield home
    server.stop(home)


@pytest.fixture(autouse=True)
def _no_server_of_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)


def python(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> shell.Finished:
    return shell.run(
        [sys.executable, *arguments],
        cwd=cwd or Path.cwd(),
        env=dict(os.environ) | (env or {}),
        timeout_seconds=120,
        contain=False,
        apart=True,
    )


def test_nothing_runs_in_a_new_home(tmp_path: Path):
    assert server.status(tmp_path) == server.ServerStatus(running=False)
    assert server.ready(tmp_path, timeout=5) is None
    assert server.stop(tmp_path) is False
    assert not (tmp_path / "prefect" / "server.json").exists()


def test_status_writes_nothing(tmp_path: Path):
    server.status(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_facts_of_a_dead_server_are_not_believed(tmp_path: Path):
    """Its pid is alive and its port taken: both belong to other programs by now."""
    room = tmp_path / "prefect"
    room.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as other:
        traces.remember(room, os.getpid(), other.getsockname()[1])

        assert server.status(tmp_path).running is False
        assert server.ready(tmp_path, timeout=5) is None
        assert server.stop(tmp_path) is False


def test_a_port_taken_by_another_program_is_left_to_it(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        before = traces.Started(pid=1, port=taken, version="3", since="")

        with traces.listen(before) as listening:
            assert listening.getsockname()[1] != taken


def test_the_port_of_last_time_is_used_again():
    with traces.listen(None) as first:
        port = first.getsockname()[1]

    with traces.listen(traces.Started(pid=1, port=port, version="3", since="")) as second:
        assert second.getsockname() == ("127.0.0.1", port)


def test_a_question_of_another_process_is_not_taken_for_a_living_server(tmp_path: Path):
    """`alive` holds the lock for the microseconds of its question; a start at that moment waits."""
    asking = traces.lock(tmp_path)
    assert asking is not None
    begun = time.monotonic()

    assert traces.lock(tmp_path) is None

    assert time.monotonic() - begun >= traces.SECONDS_OF_A_PROBE
    os.close(asking)
    again = traces.lock(tmp_path)
    assert again is not None
    os.close(again)


def test_a_home_that_cannot_be_made_is_refused_with_what_to_do(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Refused, match="Set SWATHE_HOME to a folder you can write to"):
        server.start(tmp_path / "file")


def test_the_server_learns_no_key_and_no_prefect_setting_of_the_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("PREFECT_API_DATABASE_CONNECTION_URL", "postgresql://production")

    told = server_environment(tmp_path, 4200)

    assert "secret" not in told.values()
    assert "production" not in str(told)
    assert told["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"


def test_the_server_keeps_its_records_in_the_postgres_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """`tests/flows/test_postgres.py` runs one."""
    variable = "PREFECT_API_DATABASE_CONNECTION_URL"
    assert server_environment(tmp_path, 4200)[variable].startswith("sqlite")
    url = "postgresql+asyncpg://me:opensesame@db.example/prefect"
    monkeypatch.setenv("SWATHE_DATABASE", url)
    assert server_environment(tmp_path, 4200)[variable] == url

    monkeypatch.setenv("SWATHE_DATABASE", "mysql://me:opensesame@db.example/prefect")
    with pytest.raises(Refused, match=r"SWATHE_DATABASE does not begin with postgresql") as refusal:
        server_environment(tmp_path, 4200)
    assert "opensesame" not in str(refusal.value)


def test_the_operators_own_server_keeps_their_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    url = "http://prefect.example/api"
    monkeypatch.setenv("PREFECT_API_URL", url)

    assert server.operators_server() == url
    assert "PREFECT_HOME" not in client_environment(url, tmp_path)
    assert "PREFECT_FLOWS" not in client_environment(url, tmp_path)
    assert client_environment("http://127.0.0.1:1/api", tmp_path)["PREFECT_HOME"] == str(
        tmp_path / "prefect"
    )


@pytest.mark.flow
def test_starting_returns_at_once_and_a_second_start_changes_nothing(home: Path):
    pid = server.status(home).pid
    begun = time.monotonic()

    server.start(home)

    assert time.monotonic() - begun < 0.5
    assert server.status(home).pid == pid


@pytest.mark.flow
def test_the_server_is_in_a_session_of_its_own(home: Path):
    pid = server.status(home).pid
    assert pid is not None

    assert os.getsid(pid) == pid != os.getsid(0)


@pytest.mark.flow
def test_a_flow_is_recorded_and_does_not_wait_for_its_heartbeat(home: Path, tmp_path: Path):
    url = server.ready(home, timeout=120)
    assert url is not None

    ran = python("-c", FLOW, env=client_environment(url, home), cwd=tmp_path)

    assert ran.ok, ran.errors
    assert float(ran.output.split()[1]) < 1.0
    assert ran.errors == "", "Prefect's own lines stay off the terminal"
    assert server.status(home).healthy
    assert (home / "prefect" / "prefect.db").exists()


@pytest.mark.flow
def test_a_server_that_was_killed_is_known_to_be_gone_and_starts_again_once(home: Path):
    before = server.status(home)
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)
    assert traces.gone(home / "prefect", 10)

    with ThreadPoolExecutor(3) as starters:
        several = list(starters.map(lambda _: python("-c", START, str(home)), range(3)))

    assert all(one.ok for one in several), several
    after = server.status(home)
    assert after.running
    assert after.pid != before.pid
    assert after.ui == before.ui, "an address that people kept still works"
    assert server.ready(home, timeout=120) == after.url
    assert server.stop(home) is True
    assert server.status(home).running is False
