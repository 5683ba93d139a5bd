"""`swathe deploy FILE…`: work pool, limit, template, deployments and automations as the files say."""

from pathlib import Path
from typing import Annotated

import typer

from cli import terminal
from domain.difference import Change
from domain.value import Refused, Value
from domain.words import counted

NOTHING = "nothing to change"


class Deployed(Value):
    """What `swathe deploy` did, or with `--check` would do."""

    file: str
    pool: str
    checked: bool
    """Nothing was changed."""
    server: str = ""
    changes: tuple[Change, ...] = ()
    left: tuple[str, ...] = ()
    """Deployments of the pool that the file does not have any more. They stay, and run."""


class Answer(Value):
    files: tuple[Deployed, ...] = ()


def deploy(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", help="Prefect files, one for a repository: deployments/sample.yaml."
        ),
    ],
    *,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Check the files strictly, and show what differs from the server. Change nothing.",
        ),
    ] = False,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Remove the pool's deployments that left the file. Flows that are not Swathe's stay.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as the last line of stdout, in JSON.")
    ] = False,
) -> None:
    """Deploy repositories: each file is a work pool with its deployments, in Prefect's own words.

    A key that Prefect would ignore is an error here, with its line. To deploy again changes what differs, and says so.
    """
    from cli.placing import place

    answer = Answer(files=tuple(place(files, check=check, prune=prune)))
    if as_json:
        terminal.as_json(answer)
        return
    for one in answer.files:
        _show(one)


def _show(one: Deployed) -> None:
    console = terminal.results()
    where = one.server or "no server runs, so that everything would be new"
    console.print(terminal.said(f"{one.file}: work pool {one.pool} ({where})", "bold"))
    needed = [change for change in one.changes if change.needed]
    for change in needed:
        became = "new" if change.new else "removed" if change.gone else "changes"
        _line(f"{change.what} {change.name}: {became}", 1)
        for field in change.differences:
            _line(f"{field.field}: {field.before} -> {field.after}", 2)
    for name in one.left:
        _line(f"deployment {name} left the file, and stays as it is; --prune removes it.", 1)
    if not needed:
        _line(NOTHING, 1)
    elif one.checked:
        _line(f"{counted(len(needed), 'change')} to make; none was made.", 1)
    elif any(change.what == "work pool" and change.new for change in needed):
        _line(f"Start its worker: swathe worker {one.pool}", 1)


def _line(text: str, depth: int) -> None:
    terminal.results().print("  " * depth, terminal.said(text), sep="", soft_wrap=True)


def refused(problems: list[str]) -> Refused:
    """One refusal for everything that is wrong in the files."""
    many = counted(len(problems), "thing")
    return Refused("\n  ".join([f"{many} to correct, and nothing was deployed:", *problems]))
