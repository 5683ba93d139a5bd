"""The gateway, asked as an agent asks it, and as a command in the agent's sandbox might."""

import json
import signal
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from harness import wait_for_one
from stub_script import Fault, Turn

from adapters.models.account import Account
from adapters.processes import sandbox
from adapters.processes.sandbox import available
from adapters.processes.surroundings import scrubbed_environment
from adapters.processes.toolchains import toolchains
from adapters.vendors import inside
from adapters.vendors.gateway import Gateway
from adapters.vendors.inside import SOCKET, STOP
from adapters.vendors.till import Till
from domain.ledger import Caps
from domain.redaction import Redactor
from domain.sandbox import Mount, agent

SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLE"
TOKEN = "of-this-pass"
PATHS = {"claude": "/v1/messages", "gpt": "/v1/responses"}
BODIES = {
    "claude": {"model": "claude-opus-5-5", "max_tokens": 4_000, "stream": True, "messages": [{"role": "user", "content": "hello"}]},
    "gpt": {"model": "gpt-6.1-sol", "stream": True, "input": [{"role": "user", "content": "hello"}]},
}  # fmt: skip
FAMILIES = ("claude", "gpt")


class World:
    """A stub, a gateway in front of it, and a client that knows the token."""

    def __init__(self, one, folder, caps):
        self.one, self.family, self.folder = one, one.family, folder
        self.told = []
        self.till = Till(
            connection=one.connection(),
            account=Account(folder / "ledger.jsonl", caps),
            name="pass",
            key="pass-1",
            number=1,
            site=str,
            hurry=str,
            tell=self.told.append,
        )
        taker = Redactor(secrets=(SECRET,))
        self.gateway = Gateway(self.till.connection, self.till, taker, folder, TOKEN)

    def __enter__(self):
        self.gateway.__enter__()
        transport = httpx2.HTTPTransport(uds=str(self.folder / SOCKET))
        self.client = httpx2.Client(transport=transport, base_url="http://gateway", timeout=30)
        return self

    def __exit__(self, *_):
        self.client.close()
        self.gateway.__exit__(None, None, None)

    def ask(self, *, path="", known="", body=None, method="POST", raw=None, **change):
        given = {**(BODIES[self.family] if body is None else body), **change}
        key = known or self.gateway.token
        headers = (
            {"x-api-key": key} if self.family == "claude" else {"authorization": f"Bearer {key}"}
        )
        content = raw if raw is not None else json.dumps(given)
        return self.client.request(
            method, path or PATHS[self.family], content=content, headers=headers
        )

    @property
    def ledger(self):
        return Account(self.folder / "ledger.jsonl", Caps()).ledger

    @property
    def arrived(self):
        return self.one.provider.requests


@pytest.fixture(name="serve")
def _serve(talk, tmp_path):
    opened = []

    def serve(script, family="claude", caps=None, **more):
        folder = tmp_path / f"shared{len(opened)}"
        folder.mkdir()
        world = World(talk(script, family, more=more), folder, caps or Caps())
        opened.append(world)
        return world.__enter__()

    yield serve
    for world in opened:
        world.__exit__()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_an_answer_passes_and_is_paid(serve, family, stream):
    world = serve(lambda _: Turn("hello yourself"), family)

    answer = world.ask(stream=stream)

    assert answer.status_code == 200
    assert "hello yourself" in answer.text
    assert world.ledger.spent_usd == pytest.approx(world.one.provider.bill.usd)
    assert not world.ledger.open
    given = json.dumps(dict(world.arrived[0].headers))
    assert world.gateway.token not in given
    assert f"stub-key-of-{family}" in given


@pytest.mark.parametrize("family", FAMILIES)
def test_without_the_token_of_this_pass_nothing_passes(serve, family):
    world = serve(lambda _: Turn("hello"), family)

    assert world.ask(known="guessed").status_code == 401
    assert world.client.post(PATHS[family], json=BODIES[family]).status_code == 401
    assert world.arrived == []
    assert world.ask().status_code == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_not_open_does_not_arrive(serve, family):
    world = serve(lambda _: Turn("hello"), family)
    twice = json.dumps(BODIES[family]).replace('"stream"', '"model": "other", "stream"', 1)
    said = [
        world.ask(path="/v1/files"),
        world.ask(path="/v1/models", method="GET"),
        world.ask(method="GET"),
        world.ask(model="other"),
        world.ask(tools=[{"type": "web_search"}]),
        world.ask(raw="no json"),
        world.ask(raw="[1]"),
        world.ask(raw='{"a": ' * 100_000),
        world.ask(raw=b"\xff\xfe"),
        world.ask(raw=twice),
        world.ask(raw=json.dumps({**BODIES[family], "temperature": float("nan")})),
    ]
    assert [answer.status_code for answer in said] == [404, 404, 404, *[400] * 8]
    assert "'other'" in said[3].json()["error"]["message"]
    assert world.arrived == []
    assert world.ledger.accounts == {}
    assert world.ask().status_code == 200


def test_of_a_name_that_is_given_twice_the_provider_reads_what_was_judged(serve):
    world = serve(lambda _: Turn("hello"))
    twice = json.dumps(BODIES["claude"]).replace("{", '{"tools": [{"type": "web_search_20250305"}], "tools": [], ', 1)  # fmt: skip

    assert world.ask(raw=twice).status_code == 200
    assert b"web_search" not in world.arrived[0].raw


@pytest.mark.parametrize("family", FAMILIES)
def test_a_secret_of_the_operators_does_not_leave(serve, family):
    world = serve(lambda _: Turn("hello"), family)
    field = "messages" if family == "claude" else "input"

    assert world.ask(**{field: [{"role": "user", "content": f"see {SECRET}!"}]}).status_code == 200
    assert SECRET.encode() not in world.arrived[0].raw
    assert b"see [redacted]!" in world.arrived[0].raw


@pytest.mark.parametrize("family", FAMILIES)
def test_at_the_cap_it_closes_and_says_so(serve, family):
    world = serve(lambda _: Turn("word " * 4_000), family, Caps(max_usd=0.05))

    said = []
    while len(said) < 20 and (answer := world.ask()).status_code == 200:
        said.append(answer)
    assert 1 <= len(said) < 20
    assert answer.status_code == 400
    assert "of $0.05 for this run are spent" in answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"
    assert (world.folder / STOP).exists()
    assert world.till.over.ended == "budget"
    assert len(world.arrived) == len(said)
    # To one call.
    assert world.ledger.spent_usd - 0.05 < world.one.provider.bill.rows[-1]["usd"]


def test_many_at_once_are_paid_one_after_the_other(serve):
    world = serve(lambda _: Turn("word " * 4_000, pause=0.001), "claude", Caps(max_usd=0.05))
    codes = []
    asked = [
        threading.Thread(target=lambda: codes.append(world.ask().status_code)) for _ in range(12)
    ]
    for one in asked:
        one.start()
    for one in asked:
        one.join()

    paid = codes.count(200)
    assert 1 <= paid < 12
    assert paid == len(world.arrived)
    assert world.ledger.spent_usd == pytest.approx(world.one.provider.bill.usd)
    assert world.ledger.spent_usd - 0.05 < max(r["usd"] for r in world.one.provider.bill.rows)


@pytest.mark.parametrize("ending", ["cut", "reset", "early", "garbage", "error"])
@pytest.mark.parametrize("family", FAMILIES)
def test_an_answer_that_is_not_whole_is_charged_what_was_reserved(serve, family, ending):
    world = serve(lambda _: Turn("word " * 500, ending=ending), family)

    try:
        text = world.ask().text
    except httpx2.HTTPError:
        text = ""
    assert "message_stop" not in text
    assert "response.completed" not in text
    (account,) = world.ledger.accounts.values()
    assert account.state == "lost"
    assert account.charged >= world.one.provider.bill.usd > 0
    # Whoever comes next is not held up.
    assert world.ask(path="/v1/files").status_code == 404


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_provider_refuses_costs_nothing_and_is_handed_on(serve, family):
    faults = [Fault("overloaded"), Fault("rate-limit", retry_after=7), Turn("hello")]
    world = serve(lambda _: faults[len(world.arrived)], family)

    first, second, third = world.ask(), world.ask(), world.ask()

    assert (second.status_code, third.status_code) == (429, 200)
    assert first.status_code in {503, 529}
    assert second.headers["retry-after"] == "7"
    assert [a.state for a in world.ledger.accounts.values()] == ["released", "released", "settled"]
    assert len(world.told) == 2
    assert world.till.failed == 0


@pytest.mark.parametrize(
    ("fault", "ended"),
    [
        (Fault("auth"), "fatal"),
        (Fault("not-found"), "fatal"),
        (Fault("quota"), "paused"),
        (Fault("rate-limit", retry_after=3600), "paused"),
    ],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_waiting_does_not_cure_closes_it(serve, family, fault, ended):
    world = serve(lambda _: fault, family)

    assert world.ask().status_code == 400
    assert world.ask().status_code == 400
    assert len(world.arrived) == 1
    assert world.till.over.ended == ended
    assert world.till.over.seconds == (fault.retry_after or 0)
    assert world.ledger.spent_usd == 0


def test_a_provider_that_is_not_there_is_not_paid(serve):
    world = serve(lambda _: Turn("hello"), address="http://127.0.0.1:1")

    assert world.ask().status_code == 502
    assert world.ledger.spent_usd == 0


def test_a_call_that_a_killed_pass_left_open_stays_charged(serve, tmp_path):
    world = serve(lambda _: Turn("hello"))
    call = world.till.open(BODIES["claude"], 1_000)
    assert world.ledger.open == (call,)

    again = World(world.one, world.folder, Caps())

    assert again.ledger.lost == (call,)
    assert again.ledger.spent_usd == pytest.approx((1_000 * 8 + 4_000 * 20) / 1e6)


def test_counting_tokens_is_free(serve):
    world = serve(lambda _: Turn("hello"))

    # The stub does not count; the path is open, and what comes of it is no call.
    assert world.ask(path="/v1/messages/count_tokens").status_code == 404
    assert world.ledger.accounts == {}
    assert world.ask().status_code == 200


def test_an_agent_that_waits_for_ever_is_told_to_stop(serve):
    """It asks for nothing any more: a command that it started does not end."""
    said = []
    world = serve(lambda _: Turn("hello"))
    world.till.hurry = lambda: said[0] if said else ""
    world.till.hurry_seconds = 0.0
    assert not world.till.late()

    said.append("the time is spent")

    wait_for_one(world.folder, STOP)
    assert world.till.over.ended == "hurried"
    assert world.ask().status_code == 400
    assert world.arrived == []


@pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}")
def test_what_does_not_end_by_itself_is_ended_inside(tmp_path):
    shared, work = tmp_path / "shared", tmp_path / "work"
    shared.mkdir()
    work.mkdir()
    (shared / STOP).write_text("0.1\n")
    python = str(Path(sys.executable).resolve())
    needed = (inside.__file__, *map(str, toolchains({"PATH": str(Path(python).parent)})))
    profile = agent(str(work), readonly=needed)
    mounts = (*profile.mounts, Mount(path=str(shared), at=inside.PLACE))

    def run(*command):
        return sandbox.run(
            [python, "-I", "-S", "-B", inside.__file__, *command],
            profile=profile.model_copy(update={"mounts": mounts}),
            cwd=work,
            env=scrubbed_environment({}),
            timeout_seconds=60,
        )

    assert run("sleep", "1000").exit_code == 128 + signal.SIGTERM
    assert (
        run("sh", "-c", "trap '' TERM; sleep 1000 & wait; wait").exit_code == 128 + signal.SIGKILL
    )
    (shared / STOP).unlink()
    assert run("sh", "-c", "exit 7").exit_code == 7
    assert run("no-such-program").exit_code == 127
