"""`swathe sweep` and `swathe units` on Pygments by scripted families: planted bugs are listed, mended, proved and landed.

The provider is the stub of the tests; what it says follows from what its tools show it. The commands, the flows, the
gate (the repository's own 2,708 tests), the server and the state are the real ones.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "stub")]

from stub_provider import Provider  # noqa: E402 -- the path is set above
from stub_script import Call, Script, Seen, Turn  # noqa: E402

from adapters.service import server  # noqa: E402
from benchmarks import sdists  # noqa: E402
from benchmarks.choices import Choices  # noqa: E402
from benchmarks.reviewing import MEND, MENDED, attentive, plant, text  # noqa: E402
from benchmarks.scratch import scratch  # noqa: E402
from benchmarks.service import swathe  # noqa: E402
from benchmarks.tables import Row, at_most, say, show  # noqa: E402
from domain.report import Report  # noqa: E402

AXIS = "give no function a list for a default that its callers share"
PLANTED = ("pygments/util.py", "pygments/lexers/python.py", "pygments/formatters/html.py")
FIND = r"grep -rnE 'def _remembered\(value, seen=\[\]\)' --include=*.py . || true"


def measure(choices: Choices) -> bool:
    met = [
        _measure("sweep", ["--axis", AXIS, "--executor", "claude"], _one_by_one, choices),
        _measure("units", [], attentive, choices),
    ]
    return all(met)


def _measure(verb: str, words: list[str], script: Script, choices: Choices) -> bool:
    with scratch() as folder:
        home = folder / "home"
        repo = sdists.repository("Pygments", choices, folder / "Pygments")
        for path in PLANTED:
            plant(repo, path)
        bills = folder / "provider"
        bills.mkdir()
        told = [verb, str(repo), *words, "--jobs", "2", "--max-usd", "5000", "--json"]
        try:
            with Provider(script, bills) as provider:
                seconds, done = swathe(*told, home=home, **provider.environment())
                assert done.output, f"exit code {done.exit_code}: {done.errors[-3000:]}"
                report = Report.from_json(done.output)
                calls = len(provider.requests)
                _, again = swathe(*told, home=home, **provider.environment())
                second, asked = Report.from_json(again.output), len(provider.requests) - calls
                billed = provider.bill.usd
            mended = all(MENDED in text(repo, f"{report.branch}:{path}") for path in PLANTED)
        finally:
            server.stop(home)
    touched = sorted(commit.site.partition(":")[0] for commit in report.landed)
    found = {
        "all is complete": report.ending == "complete",
        "each planted bug is mended": mended,
        "the second run has nothing to do": second.ending == "nothing-to-do",
        "the ledger is no lower than the bill": report.spend_usd + second.spend_usd
        >= billed - 1e-6,
    }
    for what, true in found.items():
        if not true:
            say(f"NOT SO: {what}: {report.ending}, {second.ending}, {touched}")
    say(f"  {report.ending}: {report.why}")
    say(f"  {second.ending}: {second.why}")
    rows = [
        Row("items", ", ".join(f"{count} {word}" for word, count in report.items.items())),
        Row("calls, gate runs, seconds", f"{calls}, {report.gate_runs}, {seconds:.0f}"),
        Row("calls of the second run", f"{asked}"),
        at_most(
            "what went otherwise than it should", sum(not x for x in found.values()), 0, "{:.0f}"
        ),
    ]
    return show(f"Pygments: {verb} by scripted families, {len(PLANTED)} bugs planted", rows)


def _one_by_one(seen: Seen) -> Turn:
    """A model that greps for what it looks for, and mends the one item that it is given."""
    body = str(seen.body).replace("\\n", "\n")
    if "PHASE: rescan" in body:
        if not seen.results:
            return Turn(calls=(Call("bash", {"command": FIND}),))
        rows = re.findall(r"^\./(\S+?):(\d+):", seen.results[-1], re.MULTILINE)
        named = [
            {"path": path, "line": int(line), "what": "one list for all callers"}
            for path, line in rows
        ]
        return Turn(calls=(Call("submit_sites", {"sites": named}),))
    place = re.search(r"^> (\S+\.py):\d+", body, re.MULTILINE)
    assert place, "an item names its place"
    if not seen.answers:
        work = f"sed -i '{MEND}' {place[1]} && git commit -qam 'Mend {place[1]}'"
        return Turn(calls=(Call("bash", {"command": work}),))
    return Turn(calls=(Call("finish_pass", {"axis_complete": True, "note": "done"}),))
