"""`swathe list`: the work-list of a sweep. Shown, reordered, shortened, made longer."""

from functools import partial
from typing import Annotated

import typer

from cli import ask, checked, terminal
from cli.status import OneAxis
from domain.value import Refused, Value
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
    if change and not add:
        raise Refused("--change says what is to be done at a place that is added: --add PATH:LINE.")
    from cli import listing

    edits = [
        *(partial(_struck, words) for words in strike or ()),
        *(partial(_moved, words, True) for words in first or ()),
        *(partial(_moved, words, False) for words in last or ()),
    ]
    if edits or add:
        listing.edit(repo, axis, edits, add or (), change)
    _, state, worklist = listing.only(repo, axis)
    if as_json:
        terminal.as_json(Listed(axis=state.axis, worklist=worklist))
        return
    _print(state.axis, worklist, everything=everything)


def _struck(words: str, worklist: Worklist) -> Worklist:
    return worklist.strike(words)


def _moved(words: str, to_front: bool, worklist: Worklist) -> Worklist:
    return worklist.move(words, to_front=to_front)


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
