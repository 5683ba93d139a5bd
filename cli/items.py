"""`swathe list`: the work-list of a sweep. Shown, reordered, shortened, made longer."""

from typing import Annotated

import typer

from cli import ask, checked, terminal
from cli.status import OneAxis
from domain.list_change import ListChange
from domain.value import Value
from domain.words import printable
from domain.worklist import NAMED, Item, Worklist

CHANGE = "Change the list"
MOST_SHOWN = 200
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--strike",
        metavar="ID",
        help="Do not do this item; it ends as declined. May be repeated.",
        rich_help_panel=CHANGE,
    ),
]
First = Annotated[
    list[str] | None,
    typer.Option("--first", metavar="ID", help="Do this item first.", rich_help_panel=CHANGE),
]
Last = Annotated[
    list[str] | None,
    typer.Option("--last", metavar="ID", help="Do this item last.", rich_help_panel=CHANGE),
]
Add = Annotated[
    list[str] | None,
    typer.Option(
        "--add",
        metavar="PATH:LINE",
        help="Add an item to a list of a sentence, with --change.",
        rich_help_panel=CHANGE,
    ),
]
Change = Annotated[
    str,
    typer.Option(
        "--change",
        metavar="TEXT",
        help="What is to be done at the place that is added.",
        rich_help_panel=CHANGE,
    ),
]


class Listed(Value):
    """What `--json` prints."""

    axis: str
    worklist: Worklist


def show(
    repo: ask.Repo,
    axis: OneAxis = None,
    *,
    strike: Ids = None,
    first: First = None,
    last: Last = None,
    add: Add = None,
    change: Change = "",
    everything: Annotated[bool, typer.Option("--all", help="Also items that have ended.")] = False,
    as_json: ask.Json = False,
) -> None:
    """Show the work-list of a sweep, the next item first; reorder it, strike items, add some.

    A run that is on takes what you change at its next step. An id may be cut short as long as it names one item.
    """
    repo = checked.repository(repo)
    axis = None if axis is None else checked.words("--axis", axis)
    from adapters import list_editing

    wanted = ListChange(
        strike=tuple(strike or ()),
        first=tuple(first or ()),
        last=tuple(last or ()),
        add=tuple(add or ()),
        change=change,
    )
    if not wanted.nothing or change:
        list_editing.edit(repo, axis, wanted)
    _, state, worklist = list_editing.only(repo, axis)
    if as_json:
        terminal.as_json(Listed(axis=state.axis, worklist=worklist))
        return
    _print(state.axis, worklist, everything=everything)


def _print(axis: str, worklist: Worklist, *, everything: bool) -> None:
    console = terminal.results()
    counts = ", ".join(f"{count} {word}" for word, count in sorted(worklist.counts.items()))
    console.print(terminal.said(f"{axis}: {counts or 'empty'}", "bold"))
    items = worklist.items if everything else worklist.open
    for item in items[:MOST_SHOWN]:
        console.print(terminal.said(_row(item)), soft_wrap=True)
    if len(items) > MOST_SHOWN:
        console.print(f"and {len(items) - MOST_SHOWN:,} more; --json has them all")


def _row(item: Item) -> str:
    ended = f"  {item.ended}{f': {item.why}' if item.why else ''}" if item.ended else ""
    name = item.id if "#" in item.id else item.id[:NAMED]
    return printable(f"{name:<{NAMED}}  {item.place}  {item.title}{ended}", 300)
