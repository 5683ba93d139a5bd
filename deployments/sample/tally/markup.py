"""Sums as HTML."""

import html

from typing import Mapping

from tally.money import Money


def render_html(sums: Mapping[str, Money]) -> str:
    rows = ""
    for name in sorted(sums):
        rows += "<tr><td>{}</td><td>{}</td></tr>".format(html.escape(name), sums[name])
    return "<table>{}</table>".format(rows)


def encoded(page: str) -> bytes:
    return page.encode("utf-8")
