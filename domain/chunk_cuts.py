"""Cutting a content that is larger than a chunk into stretches of its lines."""

from collections.abc import Callable

from domain.chunk import Part

Count = Callable[[str], int]


def cut(blob: str, content: bytes, max_tokens: int, count: Count) -> tuple[Part, ...]:
    """Stretches of at most `max_tokens`, as long as they can be; their paths are empty.

    A line is never taken apart: one that is larger than a chunk is a stretch of its own, over the budget.
    """
    lines = _lines(content)
    each = [count(text_of(line)) for line in lines]
    made: list[Part] = []
    start = 0
    while start < len(lines):
        end = _longest(each, start, max_tokens)
        piece = b"".join(lines[start:end])
        exact = count(text_of(piece))
        while exact > max_tokens and end - start > 1:  # more, rarely, than its lines one by one
            end -= 1
            piece = b"".join(lines[start:end])
            exact = count(text_of(piece))
        made.append(Part("", blob, start + 1, end, len(piece), exact))
        start = end
    return tuple(made)


def _lines(content: bytes) -> list[bytes]:
    """Lines as every editor and git number them: a lone carriage return ends none."""
    pieces = content.split(b"\n")
    last = [pieces[-1]] if pieces[-1] else []
    return [piece + b"\n" for piece in pieces[:-1]] + last


def _longest(each: list[int], start: int, max_tokens: int) -> int:
    end, tokens = start + 1, each[start]
    while end < len(each) and tokens + each[end] <= max_tokens:
        tokens += each[end]
        end += 1
    return end


def text_of(content: bytes) -> str:
    return content.decode("utf-8", "replace")
