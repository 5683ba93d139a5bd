"""A provider's prompt cache: which part of a request was seen before, block by block.

Anthropic looks for a stored prefix at each breakpoint and at most 20 blocks before it, and stores the prefixes that
end at breakpoints. OpenAI stores and finds every prefix, from 1,024 tokens on, in steps of 128, for one cache key.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

LOOKBACK = 20
LEAST, STEP = 1024, 128
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Block:
    text: str
    breakpoint: bool = False

    @property
    def tokens(self) -> int:
        return tokens(self.text)


@dataclass(frozen=True)
class Count:
    """Tokens of one request."""

    read: int
    """Found in the cache."""
    written: int
    """New in it."""
    plain: int
    """Neither."""

    @property
    def total(self) -> int:
        return self.read + self.written + self.plain


@dataclass
class PromptCache:
    seen: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)

    def at_breakpoints(self, blocks: Sequence[Block]) -> Count:
        """As Anthropic counts."""
        digests, sizes = _prefixes(blocks)
        marks = [at for at, block in enumerate(blocks) if block.breakpoint]
        with self.lock:
            hits = [
                at
                for mark in marks
                for at in range(mark, max(mark - LOOKBACK, -1), -1)
                if digests[at] in self.seen
            ]
            self.seen.update(digests[mark] for mark in marks)
        read = sizes[max(hits)] if hits else 0
        last = sizes[marks[-1]] if marks else 0
        total = sizes[-1] if sizes else 0
        return Count(read=read, written=max(last - read, 0), plain=total - max(last, read))

    def by_prefix(self, blocks: Sequence[Block], key: str) -> Count:
        """As OpenAI counts."""
        digests, sizes = _prefixes([Block(key), *blocks])
        with self.lock:
            hits = [at for at, digest in enumerate(digests) if digest in self.seen]
            self.seen.update(digests)
        own = tokens(key)
        found = sizes[max(hits)] - own if hits else 0
        read = 0 if found < LEAST else LEAST + (found - LEAST) // STEP * STEP
        return Count(read=read, written=0, plain=sizes[-1] - own - read)


def tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def without_marks(value: Any) -> str:
    """The content of a block, in which a breakpoint does not count."""
    return json.dumps(_stripped(value), sort_keys=True)


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _stripped(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [_stripped(item) for item in value]
    return value


def _prefixes(blocks: Sequence[Block]) -> tuple[list[str], list[int]]:
    digest, size = hashlib.sha256(), 0
    digests, sizes = list[str](), list[int]()
    for block in blocks:
        digest.update(block.text.encode() + b"\0")
        size += block.tokens
        digests.append(digest.copy().hexdigest())
        sizes.append(size)
    return digests, sizes
