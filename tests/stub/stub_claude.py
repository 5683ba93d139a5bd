"""Anthropic Messages, as far as an agent meets it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stub_cache import Block, Count, tokens, without_marks
from stub_script import Call, Fault, Turn

PATH = "/v1/messages"
ERRORS: dict[str, tuple[int, str, str]] = {
    "rate-limit": (429, "rate_limit_error", "This request would exceed your rate limit."),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "unavailable": (503, "api_error", "Service unavailable"),
    "server": (500, "api_error", "Internal server error"),
    "quota": (400, "invalid_request_error", "Your credit balance is too low to access the API."),
    "context": (
        400,
        "invalid_request_error",
        "prompt is too long: 213462 tokens > 200000 maximum",
    ),
    "auth": (401, "authentication_error", "invalid x-api-key"),
    "not-found": (404, "not_found_error", "model: no-such-model"),
    "bad-request": (400, "invalid_request_error", "the script has no answer to this"),
}


def blocks(body: Mapping[str, Any]) -> list[Block]:
    """Tools, system, messages: the order of the cached prefix."""
    found = [_block("tool", tool) for tool in body.get("tools", ())]
    system = body.get("system") or []
    parts = [{"type": "text", "text": system}] if isinstance(system, str) else system
    found += [_block("system", part) for part in parts]
    for message in body["messages"]:
        content = message["content"]
        inner = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [_block(message["role"], part) for part in inner]
    if body.get("cache_control") and found:
        found[-1] = Block(found[-1].text, breakpoint=True)
    return found


def _block(role: str, part: Mapping[str, Any]) -> Block:
    return Block(f"{role} {without_marks(part)}", breakpoint=bool(part.get("cache_control")))


def answers(body: Mapping[str, Any]) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def said_by_user(body: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The last words of the user, and what tools said since the last answer."""
    user, results = "", list[str]()
    for message in body["messages"]:
        if message["role"] == "assistant":
            results = []
            continue
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                user = part["text"]
            elif part["type"] == "tool_result":
                results.append(_text(part.get("content", "")))
    return user, tuple(results)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def opening(body: Mapping[str, Any]) -> str:
    return json.dumps([body.get("system"), body["messages"][0]], sort_keys=True)


def tool_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(tool["name"] for tool in body.get("tools", ()))


def content(turn: Turn, number: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if turn.thinking:
        found.append({"type": "thinking", "thinking": turn.thinking, "signature": f"sig{number}"})
    if turn.text:
        found.append({"type": "text", "text": turn.text})
    for at, call in enumerate(turn.calls):
        found.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number}_{at}",
                "name": call.name,
                "input": _input(call),
            }
        )
    return found


def _input(call: Call) -> Any:
    if not isinstance(call.arguments, str):
        return dict(call.arguments)
    try:
        return json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}


def output_tokens(turn: Turn) -> int:
    return max(1, tokens(json.dumps(content(turn, 0))))


def usage(count: Count, output: int) -> dict[str, Any]:
    return {
        "input_tokens": count.plain,
        "cache_creation_input_tokens": count.written,
        "cache_read_input_tokens": count.read,
        "output_tokens": output,
    }


def whole(turn: Turn, body: Mapping[str, Any], count: Count, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content(turn, number),
        "stop_reason": turn.reason,
        "stop_sequence": None,
    }
    return message | ({"usage": usage(count, output_tokens(turn))} if turn.usage else {})


def events(
    turn: Turn, body: Mapping[str, Any], count: Count, number: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = whole(turn, body, count, number) | {"content": [], "stop_reason": None}
    if turn.usage:
        begun["usage"] = usage(count, 1)
    yield "message_start", {"message": begun}
    for at, part in enumerate(content(turn, number)):
        kind, empty, deltas = _deltas(turn, part, at)
        yield "content_block_start", {"index": at, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"index": at, "delta": {"type": kind, **delta}}
        if part["type"] == "thinking":
            signed = {"type": "signature_delta", "signature": part["signature"]}
            yield "content_block_delta", {"index": at, "delta": signed}
        yield "content_block_stop", {"index": at}
    last: dict[str, Any] = {"delta": {"stop_reason": turn.reason, "stop_sequence": None}}
    if turn.usage:
        last["usage"] = usage(count, output_tokens(turn))
    yield "message_delta", last
    yield "message_stop", {}


def _deltas(
    turn: Turn, part: dict[str, Any], at: int
) -> tuple[str, dict[str, Any], Iterator[dict[str, str]]]:
    def chunked(name: str, text: str) -> Iterator[dict[str, str]]:
        return ({name: text[i : i + turn.chunk]} for i in range(0, len(text), turn.chunk))

    match part["type"]:
        case "thinking":
            empty = {**part, "thinking": "", "signature": ""}
            return "thinking_delta", empty, chunked("thinking", part["thinking"])
        case "text":
            return "text_delta", {**part, "text": ""}, chunked("text", part["text"])
        case _:
            call = turn.calls[at - bool(turn.thinking) - bool(turn.text)]
            raw = call.arguments if isinstance(call.arguments, str) else json.dumps(part["input"])
            return "input_json_delta", {**part, "input": {}}, chunked("partial_json", raw)


def error(fault: Fault) -> tuple[int, dict[str, Any]]:
    status, kind, message = ERRORS[fault.kind]
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_stub"}
    return fault.status or status, body


def error_event() -> tuple[str, dict[str, Any]]:
    return "error", {"error": {"type": "overloaded_error", "message": "Overloaded"}}
