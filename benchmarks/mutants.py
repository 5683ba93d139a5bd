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
    for line in sorted(_statements(text)):
        place = _place(path, line, rows[line])
        if place:
            yield place


def _statements(text: str) -> set[int]:
    """Lines of functions on which a `return` or an `if` begins."""
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
        harmless, mutant = f"{indent}return ({value})", f"{indent}return not ({value})"
    elif found := IF.match(row):
        indent, word, value = found.groups()
        harmless, mutant = f"{indent}{word} ({value}):", f"{indent}{word} not ({value}):"
    else:
        return None
    return Place(path, line, harmless, mutant) if _same(value, f"({value})") else None


def _same(one: str, other: str) -> bool:
    """Whether two expressions mean the same: brackets around a comment, or around half a line, do not."""
    try:
        trees = [ast.dump(ast.parse(text, mode="eval")) for text in (one, other)]
    except SyntaxError:
        return False
    return trees[0] == trees[1]
