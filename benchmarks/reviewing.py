"""`swathe review` on real code by two scripted families: a bug that was planted in it is found, mended, proved and landed.

The provider is the stub of the tests; what the two say follows from what their tools show them. The command, the flow,
the gate (the repository's own tests), the server and the state are the real ones.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "stub")]

from stub_provider import Provider  # noqa: E402 -- the path is set above
from stub_script import Call, Seen, Turn  # noqa: E402

from adapters.service import server  # noqa: E402
from benchmarks import sdists  # noqa: E402
from benchmarks.choices import Choices  # noqa: E402
from benchmarks.repositories import shell  # noqa: E402
from benchmarks.scratch import scratch  # noqa: E402
from benchmarks.service import swathe  # noqa: E402
from benchmarks.tables import Row, at_most, say, show  # noqa: E402
from domain.report import Report  # noqa: E402

PLANTED = {
    "sqlparse": ("sqlparse/utils.py", "sqlparse/sql.py"),
    "Pygments": ("pygments/util.py", "pygments/lexers/python.py"),
}
"""Where a bug stands from the beginning, and where one is put after the first review."""
BUG = '''

def _remembered(value, seen=[]):
    """All values so far, of one caller."""
    seen.append(value)
    return list(seen)
'''
MEND = r"s/^def _remembered(value, seen=\[\]):/def _remembered(value, seen=()):/; s/^    seen.append(value)$/    seen = [*seen, value]/"
MENDED = "    seen = [*seen, value]\n"
INDEX = ".git/swathe-chunk.md"
LONGEST = 2_000
MOST_LOOKS, MOST_USD = "400", "5000"


def measure(choices: Choices) -> bool:
    """Each repository; true when all of it went as it should."""
    met = True
    for name, places in PLANTED.items():
        with scratch() as folder:
            home = folder / "home"
            try:
                met &= _measure(name, places, choices, folder)
            finally:
                server.stop(home)
    return met


@dataclass(frozen=True)
class Ran:
    """One `swathe review`."""

    seconds: float
    report: Report
    calls: int
    told: tuple[str, ...]
    """What reviewers were told, look by look."""
    fixers: tuple[str, ...]


def _measure(name: str, places: tuple[str, str], choices: Choices, folder: Path) -> bool:
    repo = sdists.repository(name, choices, folder / name)
    first, later = places
    plant(repo, first)
    bills = folder / "provider"
    bills.mkdir()
    with Provider(attentive, bills) as provider:
        whole = _review(repo, folder / "home", provider)
        idle = _review(repo, folder / "home", provider)
        shell(f"git merge -q --ff-only {whole.report.branch}", repo)
        plant(repo, later)
        again = _review(repo, folder / "home", provider)
    found = {
        "the first review is complete": whole.report.ending == "complete",
        "the planted bug is mended, alone": _landed(whole.report) == [f"Mend {first}"],
        "whoever found it mended it": len(whole.fixers) == 1,
        "both families looked": {"claude", "gpt"} <= {told.split()[0] for told in whole.told},
        "the second has nothing to do": idle.report.ending == "nothing-to-do",
        "the third is complete": again.report.ending == "complete",
        "the bug put in by hand is mended, alone": _landed(again.report) == [f"Mend {later}"],
        "the owner's branch was never touched": MENDED not in text(repo, f"HEAD:{later}"),
        "and what landed is right": MENDED in text(repo, f"{again.report.branch}:{later}"),
    }
    for what, true in found.items():
        if not true:
            say(f"NOT SO: {what}")
    for ran in (whole, idle, again):
        say(f"  {ran.report.ending}: {ran.report.why}")
    return show(
        f"{name}: a review by two scripted families, with {first} broken, and then {later}",
        [
            Row("looks, gate runs, seconds", _counts(whole)),
            Row("of the second review", _counts(idle)),
            Row("of the third", _counts(again)),
            Row(
                "billed, by the ledger",
                f"$ {whole.report.spend_usd:.2f}, {again.report.spend_usd:.2f}",
            ),
            at_most("calls of the second review", idle.calls, 0, "{:.0f}"),
            at_most("looks of the third against the first", len(again.told) / len(whole.told), 0.5),
            at_most(
                "what went otherwise than it should",
                sum(not x for x in found.values()),
                0,
                "{:.0f}",
            ),
        ],
    )


def _counts(ran: Ran) -> str:
    return f"{len(ran.told)}, {ran.report.gate_runs}, {ran.seconds:.0f}"


def plant(repo: Path, path: str) -> None:
    file = repo / path
    file.write_text(file.read_text() + BUG)
    shell("git add -A && git commit -q -m 'Remember what was asked for'", repo)


def text(repo: Path, place: str) -> str:
    return shell(["git", "show", place], repo).output


def _landed(report: Report) -> list[str]:
    return [commit.subject for commit in report.landed if commit.run == report.run]


def _review(repo: Path, home: Path, provider: Provider) -> Ran:
    before = len(provider.requests)
    words = [
        "review",
        str(repo),
        "--max-review-passes",
        MOST_LOOKS,
        "--max-usd",
        MOST_USD,
        "--json",
    ]
    seconds, done = swathe(*words, home=home, **provider.environment())
    assert done.output, f"exit code {done.exit_code}: {done.errors[-3000:]}"
    said = [request.seen for request in provider.requests[before:]]
    told = {
        (seen.conversation, seen.user): f"{seen.family} {seen.user}"
        for seen in said
        if seen.user.startswith("PHASE: review")
    }
    fixers = {seen.conversation: seen.family for seen in said if "PHASE: fix" in seen.user}
    report = Report.from_json(done.output)
    return Ran(seconds, report, len(said), tuple(told.values()), tuple(fixers.values()))


def attentive(seen: Seen) -> Turn:
    """A reviewer that opens all that it is pointed at, and knows one kind of bug when it sees it."""
    if re.findall(r"PHASE: (\w+)", str(seen.body))[-1] == "fix":
        return _mending(seen)
    if not seen.results:
        return Turn(calls=(Call("read", {"paths": [INDEX]}),))
    if INDEX in seen.results[0].partition("\n")[0]:
        due = seen.results[0].partition("## Found clean")[0]
        rows = re.findall(r"- (\S+?)(?::(\d+)-(\d*))? \(about", due)
        return Turn(calls=tuple(_opened(path, first, last) for path, first, last in rows))
    blockers = [blocker for shown in seen.results for blocker in _found(shown)]
    answer = {"approved": not blockers, "blockers": blockers, "confidence": "high"}
    return Turn(calls=(Call("submit_review", answer),))


def _opened(path: str, first: str, last: str) -> Call:
    begin = int(first or 1)
    lines = min(int(last) - begin + 1, LONGEST) if last else LONGEST
    return Call("read", {"paths": [path], "line": begin, "lines": lines})


def _found(shown: str) -> list[dict[str, object]]:
    path, _, text = shown.partition("\n")
    rows = re.findall(r"^\s*(\d+)\tdef _remembered\(value, seen=\[\]\):", text, re.MULTILINE)
    why = "the default is one list for all callers"
    return [{"path": path, "line": int(row), "why": why} for row in rows]


def _mending(seen: Seen) -> Turn:
    """One commit for each file, and then the word that all is done."""
    asked = re.findall(r"PHASE: fix.*", str(seen.body), re.DOTALL)[-1]
    paths = dict.fromkeys(re.findall(r"- ([^:\s]+):\d+ the default is one list", asked))
    if left := [path for path in paths if f"Mend {path}" not in asked]:
        script = f"sed -i '{MEND}' {left[0]} && git commit -qam 'Mend {left[0]}'"
        return Turn(calls=(Call("bash", {"command": script}),))
    return Turn(calls=(Call("submit_fix", {}),))
