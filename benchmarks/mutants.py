"""Planted breakages: one changed line in a function, and harmless changes of the same shape.

A mutant keeps every identifier of its line, so that nothing but the tests tells it from the harmless.
"""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

APART = 6
"""Lines between two changes of a file, so that each can be replayed without the others."""

RETURN = re.compile(r"^(\s+)return (?!None\b|True\b|False\b)(\S.*)$")
IF = re.compile(r"^(\s+)(if|elif) (.+):$")
NEAREST = ("src/", "lib/")


@dataclass(frozen=True)
class Place:
    """A line that can be changed both ways."""

    path: str
    line: int
    """From 0."""
    harmless: str
    mutant: str


def places(repo: Path, paths: list[str], chance: random.Random) -> list[Place]:
    """Changeable lines of functions, far enough apart, in an order that is drawn."""
    found: list[Place] = []
    for path in paths:
        last = -APART
        for place in _in_file(path, (repo / path).read_text("utf-8", "surrogateescape")):
            if place.line - last >= APART:
                found.append(place)
                last = place.line
    chance.shuffle(found)
    return found


def changed(text: str, place: Place, *, mutant: bool) -> str:
    rows = text.split("\n")
    rows[place.line] = place.mutant if mutant else place.harmless
    return "\n".join(rows)


def _in_file(path: str, text: str) -> Iterator[Place]:
    rows = text.split("\n")
    for line in sorted(_body_lines(text)):
        place = _place(path, line, rows[line])
        if place and all(_parses(changed(text, place, mutant=kind)) for kind in (True, False)):
            yield place


def _body_lines(text: str) -> set[int]:
    """Lines that a `return` or an `if` statement within a function begins on."""
    return {
        inner.lineno - 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Return | ast.If)
    }


def _place(path: str, line: int, row: str) -> Place | None:
    if found := RETURN.match(row):
        indent, value = found.groups()
        return Place(path, line, f"{indent}return ({value})", f"{indent}return not ({value})")
    if found := IF.match(row):
        indent, word, condition = found.groups()
        return Place(
            path, line, f"{indent}{word} ({condition}):", f"{indent}{word} not ({condition}):"
        )
    return None


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
