"""Planning again after a change: a file stays in its chunk.

What has not changed is moved by nobody else's edit. An edited file stays where it is while its chunk has room, else
it alone goes elsewhere; a new file joins its folder, or a neighbour. Only where a change took text away, and the plan
is more than `SLACK` above what it needs, is the emptiest chunk given up, and its files go to others.

So a kept plan depends on the one before it, and is itself kept; the plan that nobody planned before (`planned`)
depends on the tree and the settings alone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from domain.chunk import Chunk, Part
from domain.chunk_packing import Names

NEAR = 8
"""Chunks to either side of a folder's own in which its files may lie."""
TIGHT, SLACK = 1.02, 1.06
"""Chunks per chunk needed: up to here a new one may be begun beside others with room; from there on one is given up."""


class Standing(NamedTuple):
    """A plan as it stands, by the positions of its chunks; what is large is looked up when it is needed."""

    tokens: dict[int, int]
    """By position. Changed in the course of planning."""
    chunk_at: Callable[[int], Chunk]
    homes: Callable[[str], Iterable[int]]
    """Positions of the chunks that hold files of a folder."""
    names: Callable[[], Iterable[str]]


Pieces = Mapping[str, tuple[Part, ...]]
"""The parts of each changed file, by path; none when it is in the plan no more."""


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


class Replanning:
    """One change of a plan. `touched` has the chunks that differ afterwards; None for one that is gone."""

    def __init__(self, standing: Standing, max_tokens: int) -> None:
        self.standing = standing
        self.tokens = standing.tokens
        self.max_tokens = max_tokens
        self.total = sum(standing.tokens.values())
        self.parts: dict[int, list[Part]] = {}
        self.names: dict[int, str] = {}
        self.new_homes: dict[str, set[int]] = {}
        self.known_names: Names | None = None

    def change(self, pieces: Pieces) -> dict[int, Chunk | None]:
        before, homes = self.total, self._homes_of(pieces)
        homeless: list[Part] = []
        incoming: dict[int, list[Part]] = {}
        for path in sorted(pieces):
            held = homes.get(path, [])
            for position, part in zip(held, pieces[path], strict=False):
                incoming.setdefault(position, []).append(part)
            homeless += pieces[path][len(held) :]
            for position in held:
                incoming.setdefault(position, [])
        for position, parts in incoming.items():
            homeless += self._updated(position, parts, pieces)
        self.total += sum(part.tokens for part in homeless)
        for part in sorted(
            homeless, key=lambda part: (-part.tokens, part)
        ):  # large ones find no room later
            self._place(part)
        if self.total < before:
            self._give_up_what_is_not_needed()
        return {
            position: Chunk(self.names[position], tuple(parts)) if parts else None
            for position, parts in self.parts.items()
        }

    def _homes_of(self, pieces: Pieces) -> dict[str, list[int]]:
        """Where the parts of the changed files are, in the order of their lines."""
        by_folder: dict[str, set[str]] = {}
        for path in pieces:
            by_folder.setdefault(folder_of(path), set()).add(path)
        found: dict[str, list[tuple[int, int]]] = {}
        for folder, paths in by_folder.items():
            for position in sorted(self.standing.homes(folder)):
                for part in self._opened(position):
                    if part.path in paths:
                        found.setdefault(part.path, []).append((part.first_line, position))
        return {path: [position for _, position in sorted(held)] for path, held in found.items()}

    def _opened(self, position: int) -> list[Part]:
        if position in self.parts:
            return self.parts[position]
        return list(self.standing.chunk_at(position).parts)

    def _touch(self, position: int) -> list[Part]:
        if position not in self.parts:
            chunk = self.standing.chunk_at(position)
            self.parts[position], self.names[position] = list(chunk.parts), chunk.name
        return self.parts[position]

    def _updated(self, position: int, incoming: list[Part], pieces: Pieces) -> list[Part]:
        """Put the new content where the old one was; what has no room there comes back."""
        before = self._touch(position)
        waiting = {path: [p for p in incoming if p.path == path] for path in pieces}
        kept: list[Part] = []
        for part in before:
            if part.path not in pieces:
                kept.append(part)
            elif waiting[part.path]:
                kept.append(waiting[part.path].pop(0))
        leaving: list[Part] = []
        tokens = sum(part.tokens for part in kept)
        for part in sorted(incoming, key=lambda part: (-part.tokens, part.path)):
            if tokens <= self.max_tokens or len(kept) == 1:
                break
            kept.remove(part)
            leaving.append(part)
            tokens -= part.tokens
        self._set(position, kept)
        self.total += sum(part.tokens for part in kept) - sum(part.tokens for part in before)
        return leaving

    def _set(self, position: int, parts: list[Part]) -> None:
        self.parts[position] = parts
        if parts:
            self.tokens[position] = sum(part.tokens for part in parts)
        else:
            self.tokens.pop(position, None)

    def _place(self, part: Part) -> None:
        position = self._room_for(part)
        if position is None:
            position = max((*self.tokens, *self.parts), default=-1) + 1
            self.parts[position] = []
            self.names[position] = self._name(folder_of(part.path))
            self.tokens[position] = 0
        self._touch(position).append(part)
        self.tokens[position] += part.tokens
        self.new_homes.setdefault(folder_of(part.path), set()).add(position)

    def _room_for(self, part: Part) -> int | None:
        folder = folder_of(part.path)
        homes = {
            p
            for p in (*self.standing.homes(folder), *self.new_homes.get(folder, ()))
            if p in self.tokens
        }
        near = {home + step for home in homes for step in range(-NEAR, NEAR + 1)}
        for candidates in (homes, near):
            found = self._best(candidates, part.tokens)
            if found is not None:
                return found
        if len(self.tokens) + 1 <= TIGHT * self._needed:
            return None
        return self._best(self.tokens, part.tokens)

    def _best(self, candidates: Iterable[int], tokens: int) -> int | None:
        """The one that is left with the least room; of equals, the first."""
        most = self.max_tokens - tokens
        fitting = [(-self.tokens[p], p) for p in candidates if self.tokens.get(p, most + 1) <= most]
        return min(fitting)[1] if fitting else None

    @property
    def _needed(self) -> int:
        return max(-(-self.total // self.max_tokens), 1)

    def _name(self, folder: str) -> str:
        if self.known_names is None:
            self.known_names = Names((*self.standing.names(), *self.names.values()))
        return self.known_names.new(folder)

    def _give_up_what_is_not_needed(self) -> None:
        while len(self.tokens) > max(SLACK * self._needed, self._needed + 1):
            emptiest = min(self.tokens, key=lambda position: (self.tokens[position], position))
            moving = self._placed_elsewhere(emptiest)
            if moving is None:
                return
            self._touch(emptiest)
            self._set(emptiest, [])
            for part, position in moving:
                self._touch(position).append(part)
                self.tokens[position] += part.tokens
                self.new_homes.setdefault(folder_of(part.path), set()).add(position)

    def _placed_elsewhere(self, position: int) -> list[tuple[Part, int]] | None:
        """Where the parts of a chunk fit among the others; None when they do not."""
        rooms = {p: self.max_tokens - tokens for p, tokens in self.tokens.items() if p != position}
        moving: list[tuple[Part, int]] = []
        for part in sorted(self._opened(position), key=lambda part: (-part.tokens, part.path)):
            fitting = [(room, p) for p, room in rooms.items() if room >= part.tokens]
            if not fitting:
                return None
            _, best = min(fitting)
            rooms[best] -= part.tokens
            moving.append((part, best))
        return moving
