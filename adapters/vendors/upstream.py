"""The provider behind the gateway: the one address there is, and the one place where the key is put on a request."""

import json
from collections.abc import Mapping
from typing import Any, cast

import httpx2

from adapters.models.families import Connection
from domain.model_faults import BILLING, Kind, ModelFault
from domain.passage import HEADERS

ADDRESS = {"claude": "https://api.anthropic.com", "gpt": "https://api.openai.com/v1"}
CONNECT_SECONDS = 20.0
SAID_CHARACTERS = 300

STATUS: dict[int, Kind] = {
    401: "credentials",
    402: "quota",
    403: "credentials",
    404: "no-model",
    408: "timeout",
    429: "rate-limit",
    503: "overloaded",
    529: "overloaded",
}
FULL = ("context_length_exceeded", "prompt is too long", "context window")


def client(connection: Connection) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(connection.silent_seconds, connect=CONNECT_SECONDS)
    )


def address_of(connection: Connection, path: str, query: str) -> str:
    """Where a path of the gateway's leads. OpenAI's address holds the version, Anthropic's does not."""
    base = (connection.address or ADDRESS[connection.family]).rstrip("/")
    path = path if connection.family == "claude" else path.removeprefix("/v1")
    return f"{base}{path}{f'?{query}' if query else ''}"


def headers_of(connection: Connection, given: Mapping[str, str]) -> dict[str, str]:
    """The agent's own that pass, and the real key."""
    kept = {name: value for name, value in given.items() if name in HEADERS}
    key = (
        {"x-api-key": connection.key}
        if connection.family == "claude"
        else {"authorization": f"Bearer {connection.key}"}
    )
    return {**kept, **key, "accept-encoding": "identity"}


def fault_of(status: int, headers: Mapping[str, str], body: bytes) -> ModelFault:
    """What a provider said instead of an answer."""
    said = _said(body)
    kind = STATUS.get(status, "server" if status >= 500 else "bad-request")  # noqa: PLR2004
    if kind == "bad-request" and any(words in said.lower() for words in FULL):
        kind = "context"
    if kind in {"bad-request", "rate-limit"} and any(words in said.lower() for words in BILLING):
        kind = "quota"
    return ModelFault.from_status(kind, said, retry_after=_seconds(headers.get("retry-after")))


def _said(body: bytes) -> str:
    try:
        found: Any = json.loads(body)
        error = cast("Mapping[str, Any]", found.get("error") or {})
        words = [error.get("message"), error.get("code"), error.get("type")]
    except (ValueError, AttributeError, RecursionError):
        words = [body.decode("utf-8", "replace")]
    return " ".join(" ".join(str(word) for word in words if word).split())[:SAID_CHARACTERS]


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
