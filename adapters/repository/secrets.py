"""New secrets in a chain: added lines, messages and names of files, all of a chain looked at together."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from adapters.repository.credentials import beside_a_word, shapes
from adapters.repository.git import Place, ask
from domain.redaction import SHORTEST, Redactor, secrets_in
from domain.secret import Leak, is_example, looks_random

_BASIC_AUTH = re.compile(r"://[^\s:/?#@'\"]*:([^\s/@'\"]{8,})@")
_HEADER = re.compile(r"BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-\d")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{40,}")
AFTER_HEADER = 600
"""Characters behind its header in which a private key begins; a header alone is no secret."""

_SECRETISH = re.compile(
    r"passw|pwd|secret|token|credential|bearer|contrase"
    r"|(?:api|auth|access|service|account|client|db|database|priv|private|signing|encryption)[-_ ]?(?:key|pass)",
    re.IGNORECASE,
)
LINE = 2_000
"""Characters of a line that are looked at as one: expressions that look back are slow on long lines."""
OVERLAP = 300


class Added(NamedTuple):
    """A line that a commit adds; without a path, a line of its message or a file's name."""

    commit: str
    path: str
    number: int
    text: str


class _Found(NamedTuple):
    line: Added
    kind: str
    value: str


def leaks(place: Place, base: str, lines: Sequence[Added]) -> dict[str, tuple[Leak, ...]]:
    """New secrets by commit. What stands anywhere in the tree of `base` is not new: it was moved, or written anew."""
    found = tuple(_found(_Text(lines)))
    standing = _standing(place, base, {one.value for one in found})
    by_commit: dict[str, dict[Leak, None]] = {}
    for line, kind, value in found:
        if value not in standing:
            leak = Leak(kind=kind, path=line.path, line=line.number)
            by_commit.setdefault(line.commit, {})[leak] = None
    return {commit: tuple(leaks) for commit, leaks in by_commit.items()}


def shown(lines: Sequence[Added]) -> tuple[Leak, ...]:
    """Secrets in lines that belong to no repository: none of them stood there before."""
    return tuple(
        Leak(kind=kind, path=line.path, line=line.number) for line, kind, _ in _found(_Text(lines))
    )


class _Text:
    """All lines as one text: an expression that finds nothing in it is asked once, not once for each line."""

    def __init__(self, lines: Sequence[Added]) -> None:
        self.lines = [piece for line in lines for piece in _pieces(line)]
        self.starts: list[int] = []
        at = 0
        for line in self.lines:
            self.starts.append(at)
            at += len(line.text) + 2
        # Two ends of line: what an expression takes of the space behind one secret is not missed before the next.
        self.whole = "\n\n".join(line.text for line in self.lines)

    def number(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[Added, re.Match[str], str]]:
        """Each match, with its line and the secret itself."""
        for match in pattern.finditer(self.whole):
            start, end = _span(match)
            yield self.lines[self.number(start)], match, self.whole[start:end]

    def behind(self, match: re.Match[str], line: Added) -> str:
        """What follows in the same file of the same commit."""
        number = self.number(match.start())
        last = number
        while last + 1 < len(self.lines) and self.lines[last + 1][:2] == line[:2]:
            last += 1
            if self.starts[last] - match.end() > AFTER_HEADER:
                break
        end = self.starts[last] + len(self.lines[last].text)
        return self.whole[match.end() : min(end, match.end() + AFTER_HEADER)]


def _pieces(line: Added) -> Iterable[Added]:
    if len(line.text) <= LINE:
        return (line,)
    starts = range(0, len(line.text), LINE - OVERLAP)
    return (line._replace(text=line.text[start : start + LINE]) for start in starts)


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret itself is, when an expression has a group for it; without the space before it."""
    groups = [match.span(number) for number in range(1, match.re.groups + 1)]
    start, end = max(groups, key=_length, default=(0, 0))
    if end - start >= SHORTEST:
        return start, end
    return match.end() - len(match[0].lstrip(" \t\n=:\"'")), match.end()


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _found(text: _Text) -> Iterator[_Found]:
    yield from _shaped(text)
    yield from _named(text)
    yield from _operators(text)


def _shaped(text: _Text) -> Iterator[_Found]:
    """What its shape alone gives away."""
    for kind, pattern, sound in shapes():
        for line, match, value in text.matches(pattern):
            before = text.whole[max(match.start() - 1, 0) : match.start()]
            inside = before.isalnum() and match[0][0].isalnum()  # of a longer word: base64, say
            if not inside and not is_example(value) and sound(value):
                yield _Found(line, kind, value.rstrip("\n\"'"))
    for line, _, value in text.matches(_BASIC_AUTH):
        if looks_random(value):
            yield _Found(line, "Basic Auth Credentials", value)
    for line, match, _ in text.matches(_HEADER):
        if body := _KEY_LINE.search(text.behind(match, line)):
            yield _Found(line, "Private Key", body[0])


def _named(text: _Text) -> Iterator[_Found]:
    """What a word beside it gives away."""
    numbers = dict.fromkeys(text.number(match.start()) for match in _SECRETISH.finditer(text.whole))
    for line in (text.lines[number] for number in numbers):
        for value in beside_a_word(line.path, line.text):
            if looks_random(value):
                yield _Found(line, "Secret Keyword", value)


def _operators(text: _Text) -> Iterator[_Found]:
    """The operator's own, in any form: a model that has seen one may have written it down."""
    for name, value in _own():
        redactor = Redactor(secrets=(value,))
        if redactor.finds(text.whole):
            for line in _holding(text.lines, redactor):
                yield _Found(line, f"your {name}", value)


def _holding(lines: Sequence[Added], redactor: Redactor) -> Iterator[Added]:
    """The lines with the secret; where it goes over several lines of a file, the one it begins in."""
    for _, group in groupby(lines, key=itemgetter(0, 1)):
        mine = list(group)
        texts = [line.text for line in mine]
        if redactor.finds("\n".join(texts)):
            yield from [line for line in mine if redactor.finds(line.text)] or [
                mine[_last_start(texts, redactor)]
            ]


def _last_start(texts: Sequence[str], redactor: Redactor) -> int:
    """The last line from which on the secret is still whole."""
    known = range(len(texts))
    return bisect_right(known, 0, key=lambda n: not redactor.finds("\n".join(texts[n:]))) - 1


def _own() -> list[tuple[str, str]]:
    values = set(secrets_in(os.environ))
    return sorted((name, value) for name, value in os.environ.items() if value in values)


def _standing(place: Place, base: str, values: set[str]) -> set[str]:
    """Those of `values` that the tree of `base` holds. They go in by standard input: an argument is seen by `ps`."""
    whole = [value for value in values if value and "\n" not in value]
    if not whole:
        return set()
    feed = "".join(f"{value}\n" for value in whole).encode("utf-8", "surrogateescape")
    status, out, _ = ask(
        place, "grep", "--no-textconv", "-a", "-h", "-F", "-f", "-", base, stdin=feed
    )
    if status:  # 1: nothing found
        return set()
    text = out.decode("utf-8", "surrogateescape")
    return {value for value in whole if value in text}
