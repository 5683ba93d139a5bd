"""`swathe report RUN`: the closing report of a run that is over."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from adapters.home import swathe_home
from cli import terminal
from domain.report import Report
from domain.value import Refused

LAST = "last"
MOST_NAMED = 10


def report(
    run: Annotated[
        str,
        typer.Argument(
            help="Id of a run, as `swathe status` and the run itself print it; or `last`."
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as one line of JSON.")
    ] = False,
) -> None:
    """Print the report of a run as markdown: what landed, what did not and why, and how to take it."""
    found = read(stored(run))
    if as_json:
        terminal.as_json(found)
    else:
        from domain.summary import markdown

        sys.stdout.write(markdown(found))


def stored(run: str) -> Path:
    """Where the report of `run` is kept. A beginning that fits one run only is enough."""
    every = _all()
    if not every:
        raise Refused(
            f"no run has left a report under {str(swathe_home())!r}. `swathe demo` makes one."
        )
    names = sorted(every)
    if run == LAST:
        return max(every.values(), key=lambda path: path.stat().st_mtime)
    fitting = [run] if run in every else [name for name in names if run and name.startswith(run)]
    if len(fitting) == 1:
        return every[fitting[0]]
    what = f"{len(fitting)} runs begin with {run!r}" if fitting else f"no report of a run {run!r}"
    latest = ", ".join((fitting or names)[-MOST_NAMED:])
    raise Refused(
        f"{what}. The latest: {latest}. A run that still works has no report: see `swathe status`."
    )


def read(path: Path) -> Report:
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise Refused(
            f"{str(path)!r} is not a report this version of Swathe can read: "
            f"{error.error_count()} fields do not fit. Read it as JSON, or with the version that wrote it."
        ) from error


def _all() -> dict[str, Path]:
    return {
        path.parent.name: path for path in (swathe_home() / "targets").glob("*/runs/*/report.json")
    }
