"""Contents for a review: how many tokens they have, where they are cut, which are no text, and how one became another."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from adapters import tokens
from adapters.repository.hardened import Place, listed
from domain.chunk import Part
from domain.chunk_cuts import cut, text_of
from domain.chunk_skips import Known
from domain.skipped import skipped_by_content

READ_AT_ONCE = 32_000_000
"""Bytes."""


class Wanted(NamedTuple):
    """A content that nobody has read yet."""

    blob: str
    path: str
    """One that has it: the extension counts."""
    bytes: int


def read(place: Place, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, bytes]]:
    for some in _batches(wanted):
        feed = "".join(f"{one.blob}\n" for one in some)
        told = listed(place, "cat-file", "--batch", stdin=feed.encode())
        at = 0
        for one in some:
            start = told.index(b"\n", at) + 1
            size = int(told[at:start].split()[2])
            yield one, told[start : start + size]
            at = start + size + 1


def _batches(wanted: Sequence[Wanted]) -> Iterator[list[Wanted]]:
    batch: list[Wanted] = []
    size = 0
    for one in wanted:
        if batch and size + one.bytes > READ_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.bytes
    if batch:
        yield batch


def known_of(path: str, content: bytes) -> Known:
    reason = skipped_by_content(path, content)
    if reason == "binary":
        return Known(0, reason)
    return Known(tokens.count(text_of(content)), reason or "")


def cuts_of(
    place: Place, parts: Iterable[Part], max_tokens: int
) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """The stretches of files that are larger than a chunk."""
    wanted = [Wanted(part.blob, part.path, part.bytes) for part in parts]
    for one, content in read(place, wanted):
        yield one.blob, cut(one.blob, content, max_tokens, tokens.count)


def edits(place: Place, old: str, new: str) -> str:
    """From one content to another: a unified diff without context. Whatever git takes for binary is text to a reviewer."""
    options = ("-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv")
    return listed(place, "diff", *options, old, new).decode("utf-8", "replace")
