"""`python -m benchmarks [NAME…]`: run the named ones in turn; without a name, list them."""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.choices import Choices

BENCHMARKS = {
    "landing": "400 sites, 5 bad, a gate of 1 s, against fix-gate-commit one by one",
    "overhead": "what landing costs beyond the gates, at 1,000, 7,000 and 100,000 files",
    "suspects": "how often a red gate's failures name the culprit, on real test logs",
    "pygments": "F401 through Pygments, proved by its own tests",
    "prefect_cost": "what Prefect adds to a site, and how many task runs a run has",
    "duty": "from a scheduled slot to the first gate command over an empty flow, and a run on duty against `swathe run`",
    "startup": "commands that need no flow, against `import prefect`",
    "sandbox": "what the sandbox costs a command, and whole runs with it and without",
    "talking": "what the engine adds to a step of a model, and what the provider has cached",
    "chunks": "`swathe plan` against repomix and git's listing, its growth, and how its plans keep over a history",
    "chunk_sample": "the tokens of real repositories by a sample of places, against a count of every file",
    "chunk_bytes": "every eligible byte of four real repositories in exactly one chunk, counted again",
    "resweep": "a review after one file in a hundred was changed, against the first: the provider's bill",
    "reviewing": "`swathe review` on sqlparse and Pygments by two scripted families: found, mended, landed, converged",
    "sweeping": "two jobs against one, what the queue costs an item, the first commit under a slow enumeration",
    "backlog": "`swathe sweep` and `swathe units` on Pygments by scripted families: listed, mended, proved, landed",
    "parity": "site by site against `ruff --fix`: the same tree, and how long",
}


def main() -> int:
    chosen, names = _parsed()
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"no benchmark {unknown[0]!r}. Known: {', '.join(BENCHMARKS)}.\n")
        return 2
    if not names:
        _list()
        return 0
    modules = {
        "pygments": "f401"
    }  # a module `pygments` would hide the library from a script beside it
    missed = [
        name
        for name in names
        if not import_module(f"benchmarks.{modules.get(name, name)}").measure(chosen)
    ]
    return 1 if missed else 0


def _parsed() -> tuple[Choices, list[str]]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument(
        "--tree", type=Path, help="a folder or sdist to work on, instead of a made one"
    )
    parser.add_argument("--sdists", type=Path, help="a folder of sdists, instead of downloads")
    parser.add_argument("--full", action="store_true", help="run naive loops whole, not a slice")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (3)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (0)")
    given = vars(parser.parse_args())
    names = given.pop("names")
    return Choices(**given), names


def _list() -> None:
    table = Table("name", "what it measures", box=None)
    for name, what in BENCHMARKS.items():
        table.add_row(name, what)
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
