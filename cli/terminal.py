"""What is printed where: results on stdout, everything else on stderr."""

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from domain.value import Value
from domain.words import printable


def results() -> Console:
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def remarks() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def as_json(value: Value) -> None:
    """Print `value` as one line: the last line of stdout is the contract of `--json`."""
    sys.stdout.write(value.model_dump_json() + "\n")


def said(text: str, style: str = "") -> Text:
    """Text of a repository or a model: printed as it is, never read as markup."""
    return Text(printable(text), style=style)


def grid(*rows: tuple[str, str]) -> Table:
    """Names and values in two columns, without lines."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, said(value))
    return table


def listing(*columns: str, title: str = "") -> Table:
    """A table without lines, under a title."""
    table = Table(
        title=title or None, title_justify="left", title_style="bold", header_style="dim", box=None
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
