"""`swathe sweep`: two jobs against one, what the queue costs an item, and the first commit under a slow enumeration.

The provider is the stub of the tests; command, flow, sandbox, gate and server are the real ones.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "stub")]

from stub_provider import Provider  # noqa: E402 -- the path is set above
from stub_script import Call, Seen, Turn, turns  # noqa: E402

from adapters.enumerating import AT_ONCE  # noqa: E402
from benchmarks.choices import Choices  # noqa: E402
from benchmarks.repositories import committed  # noqa: E402
from benchmarks.scratch import scratch  # noqa: E402
from benchmarks.service import asked, serving, swathe, task_runs  # noqa: E402
from benchmarks.tables import Row, at_least, at_most, show  # noqa: E402
from domain.report import Report  # noqa: E402

AXIS = "count from zero in every file"
ITEMS, WAIT_SECONDS, LIST_SECONDS = 10, 5, 60.0
RULED = 100
MILLISECONDS, FASTER, LATER = 50.0, 1.8, 1.2
QUEUE = ("queue_up", "admit", "land", "settle_items")
"""Steps of the one queue, besides the gate."""


@dataclass(frozen=True)
class Swept:
    """One `swathe sweep`."""

    report: Report
    events: list[dict[str, object]]
    url: str

    @property
    def working(self) -> float:
        """Seconds from the first item in hand to the last commit."""
        return self._at("landed", -1) - self._at("step", 0, "changing")

    @property
    def first(self) -> float:
        """Seconds from the end of the baseline's gate runs to the first commit."""
        return self._at("landed", 0) - self._at("step", 0, "looks for items")

    def _at(self, event: str, which: int, what: str = "") -> float:
        found = [
            one for one in self.events if one["event"] == event and what in str(one.get("what"))
        ]
        return float(str(found[which]["elapsed"]))


def measure(choices: Choices) -> bool:
    with scratch() as folder, serving(folder / "service") as url:
        one, two = (
            _swept(folder / f"jobs-{jobs}", url, ITEMS, jobs, f"sleep {WAIT_SECONDS}")
            for jobs in (1, 2)
        )
        queue = _queue_milliseconds(one)
        shared = _queue_milliseconds(_by_rule(folder / "rule", url))
        quick = _swept(folder / "quick", url, 1, 2)
        slow = _swept(folder / "slow", url, 2 * AT_ONCE + 1, 2, slow=LIST_SECONDS)
    rows = [
        Row("one job, two jobs: seconds of work", f"{one.working:.1f}, {two.working:.1f}"),
        Row("gate runs of them", f"{one.report.gate_runs}, {two.report.gate_runs}"),
        at_least(
            f"two jobs against one, {ITEMS} items, a gate of {WAIT_SECONDS} s",
            one.working / two.working,
            FASTER,
            "{:.2f}×",  # noqa: RUF001 -- a multiplication sign is meant
        ),
        Row("the queue, of an item of a model that is alone in it", f"{queue:.0f} ms"),
        at_most(f"the queue, an item of a rule's {RULED}", shared, MILLISECONDS, "{:.0f} ms"),
        Row(
            "first commit: list of one item, slow list", f"{quick.first:.1f} s, {slow.first:.1f} s"
        ),
        at_most(
            f"first commit under an enumeration of {LIST_SECONDS:.0f} s against that of one item",
            slow.first / quick.first,
            LATER,
        ),
        Row("and its sweep", f"{slow.report.ending}, {len(slow.report.landed)} commits"),
    ]
    landed = {one.report.ending, two.report.ending, slow.report.ending} == {"complete"}
    return show("A sweep by a scripted model", rows) and landed


def _swept(
    folder: Path, url: str, items: int, jobs: int, wait: str = "true", *, slow: float = 0.0
) -> Swept:
    repo = folder / "repo"
    repo.mkdir(parents=True)
    for number in range(items):
        (repo / f"n{number}.txt").write_text(f"one of {number}\n")
    (repo / "keep.txt").write_text("one\n")
    committed(repo)
    gate = f'{wait}; grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .'
    bills = folder / "provider"
    bills.mkdir()
    words = ["sweep", str(repo), "--axis", AXIS, "--executor", "claude", "--jobs", str(jobs)]
    words += ["--verify", f"sh -c '{gate}'", "--sandbox", "required", "--json"]
    with Provider(_script(items, slow), bills) as provider:
        _, done = swathe(
            *words, home=folder / "home", PREFECT_API_URL=url, **provider.environment()
        )
    assert done.exit_code == 0, f"exit code {done.exit_code}: {done.errors[-3000:]}"
    report = Report.from_json(done.output)
    (path,) = (folder / "home").glob(f"targets/*/runs/{report.run}/events.jsonl")
    events = [json.loads(line) for line in path.read_text().splitlines()]
    return Swept(report, events, url)


def _by_rule(folder: Path, url: str) -> Swept:
    repo = folder / "repo"
    repo.mkdir(parents=True)
    for number in range(RULED):
        (repo / f"m{number}.py").write_text(
            f'def shown(x):\n    return "{{}} {number}".format(x)\n'
        )
    committed(repo)
    words = ["sweep", str(repo), "--axis", "ruff:UP", "--jobs", "2", "--sandbox", "off", "--json"]
    words += ["--verify", f"{sys.executable} -m compileall -q .", "--env", sys.prefix]
    _, done = swathe(*words, home=folder / "home", PREFECT_API_URL=url)
    assert done.exit_code == 0, f"exit code {done.exit_code}: {done.errors[-3000:]}"
    return Swept(Report.from_json(done.output), [], url)


def _script(items: int, slow: float) -> Callable[[Seen], object]:
    """The list in parts, all but the first after a while; each item in one commit."""
    parts = [range(at, min(at + AT_ONCE, items)) for at in range(0, items, AT_ONCE)]

    def listed(part: range) -> Callable[[Seen], Turn]:
        def said(seen: Seen) -> Turn:
            if part.start:
                time.sleep(slow / (len(parts) - 1))
            named = [{"path": f"n{n}.txt", "line": 1, "what": f"{n} counts from one"} for n in part]
            return Turn(calls=(Call("submit_sites", {"sites": named}),))

        return said

    def script(seen: Seen) -> object:
        body = str(seen.body).replace("\\n", "\n")
        if "PHASE: rescan" in body:
            first = seen.family == "claude"
            return turns([listed(part) for part in parts] if first else [listed(range(0))])(seen)
        name = next(f"n{n}.txt" for n in range(items) if f"> n{n}.txt:1" in body)
        work = f"echo zero > {name} && git commit -qam 'Count {name} from zero'"
        end = Call("finish_pass", {"axis_complete": True, "note": "done"})
        return turns([Turn(calls=(Call("bash", {"command": work}),)), Turn(calls=(end,))])(seen)

    return script


def _queue_milliseconds(swept: Swept) -> float:
    """Of one item: what the steps of the queue took, by Prefect's own record of them."""
    flow_run = swept.report.ui.rsplit("/", 1)[-1]
    task_runs(swept.url, flow_run)
    wanted = {"flow_runs": {"id": {"any_": [flow_run]}}, "limit": 200}
    runs = [
        run
        for at in (0, 200)
        for run in asked(f"{swept.url}/task_runs/filter", {**wanted, "offset": at})
    ]
    seconds = sum(run["total_run_time"] for run in runs if run["name"].rsplit("-", 1)[0] in QUEUE)
    return 1000 * seconds / len(swept.report.landed)
