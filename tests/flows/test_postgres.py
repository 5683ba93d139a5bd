"""A server on Postgres: two workers of one pool, two pools at once, and a while without the server."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from harness import ended
from machines import Machines
from postgres import postgres
from servers import LONG, served

from adapters.service import server
from adapters.service.environment import DATABASE

pytestmark = pytest.mark.flow

Away = Callable[[float], AbstractContextManager[None]]


@pytest.fixture(scope="module", name="away")
def _away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Away]:
    """Have the server gone for the block, and for so many seconds at least."""
    home = tmp_path_factory.mktemp("server")
    with postgres() as database:

        def start() -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(DATABASE, database)
                server.start(home)
            assert server.ready(home, 60), server.log_file(home).read_text()

        @contextmanager
        def away(seconds: float) -> Iterator[None]:
            began = time.monotonic()
            pid = server.status(home).pid
            os.kill(pid, signal.SIGKILL)
            assert ended(pid)
            yield
            time.sleep(max(seconds - (time.monotonic() - began), 0))
            start()

        start()
        away.home = home
        yield away


@pytest.fixture(scope="module", name="server_url")
def _server_url(away: Away) -> Iterator[str]:
    with served(away.home) as url:
        yield url


def test_two_workers_of_one_pool_and_another_pool_share_a_server(make, post):
    """One of the two workers is lost with its disk in mid-run, while the other pool works; nothing runs twice."""
    one = Machines.on_duty(make(2), post)
    other = Machines.on_duty(make(2, name="other"), post)
    first = one.worker("a")
    run, another = one.placed.start(), other.placed.start()
    engine = one.in_mid_gate()
    one.worker("b")
    other.worker("c")
    other.in_mid_gate()  # both at once
    landed = one.landed

    one.lose("a", first, engine)
    one.go()
    one.go_on(run)

    assert one.placed.final_after_crash(run).name == "Complete"
    assert len(other.landed) == 1
    other.go()
    assert other.placed.final(another).name == "Complete"
    later = one.placed.start()
    assert one.placed.final(later).name == "Nothing to do"
    assert one.landed[:1] == landed
    assert (len(one.landed), len(other.landed)) == (2, 2)
    read = one.placed.client.read_flow_run
    assert [read(each).run_count for each in (run, another, later)] == [2, 1, 1]
    assert one.repo.counted("edited") == 3, "m2 again on the empty disk, and nothing else"


@pytest.mark.parametrize("seconds", [0.0, pytest.param(60.0, marks=LONG)])
def test_a_run_goes_on_while_the_server_is_away(make, post, away, seconds):
    one = Machines.on_duty(make(2), post)
    one.worker("a")
    run = one.placed.start()
    one.in_mid_gate()

    with away(seconds):
        one.go()
        deadline = time.monotonic() + 30
        while len(one.landed) < 2:
            assert time.monotonic() < deadline, "it waits for the server"

    assert one.placed.final(run).name == "Complete"
    assert one.placed.client.read_flow_run(run).run_count == 1
    assert one.repo.counted("edited") == 2
    later = one.placed.start()
    assert one.placed.final(later).name == "Nothing to do", "the worker is gone"


@LONG
def test_a_run_goes_on_when_its_machine_has_started_anew(make, post, away):
    """Every process is gone, the server's, too: what is left is on disk."""
    one = Machines.on_duty(make(2), post)
    first = one.worker("a")
    run = one.placed.start()
    engine = one.in_mid_gate()
    landed = one.landed

    with away(0):
        for pid in (first, engine):
            os.kill(pid, signal.SIGKILL)
    one.go()
    one.placed.state(run, lambda state: state.name == "AwaitingRetry", seconds=300)
    one.worker("a")

    assert one.placed.final(run).name == "Complete"
    assert one.landed[:1] == landed
    assert len(one.landed) == 2
    assert one.repo.counted("edited") == 2, "the pass was paid twice"
