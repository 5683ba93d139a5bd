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

FILES, CHANGED = 200, 2
SHAPES = {"large files": (160, 30_000), "small files": (40, 6_000)}
"""Lines of a file, and tokens of a chunk: as a review has them by default, and where its fixed costs weigh most."""
INDEX = ".git/swathe-chunk.md"
MOST = 0.1


def measure(choices: Choices) -> bool:
    with scratch() as folder:
        home = folder / "home"
        os.environ["SWATHE_HOME"] = str(home)
        try:
            # One server for both: Prefect reads where it is once in a process.
            met = [_measure(folder / name.replace(" ", "-"), name) for name in SHAPES]
        finally:
            server.stop(home)
    return all(met)


def _measure(folder: Path, name: str) -> bool:
    lines, chunk = SHAPES[name]
    repo, bill = _target(folder / "target", lines), folder / "provider"
    bill.mkdir()
    with Provider(_attentive, bill) as provider:
        os.environ.update(provider.environment())
        first = _review(repo, chunk)
        whole, calls = _tokens(provider), len(provider.bill.rows)
        assert _review(repo, chunk).ending == "nothing-to-do"
        idle = len(provider.bill.rows) - calls
        _change(repo)
        second = _review(repo, chunk)
        again = _tokens(provider) - whole
    assert (first.ending, second.ending) == ("complete", "complete"), second.why
    return show(
        f"{FILES} {name} in {first.passes} looks, then {CHANGED} of them changed",
        [
            Row("tokens of the full sweep", f"{whole:,}"),
            Row("tokens of the second", f"{again:,} in {second.passes} looks"),
            at_most("the second against the first", again / whole, MOST, "{:.3f}"),
            at_most("calls while nothing had changed", idle, 0, "{:.0f}"),
        ],
    )


def _attentive(seen: Seen) -> Turn:
    if not seen.results:
        named = re.findall(r"- (\S+) \(about", seen.user)
        return _read(*named) if named else _read(INDEX)
    if INDEX in seen.results[-1]:
        due = seen.results[-1].partition("## Found clean")[0]
        return _read(*re.findall(r"- (\S+) \(about", due))
    return Turn(calls=(Call("submit_review", {"approved": True}),))


def _read(*paths: str) -> Turn:
    """One by one: of many in one call, each is shown in part."""
    return Turn(calls=tuple(Call("read", {"paths": [path]}) for path in paths))


def _review(repo: Path, chunk: int) -> Report:
    asked = {
        "target": {
            "repo": str(repo),
            "verify": ["python -m compileall -q ."],
            "environment": sys.prefix,
        },
        "hired": [{"family": "claude"}, {"family": "gpt"}],
        "settings": {
            "max_review_chunk_tokens": chunk,
            "max_review_passes": FILES,
        },
    }
    return engine.run_review(ReviewOptions.model_validate(asked))


def _tokens(provider: Provider) -> int:
    names = ("plain", "read", "written", "output")
    return sum(row[name] for row in provider.bill.rows for name in names)


def _target(folder: Path, lines: int) -> Path:
    for number in range(FILES):
        path = folder / f"package_{number // 25:02}" / f"module_{number:03}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (f"VALUE_{number}_{line} = {line}" for line in range(lines))
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
