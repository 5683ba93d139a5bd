"""The plan of a review: which bytes of which files one look takes in. Plain tuples: a plan may hold a million files."""

from collections.abc import Iterator
from typing import NamedTuple


class Part(NamedTuple):
    """A file, or a stretch of its lines."""

    path: str
    blob: str
    """The id of the file's content."""
    first_line: int = 1
    last_line: int = 0
    """0: to the end of the file."""
    bytes: int = 0
    tokens: int = 0


class Chunk(NamedTuple):
    """What one reviewer is given at once."""

    name: str
    parts: tuple[Part, ...]


class Plan(NamedTuple):
    """Every eligible byte in exactly one chunk."""

    chunks: tuple[Chunk, ...]
    skipped: dict[str, int]
    """How many files are not in the plan, by reason."""
    digest: str
    """Of the content, the scope and the settings it was made from."""

    @property
    def parts(self) -> Iterator[Part]:
        for chunk in self.chunks:
            yield from chunk.parts
