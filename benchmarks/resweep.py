"""A second sweep after one file in a hundred was changed, against the first: tokens, from the provider's own bill.

The provider is the stub of the tests; the reviewers are scripted, open every file that they are pointed at, and find
nothing. Flow, server and state are the real ones.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "stub")]

from stub_provider import Provider  # noqa: E402 -- the path is set above
from stub_script import Call, Seen, Turn  # noqa: E402

from adapters.service import server  # noqa: E402
from benchmarks.choices import Choices  # noqa: E402
from benchmarks.repositories import shell  # noqa: E402
from benchmarks.scratch import scratch  # noqa: E402
from benchmarks.tables import Row, at_most, show  # noqa: E402
from cli import engine  # noqa: E402
from domain.report import Report  # noqa: E402
from domain.review_options import ReviewOptions  # noqa: E402

FILES, CHANGED, LINES = 300, 3, 40
CHUNK_TOKENS = 6_000
INDEX = ".git/swathe-chunk.md"
MOST = 0.1


def measure(choices: Choices) -> bool:
    met = [_measure(stop) for stop in ("covered", "covered_by_both")]
    return all(met)


def _measure(stop: str) -> bool:
    with scratch() as folder:
        repo, bill = _target(folder / "target"), folder / "provider"
        bill.mkdir()
        with Provider(_attentive, bill) as provider:
            os.environ.update(provider.environment(), SWATHE_HOME=str(folder / "home"))
            try:
                first = _review(repo, stop)
                whole, calls = _tokens(provider), len(provider.bill.rows)
                assert _review(repo, stop).ending == "nothing-to-do"
                idle = len(provider.bill.rows) - calls
                _change(repo)
                second = _review(repo, stop)
            finally:
                _stop_server(folder / "home")
            again = _tokens(provider) - whole
    assert (first.ending, second.ending) == ("complete", "complete"), second.why
    return show(
        f"{FILES} files in {first.passes} looks, then {CHANGED} of them changed; --stop-when {stop}",
        [
            Row("tokens of the full sweep", f"{whole:,}"),
            Row("tokens of the second", f"{again:,} in {second.passes} looks"),
            at_most("the second against the first", again / whole, MOST, "{:.3f}"),
            at_most("calls while nothing had changed", idle, 0, "{:.0f}"),
        ],
    )


def _attentive(seen: Seen) -> Turn:
    if not seen.results:
        return _read(INDEX)
    if INDEX in seen.results[-1]:
        due = seen.results[-1].partition("## Found clean")[0]
        return _read(*re.findall(r"- (\S+) \(about", due))
    return Turn(calls=(Call("submit_review", {"approved": True}),))


def _read(*paths: str) -> Turn:
    """Ten files in a call are as many as it takes."""
    calls = (paths[at : at + 10] for at in range(0, len(paths), 10))
    return Turn(calls=tuple(Call("read", {"paths": list(some)}) for some in calls))


def _review(repo: Path, stop: str) -> Report:
    asked = {
        "target": {
            "repo": str(repo),
            "verify": ["python -m compileall -q ."],
            "environment": sys.prefix,
        },
        "hired": [{"family": "claude"}, {"family": "gpt"}],
        "settings": {
            "stop_when": stop,
            "max_review_chunk_tokens": CHUNK_TOKENS,
            "max_review_passes": FILES,
        },
    }
    return engine.run_review(ReviewOptions.model_validate(asked))


def _tokens(provider: Provider) -> int:
    names = ("plain", "read", "written", "output")
    return sum(row[name] for row in provider.bill.rows for name in names)


def _target(folder: Path) -> Path:
    for number in range(FILES):
        path = folder / f"package_{number // 25:02}" / f"module_{number:03}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (f"VALUE_{number}_{line} = {line}" for line in range(LINES))
        path.write_text("\n".join([*rows, ""]))
    shell("git init -q -b main", folder)
    _commit(folder)
    return folder


def _change(folder: Path) -> None:
    """One of each hundred, far from each other."""
    for number in range(0, FILES, FILES // CHANGED):
        path = folder / f"package_{number // 25:02}" / f"module_{number:03}.py"
        path.write_text(path.read_text().replace("= 1\n", "= 2\n", 1))
    _commit(folder)


def _commit(folder: Path) -> None:
    shell("git add -A && git commit -q -m Files", folder)


def _stop_server(home: Path) -> None:
    server.stop(home)
