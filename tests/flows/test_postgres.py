"""A server on Postgres: two workers of one pool, and two pools at once."""

from collections.abc import Iterator

import pytest
from machines import Machines
from postgres import postgres
from servers import served

from adapters.service.environment import DATABASE

pytestmark = pytest.mark.flow


@pytest.fixture(scope="module", name="server_url")
def _server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with postgres() as database, pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATABASE, database)
        with served(tmp_path_factory.mktemp("server")) as url:
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
    assert other.landed == other.landed[:1]
    other.go()
    assert other.placed.final(another).name == "Complete"
    later = one.placed.start()
    assert one.placed.final(later).name == "Nothing to do"
    assert one.landed[:1] == landed
    assert (len(one.landed), len(other.landed)) == (2, 2)
    read = one.placed.client.read_flow_run
    assert [read(each).run_count for each in (run, another, later)] == [2, 1, 1]
    assert one.repo.counted("edited") == 3, "m2 again on the empty disk, and nothing else"
