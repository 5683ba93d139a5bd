"""What the engine adds to a model's steps, and how much of each request the provider has cached, by its own count.

The provider is the stub of the tests, in a process of its own; nothing of it is in our time.
"""

import itertools
import json
import multiprocessing
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "stub")]


from stub_provider import Provider  # noqa: E402 -- the path is set above
from stub_script import Call, Script, Seen, Turn  # noqa: E402

from adapters.models.account import Account  # noqa: E402
from adapters.models.agent import Agent  # noqa: E402
from adapters.models.commands import Commands  # noqa: E402
from adapters.models.desk import Bench  # noqa: E402
from adapters.models.families import FAMILIES, connect  # noqa: E402
from adapters.models.files import Files  # noqa: E402
from benchmarks.choices import Choices  # noqa: E402
from benchmarks.scratch import scratch  # noqa: E402
from benchmarks.tables import Row, at_least, at_most, show  # noqa: E402
from domain.hired import Family, Hired  # noqa: E402
from domain.ledger import Caps  # noqa: E402
from domain.sandbox import OPEN  # noqa: E402

STEPS, SHORT = 200, 60
RESULT_CHARACTERS = 8_000
TAIL = 50
MILLISECONDS = 1_000
MOST_MILLISECONDS, MOST_GROWTH = 30.0, 1.5
MOST_TOKENS, MOST_UNCACHED, LEAST_CACHED = 4_000, 1.1, 0.95
KILLS = (1, 20, 41)
"""Steps at whose tool the process dies, by SIGKILL."""
STEP = Turn("Looking at the next one.", (Call("run_gate"),), thinking="Where was I?")


def measure(choices: Choices) -> bool:
    met = [_measure(family) for family in FAMILIES]
    return all(met)


def _measure(family: Family) -> bool:
    with scratch() as folder:
        times = _times(family, folder / "long")
        rows = _requests(family, folder / "short", SHORT)
        handed = _requests(family, folder / "handed", SHORT, fix=True)
        before = _before(folder / "short")
        again = _paid_again(family, folder / "killed")
    steps = [later - earlier for earlier, later in itertools.pairwise(times)]
    late, before_it = statistics.median(steps[-TAIL:]), statistics.median(steps[-2 * TAIL : -TAIL])
    # What was new is what the last request held: each part of it was new once.
    new = sum(rows[-1][name] for name in ("plain", "read", "written"))
    paid = sum(row["plain"] + row["written"] for row in rows)
    fixed = handed[-1]
    share = fixed["read"] / (fixed["plain"] + fixed["read"] + fixed["written"])
    return show(
        f"{family}: a pass of {STEPS} steps with results of {RESULT_CHARACTERS:,} characters",
        [
            at_most(
                "engine, CPU per step, the last 50",
                late * MILLISECONDS,
                MOST_MILLISECONDS,
                "{:.1f} ms",
            ),
            at_most("the same against the 50 before", late / before_it, MOST_GROWTH, "{:.2f}"),
            at_most(
                f"uncached input of {SHORT} steps, against new tokens", paid / new, MOST_UNCACHED
            ),
            at_least("hand-over from review to fix, cached", share, LEAST_CACHED, "{:.3f}"),
            at_most(f"answered calls paid again after {len(KILLS)} kills", again, 0, "{:.0f}"),
            at_most("instructions and tools, characters / 4", before, MOST_TOKENS, "{:.0f}"),
            Row(
                "the provider's bill for those 60 steps", f"${sum(row['usd'] for row in rows):.2f}"
            ),
        ],
    )


def _times(family: Family, folder: Path) -> list[float]:
    """Our CPU seconds at the gate of each step."""
    times: list[float] = []

    def gate() -> str:
        times.append(time.process_time())
        return f"{len(times)} " + "x" * RESULT_CHARACTERS

    with _served(folder, STEPS) as environment:
        _work(family, folder, environment, gate, fix=False)
    assert len(times) == STEPS
    return times


def _requests(
    family: Family, folder: Path, steps: int, *, fix: bool = False
) -> list[dict[str, float]]:
    """The rows of the provider's bill."""
    with _served(folder, steps) as environment:
        _work(family, folder, environment, lambda: "x" * RESULT_CHARACTERS, fix=fix)
    return [json.loads(line) for line in (folder / "bill.jsonl").read_text().splitlines()]


def _paid_again(family: Family, folder: Path) -> int:
    """Answers that were billed more than once in a pass whose process is killed again and again."""
    context = multiprocessing.get_context("spawn")
    with _served(folder, SHORT) as environment:
        for step in (*KILLS, STEPS):
            worker = context.Process(target=_work_until, args=(family, folder, environment, step))
            worker.start()
            worker.join()
            assert worker.exitcode == (-signal.SIGKILL if step in KILLS else 0)
    rows = [json.loads(line) for line in (folder / "bill.jsonl").read_text().splitlines()]
    asked = [row["answers"] for row in rows]
    assert set(asked) == set(range(SHORT + 1))
    return len(asked) - len(set(asked))


def _work_until(family: Family, folder: Path, environment: dict[str, str], step: int) -> None:
    def gate() -> str:
        talk = (folder / "talk.jsonl").read_text()
        if talk.count('"r":"answer"') == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return "x" * RESULT_CHARACTERS

    _work(family, folder, environment, gate, fix=False)


def _work(
    family: Family, folder: Path, environment: dict[str, str], gate: Callable[[], str], *, fix: bool
) -> None:
    caps = Caps(max_usd=1_000)
    bench = Bench(Files(folder), Commands(folder, OPEN), gate)
    account = Account(folder / "ledger.jsonl", caps)
    connection = connect(Hired(family=family), environment, caps)
    journal = folder / "talk.jsonl"
    with Agent(connection, bench, account, journal) as agent:
        if fix:
            assert agent.run("review", "PHASE: review", "review").ended == "answered"
            assert agent.run("fix", "PHASE: fix", "fix").ended == "answered"
        else:
            assert agent.run("work", "PHASE: work", "work").ended == "answered"


def _before(folder: Path) -> float:
    """Characters / 4 of what stands before every conversation, as it was sent."""
    body = json.loads((folder / "first.json").read_text())
    system = body.get("system") or body.get("instructions")
    return len(json.dumps([body["tools"], system])) / 4


@contextmanager
def _served(folder: Path, steps: int) -> Iterator[dict[str, str]]:
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    ready, stop = context.SimpleQueue(), context.Event()
    server = context.Process(target=_serve, args=(folder, steps, ready, stop))
    server.start()
    try:
        yield ready.get()
    finally:
        stop.set()
        server.join()


def _serve(folder: Path, steps: int, ready, stop) -> None:
    with Provider(_script(steps), folder) as provider:
        ready.put(provider.environment())
        stop.wait()
        (folder / "first.json").write_bytes(provider.requests[0].raw)


def _script(steps: int) -> Script:
    ends = {
        "PHASE: work": Call("finish_pass", {"axis_complete": True, "note": "done"}),
        "PHASE: review": Call("submit_review", {"approved": False}),
        "PHASE: fix": Call("submit_fix", {"fixed": ["a.py"]}),
    }

    def script(seen: Seen) -> Turn:
        return STEP if seen.answers < steps else Turn(calls=(ends[seen.user],))

    return script
