"""OpenAI Responses, as far as an agent meets it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stub_cache import Block, Count, tokens, without_marks
from stub_script import Fault, Turn

PATH = "/v1/responses"
ERRORS: dict[str, tuple[int, str, str | None, str]] = {
    "rate-limit": (429, "tokens", "rate_limit_exceeded", "Rate limit reached"),
    "overloaded": (503, "server_error", "server_is_overloaded", "Our servers are overloaded"),
    "unavailable": (503, "server_error", None, "Service unavailable"),
    "server": (500, "server_error", None, "The server had an error"),
    "quota": (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
    "context": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "Your input exceeds the context window of this model.",
    ),
    "auth": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
    "not-found": (404, "invalid_request_error", "model_not_found", "The model does not exist"),
    "bad-request": (400, "invalid_request_error", None, "the script has no answer to this"),
}
THEIRS = {"message", "function_call", "custom_tool_call", "reasoning"}
RESULTS = {"function_call_output", "custom_tool_call_output"}


def blocks(body: Mapping[str, Any]) -> list[Block]:
    found = [Block(f"tool {without_marks(tool)}") for tool in body.get("tools", ())]
    if body.get("instructions"):
        found.append(Block(f"system {body['instructions']}"))
    return found + [Block(without_marks(item)) for item in _items(body)]


def _items(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _by_model(item: Mapping[str, Any]) -> bool:
    kind = item.get("type", "message")
    return kind in THEIRS and (kind != "message" or item.get("role") == "assistant")


def answers(body: Mapping[str, Any]) -> int:
    """Runs of items that the model made."""
    made = [_by_model(item) for item in _items(body)]
    return sum(now and not before for before, now in zip([False, *made[:-1]], made, strict=True))


def said_by_user(body: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    user, results = "", list[str]()
    for item in _items(body):
        if _by_model(item):
            results = []
        elif item.get("type") in RESULTS:
            results.append(_text(item["output"]))
        elif item.get("role") == "user":
            user = _text(item["content"])
    return user, tuple(results)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def opening(body: Mapping[str, Any]) -> str:
    first = next(item for item in _items(body) if item.get("role") == "user")
    return json.dumps([body.get("instructions"), first], sort_keys=True)


def tool_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(tool["name"] for tool in body.get("tools", ()))


def output(turn: Turn, number: int) -> list[dict[str, Any]]:
    done = "incomplete" if turn.reason == "max_tokens" else "completed"
    found: list[dict[str, Any]] = []
    if turn.thinking:
        found.append(
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [{"type": "summary_text", "text": turn.thinking}],
                "encrypted_content": f"sealed {number}",
            }
        )
    if turn.text or turn.refusal:
        part: dict[str, Any] = {"type": "output_text", "text": turn.text, "annotations": []}
        if turn.refusal:
            part = {"type": "refusal", "refusal": turn.text}
        found.append(
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": done,
                "content": [part],
            }
        )
    for at, call in enumerate(turn.calls):
        raw = call.arguments
        if call.custom:
            found.append(
                {
                    "type": "custom_tool_call",
                    "id": f"ctc_{number}_{at}",
                    "call_id": f"call_{number}_{at}",
                    "name": call.name,
                    "input": raw,
                    "status": done,
                }
            )
            continue
        found.append(
            {
                "type": "function_call",
                "id": f"fc_{number}_{at}",
                "call_id": f"call_{number}_{at}",
                "name": call.name,
                "arguments": raw if isinstance(raw, str) else json.dumps(dict(raw)),
                "status": done,
            }
        )
    return found


def output_tokens(turn: Turn) -> int:
    return max(1, tokens(json.dumps(output(turn, 0))))


def whole(turn: Turn, body: Mapping[str, Any], count: Count, number: int) -> dict[str, Any]:
    cut = turn.reason == "max_tokens"
    made = output_tokens(turn)
    response: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_796_000_000 + number,
        "model": body["model"],
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "output": output(turn, number),
        "usage": None,
    }
    if turn.usage:
        response["usage"] = {
            "input_tokens": count.total,
            "input_tokens_details": {
                "cached_tokens": count.read,
                "cache_write_tokens": count.written,
            },
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": count.total + made,
        }
    return response


def events(
    turn: Turn, body: Mapping[str, Any], count: Count, serial: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    done = whole(turn, body, count, serial)
    begun = {**done, "status": "in_progress", "output": [], "usage": None}
    begun["incomplete_details"] = None
    for number, (kind, event) in enumerate(_events(turn, done, begun)):
        yield kind, {**event, "sequence_number": number}


def _events(
    turn: Turn, done: dict[str, Any], begun: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for at, item in enumerate(done["output"]):
        empty = {**item, "status": "in_progress"} if "status" in item else dict(item)
        if item["type"] == "function_call":
            empty["arguments"] = ""
        elif item["type"] == "message":
            empty["content"] = []
        yield "response.output_item.added", {"output_index": at, "item": empty}
        yield from _inside(turn, item, at)
        yield "response.output_item.done", {"output_index": at, "item": item}
    cut = done["status"] == "incomplete"
    yield f"response.{'incomplete' if cut else 'completed'}", {"response": done}


def _inside(turn: Turn, item: dict[str, Any], at: int) -> Iterator[tuple[str, dict[str, Any]]]:
    place: dict[str, Any] = {"item_id": item["id"], "output_index": at}
    if item["type"] == "function_call":
        text = item["arguments"]
        for i in range(0, len(text), turn.chunk):
            yield (
                "response.function_call_arguments.delta",
                {**place, "delta": text[i : i + turn.chunk]},
            )
        yield (
            "response.function_call_arguments.done",
            {**place, "arguments": text, "name": item["name"]},
        )
    elif item["type"] == "message":
        part = item["content"][0]
        kind, name = (
            ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
        )
        place["content_index"] = 0
        yield "response.content_part.added", {**place, "part": {**part, name: ""}}
        text = part[name]
        for i in range(0, len(text), turn.chunk):
            delta = {**place, "delta": text[i : i + turn.chunk], "logprobs": []}
            yield f"response.{kind}.delta", delta
        yield f"response.{kind}.done", {**place, name: text, "logprobs": []}
        yield "response.content_part.done", {**place, "part": part}


def error(fault: Fault) -> tuple[int, dict[str, Any]]:
    status, kind, code, message = ERRORS[fault.kind]
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return fault.status or status, body


def error_event() -> tuple[str, dict[str, Any]]:
    return (
        "error",
        {
            "code": "server_is_overloaded",
            "message": "Our servers are overloaded",
            "param": None,
            "sequence_number": 99,
        },
    )
