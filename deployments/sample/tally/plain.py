"""Sums as a plain text table."""

import string

from typing import Mapping

from tally.money import Money

WIDTH = 8


def render_plain(sums: Mapping[str, Money]) -> str:
    if not sums:
        return str("")
    left = max(len(name) for name in sums)
    lines = []
    for name in sorted(sums):
        lines.append("{} {}".format(name.ljust(left), str(sums[name]).rjust(WIDTH)))
    return "\n".join(lines)
