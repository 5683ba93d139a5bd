"""A sweep: a plan, the terms it is reviewed on, and the key under which each part of it counts as clean."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple

from pydantic import Field, field_validator

from domain.chunk import Chunk, Part, Plan
from domain.value import Value

StopWhen = Literal["streak", "covered", "covered_by_both"]
ContextMode = Literal["explore", "inline"]
Coverage = Literal["any", "full"]


class Terms(Value):
    """What a review is asked to do. Two reviews on other terms say nothing about each other."""

    axis: str = ""
    """What the reviewer looks for; empty: whatever is wrong."""
    scope: tuple[str, ...] = ()
    families: tuple[str, ...] = Field(min_length=1, max_length=2)
    """Two check each other (`dual`); one is `mono`."""
    stop_when: StopWhen = "covered"
    context_mode: ContextMode = "explore"
    coverage: Coverage = "any"
    """How much of a chunk a reviewer has to open in `explore`: a file of it, or every byte."""
    chunk_tokens: int = Field(default=30_000, gt=0)
    instructions: str = ""
    """Digest of what else a verdict depends on: the reviewer's instructions, a linter's version and rules."""

    @field_validator("families")
    @classmethod
    def _distinct(cls, families: tuple[str, ...]) -> tuple[str, ...]:
        if "" in families or len(set(families)) < len(families):
            raise ValueError(f"{families!r} are not different families")
        return families

    @property
    def criterion(self) -> str:
        """What a verdict on a file depends on beside the file and its package. Who gave it and when to stop are not."""
        return _digest(
            self.axis, self.context_mode, self.coverage, str(self.chunk_tokens), self.instructions
        )


class Uncut(Exception):
    """A file larger than a chunk was planned as slices, and not yet cut into ranges of lines: read it, then plan."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r} is larger than a chunk and was not cut into ranges of lines yet. Count it before it is reviewed."


class Home(NamedTuple):
    """Where a part of a file is reviewed."""

    chunk: int
    part: Part
    key: str


@dataclass(frozen=True)
class Sweep:
    """No `Value`: a plan may hold a million parts, and it was checked where it was made."""

    plan: Plan
    terms: Terms

    def __post_init__(self) -> None:
        """Two slices without line numbers may look alike, and a verdict on one is none on the other."""
        for part in self.plan.parts:
            if not part.first_line:
                raise Uncut(part.path)

    @property
    def size(self) -> int:
        return len(self.plan.chunks)

    @cached_property
    def binding(self) -> str:
        """Digest of all that a streak is about: content, scope, axis, settings, families, chunks."""
        parts = (
            f"{chunk.name}\0{part.path}\0{part.blob}\0{part.first_line}\0{part.last_line}"
            for chunk in self.plan.chunks
            for part in chunk.parts
        )
        return _digest(self.plan.digest, self.terms.to_json(), *parts)

    @cached_property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """For each part of each chunk: its content within its package's listing, under the criterion.

        A package's listing is the names of its files: a new neighbour may change what a file
        means, an edit of one does not (it would cost the review of five times as many tokens).
        """
        names: dict[str, set[str]] = {}
        for part in self.plan.parts:
            names.setdefault(_package(part.path), set()).add(part.path)
        criterion = self.terms.criterion
        listings = {package: _digest(criterion, *sorted(files)) for package, files in names.items()}
        return tuple(
            tuple(_key(part, listings[_package(part.path)]) for part in chunk.parts)
            for chunk in self.plan.chunks
        )

    @cached_property
    def homes(self) -> dict[str, tuple[Home, ...]]:
        """By path: where its parts are."""
        found: dict[str, list[Home]] = {}
        for index, chunk in enumerate(self.plan.chunks):
            for part, key in zip(chunk.parts, self.keys[index], strict=True):
                found.setdefault(part.path, []).append(Home(index, part, key))
        return {path: tuple(homes) for path, homes in found.items()}

    def blob(self, path: str) -> str:
        """The content of a file now; empty: it is not in the plan."""
        homes = self.homes.get(path)
        return homes[0].part.blob if homes else ""

    def home(self, path: str, line: int) -> int | None:
        """The chunk that shows this line. A line that no part shows is looked for where the file begins."""
        homes = self.homes.get(path, ())
        for chunk, part, _ in homes:
            if part.first_line <= line and (not part.last_line or line <= part.last_line):
                return chunk
        return homes[0].chunk if homes else None

    def chunk(self, index: int) -> Chunk:
        return self.plan.chunks[index]

    def content(self, index: int) -> str:
        """Digest of what a reviewer of this chunk would see, and of what he is to look for."""
        return _digest(*self.keys[index])[:16]

    def around(self, cursor: int) -> Iterator[int]:
        """Every chunk once, from the cursor on."""
        return ((cursor + step) % self.size for step in range(self.size))


def _package(path: str) -> str:
    return path.rpartition("/")[0]


def _key(part: Part, listing: str) -> str:
    where = f"{part.first_line}\0{part.last_line}"
    return _digest(listing, part.path, part.blob, where)[:20]


def _digest(*texts: str) -> str:
    whole = json.dumps(texts)
    return sha256(whole.encode()).hexdigest()
