"""The plan of a review: which bytes of which files one look takes in. Plain tuples: a plan may hold a million files."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

MAX_TOKENS = 30_000
"""Of a chunk that the reviewer reads by itself."""
MAX_TOKENS_INLINE = 16_000
"""Of a chunk that stands in the prompt."""
WINDOW_PERCENT = 45
"""How much of a reviewer's window a chunk may take."""


class Part(NamedTuple):
    """A file, or a stretch of its lines."""

    path: str
    blob: str
    """The id of the file's content."""
    first_line: int = 1
    """0: a slice of a file that nobody has read yet, so that its lines have no numbers."""
    last_line: int = 0
    """0: to the end of the file."""
    bytes: int = 0
    tokens: int = 0


class Chunk(NamedTuple):
    """What one reviewer is given at once."""

    name: str
    """The folder its first part lies in, and a number where there are more of that folder."""
    parts: tuple[Part, ...]

    @property
    def tokens(self) -> int:
        return sum([part[5] for part in self.parts])

    @property
    def digest(self) -> str:
        """Of what is shown; what it was estimated or counted at is not part of it."""
        rows = [
            f"{path}\0{blob}\0" if first == 1 and not last else f"{path}\0{blob}\0{first}-{last}/{size}\0"
            for path, blob, first, last, size, _ in self.parts
        ]  # fmt: skip
        return sha256("".join(rows).encode("utf-8", "surrogateescape")).hexdigest()


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


class Settings(NamedTuple):
    """What a plan depends on besides the tree."""

    max_tokens: int = MAX_TOKENS
    paths: tuple[str, ...] = ()
    """Globs as in .gitignore; empty: everything."""
    include_generated: bool = False

    @property
    def key(self) -> str:
        words = (str(self.max_tokens), *self.paths, str(self.include_generated))
        return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def most_tokens(max_tokens: int, window_tokens: int = 0, percent: int = WINDOW_PERCENT) -> int:
    """The budget of a chunk: what was asked, or the share of the reviewer's window where that is less."""
    share = window_tokens * percent // 100
    return min(max_tokens, max(share, 1)) if window_tokens else max_tokens


def digest_of(settings: Settings, chunks: Iterable[str]) -> str:
    """The digest of the plan whose chunks have these digests, in this order."""
    whole = sha256(settings.key.encode())
    whole.update("".join(chunks).encode())
    return whole.hexdigest()
