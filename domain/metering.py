"""What an answer was made of, read from the provider's own bytes on their way to a vendor's agent.

The agent's own count decides nothing. An answer that is not whole, or does not say what it cost, has no count:
it is charged what was reserved for it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from domain.hired import Family
from domain.prices import Tokens

Usage = Mapping[str, Any]
OVER = ("response.completed", "response.incomplete")
"""Events of OpenAI's that end an answer, and count it."""


def metered(family: Family, body: bytes, *, streamed: bool) -> Tokens | None:
    """The tokens of one whole answer; None when it is not whole, or not counted."""
    if family == "claude":
        usage = _claude_stream(body) if streamed else _claude(_object(body))
        return None if usage is None else _of_claude(usage)
    usage = _gpt_stream(body) if streamed else _gpt(_object(body))
    return None if usage is None else _of_gpt(usage)


def _claude(message: Usage) -> Usage | None:
    return _part(message, "usage") if message.get("stop_reason") else None


def _claude_stream(body: bytes) -> Usage | None:
    """Counts of a stream are cumulative: the last one of each kind is the whole."""
    usage: dict[str, Any] = {}
    for event in events(body):
        match event.get("type"):
            case "message_start":
                usage |= _known(_part(_part(event, "message") or {}, "usage"))
            case "message_delta":
                usage |= _known(_part(event, "usage"))
            case "message_stop":
                return usage
            case "error":
                return None
            case _:
                pass
    return None


def _gpt(response: Usage) -> Usage | None:
    return (
        _part(response, "usage") if response.get("status") in {"completed", "incomplete"} else None
    )


def _gpt_stream(body: bytes) -> Usage | None:
    for event in events(body):
        if event.get("type") in OVER:
            return _part(_part(event, "response") or {}, "usage")
    return None


def _of_claude(usage: Usage) -> Tokens | None:
    """A server that took several steps for one answer bills each, and names only the last on top."""
    steps = usage.get("iterations")
    counted = [_claude_tokens(usage)]
    if isinstance(steps, list):
        listed = [
            _claude_tokens(cast("Usage", step))
            for step in cast("list[object]", steps)
            if isinstance(step, Mapping)
        ]
        if listed and all(listed):
            counted.append(sum((one for one in listed if one), Tokens()))
    return max(
        (one for one in counted if one), key=lambda one: one.input + one.output, default=None
    )


def _claude_tokens(usage: Usage) -> Tokens | None:
    return _tokens(
        plain=_count(usage, "input_tokens"),
        read=_count(usage, "cache_read_input_tokens"),
        written=_count(usage, "cache_creation_input_tokens"),
        output=_count(usage, "output_tokens"),
    )


def _of_gpt(usage: Usage) -> Tokens | None:
    """Its input counts the cached part too."""
    details = _part(usage, "input_tokens_details") or {}
    read, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    return _tokens(
        plain=_count(usage, "input_tokens") - read - written,
        read=read,
        written=written,
        output=_count(usage, "output_tokens"),
    )


def _tokens(plain: int, read: int, written: int, output: int) -> Tokens | None:
    if min(plain, read, written) < 0 or plain + read + written <= 0 or output <= 0:
        return None
    return Tokens(plain=plain, read=read, written=written, output=output)


def events(body: bytes) -> Iterator[Usage]:
    """The events of a stream, by their data. What is no JSON object says nothing."""
    for line in body.replace(b"\r\n", b"\n").split(b"\n"):
        if line.startswith(b"data:"):
            yield _object(line[5:])


def _object(text: bytes) -> Usage:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("Usage", found) if isinstance(found, dict) else {}


def _part(whole: Usage, name: str) -> Usage | None:
    found = whole.get(name)
    return cast("Usage", found) if isinstance(found, Mapping) else None


def _known(usage: Usage | None) -> dict[str, Any]:
    return {name: value for name, value in (usage or {}).items() if value is not None}


def _count(usage: Usage, name: str) -> int:
    found = usage.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
