"""Packing: whole folders into chunks, folders that are too large by files, files that are too large by slices.

Windowed best fit: an item goes where it leaves the least room, among the few chunks that are still open. Those are
near in path order, so that what one look takes in belongs together.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from domain.chunk import Chunk, Part, Plan, Settings, digest_of
from domain.chunk_skips import Sifted

OPEN_CHUNKS = 8
"""More would pack no tighter, and put together what lies farther apart."""

ROOM_PERCENT = 2
"""What is left free in a first plan, so that most edits find room where their file is."""

Cuts = Mapping[str, Sequence[Part]]
"""The line ranges of contents that are larger than a chunk, by blob; of those that were read. Their paths are empty."""
UNCUT: Cuts = {}


class _Bin:
    """A chunk in the making."""

    __slots__ = ("folder", "parts", "room")

    def __init__(self, folder: str, room: int) -> None:
        self.folder = folder
        self.room = room
        self.parts: list[Part] = []


class _Packer:
    """The chunks so far, in the order in which they were begun, and those of them that are open."""

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self.bins: list[_Bin] = []
        self.open: list[_Bin] = []

    def place(self, folder: str, parts: Sequence[Part], tokens: int) -> None:
        """Put the parts, which belong together, where they leave the least room."""
        best: _Bin | None = None
        for one in self.open:
            if one.room >= tokens and (best is None or one.room < best.room):
                best = one
        if best is None:
            best = self._begun(folder)
        best.parts.extend(parts)
        best.room -= tokens

    def _begun(self, folder: str) -> _Bin:
        begun = _Bin(folder, self.max_tokens)
        self.bins.append(begun)
        self.open.append(begun)
        if len(self.open) > OPEN_CHUNKS:
            self.open.remove(min(self.open[:-1], key=lambda one: one.room))
        return begun


def packed(
    packages: Mapping[str, Sequence[Part]], max_tokens: int, cuts: Cuts = UNCUT
) -> tuple[Chunk, ...]:
    """The chunks of these folders."""
    most = max(max_tokens - max_tokens * ROOM_PERCENT // 100, 1)
    packer = _Packer(most)
    for folder in sorted(packages):
        parts = packages[folder]
        tokens = sum([part[5] for part in parts])
        if tokens <= most:
            packer.place(folder, parts, tokens)
            continue
        for part in parts:
            if part.tokens <= max_tokens:
                packer.place(folder, (part,), part.tokens)
            else:
                for piece in pieces(part, max_tokens, cuts):
                    packer.place(folder, (piece,), piece.tokens)
    return _named(packer.bins)


def pieces(part: Part, max_tokens: int, cuts: Cuts) -> Iterable[Part]:
    """A file that is too large, as the line ranges it was cut into when it was read; unread, as slices of about a chunk."""
    if part.blob in cuts:
        return [piece._replace(path=part.path) for piece in cuts[part.blob]]
    each = part.bytes * max_tokens // part.tokens
    made: list[Part] = []
    for start in range(0, part.bytes, each):
        size = min(each, part.bytes - start)
        tokens = -(-part.tokens * size // part.bytes)
        made.append(part._replace(first_line=0, bytes=size, tokens=min(tokens, max_tokens)))
    return made


def _named(bins: Iterable[_Bin]) -> tuple[Chunk, ...]:
    names = Names()
    return tuple(Chunk(names.new(one.folder), tuple(one.parts)) for one in bins)


class Names:
    """The names of a plan's chunks: the folder's, or the folder's with a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._numbers: Counter[str] = Counter()

    def new(self, folder: str) -> str:
        """A name that no other chunk has; a folder may be called `a#2`."""
        folder = folder or "."
        while True:
            self._numbers[folder] += 1
            number = self._numbers[folder]
            name = folder if number == 1 else f"{folder}#{number}"
            if name not in self._taken:
                self._taken.add(name)
                return name


def planned(sifted: Sifted, settings: Settings, cuts: Cuts = UNCUT) -> Plan:
    """The plan of a tree that nobody planned before. Equal files and settings make an equal plan."""
    chunks = packed(sifted.packages, settings.max_tokens, cuts)
    skipped = dict(sorted(sifted.skipped.items()))
    return Plan(chunks, skipped, digest_of(settings, (chunk.digest for chunk in chunks)))
