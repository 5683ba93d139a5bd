"""Sums in the format a person asks for: a renderer is found by its name."""

import textwrap

from typing import Dict, List

from tally.markup import render_html
from tally.money import Money
from tally.plain import render_plain

PREFIX = "render_"


class UnknownFormat(ValueError):
    pass


def formats() -> List[str]:
    """The formats there are: one for each function called `render_…` in this module."""
    return sorted(name[len(PREFIX) :] for name in globals() if name.startswith(PREFIX))


def render(sums: Dict[str, Money], wanted: str = "plain") -> str:
    if wanted not in formats():
        raise UnknownFormat("no format {!r}. There are: {}".format(wanted, ", ".join(formats())))
    return globals()[PREFIX + wanted](sums)
