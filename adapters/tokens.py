"""Counting tokens as a model of OpenAI's does (o200k); those of other families come within a fifth of it (facts/performance.md §2)."""

from functools import cache
from typing import Protocol


class _Tokenizer(Protocol):
    def count(self, text: str) -> int: ...


@cache
def _tokenizer() -> _Tokenizer:
    # The binding itself: the wrapper round it makes lists to count them, and takes no text of a million characters.
    from bpe_openai import _bindings  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] -- slow to load

    return _bindings.tokenizer_for_encoding("o200k_base")


def count(text: str) -> int:
    return _tokenizer().count(text)
