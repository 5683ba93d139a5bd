"""What was measured, beside what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

WIDTH = 118
TIMES = "{:.1f}×"  # noqa: RUF001 -- a multiplication sign is meant


@dataclass(frozen=True)
class Row:
    """One figure."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None
    """None: nothing was asked."""


def at_least(what: str, value: float, target: float, form: str = TIMES, note: str = "") -> Row:
    measured = form.format(value) + (f" ({note})" if note else "")
    return Row(what, measured, f"≥ {form.format(target)}", value >= target)


def at_most(what: str, value: float, target: float, form: str = "{:.2f}", note: str = "") -> Row:
    measured = form.format(value) + (f" ({note})" if note else "")
    return Row(what, measured, f"≤ {form.format(target)}", value <= target)


def show(title: str, rows: Sequence[Row]) -> bool:
    """Print the figures; True when no target was missed."""
    table = Table("what", "measured", "target", "met", title=title, title_justify="left")
    for row in rows:
        met = "" if row.met is None else "[green]yes[/]" if row.met else "[red]NO[/]"
        table.add_row(row.what, row.measured, row.target, met)
    _console().print(table)
    return all(row.met is not False for row in rows)


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print plain measurements."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row))
    _console().print(table)


def say(text: str) -> None:
    _console().print(text, markup=False, highlight=False)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)
