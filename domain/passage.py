"""What passes from a vendor's agent to the one address it may reach: its model, asked in a way that can be priced.

An agent's commands run in the same sandbox, and may ask as the agent does. So nothing passes that would make the
provider fetch an address or run something elsewhere, that costs more than tokens, or that is another model.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from domain.hired import Family

Body = Mapping[str, Any]


class Way(NamedTuple):
    """A path that is open."""

    path: str
    queries: tuple[str, ...] = ("",)
    priced: bool = True
    """Whether it makes an answer."""


WAYS: dict[Family, tuple[Way, ...]] = {
    "claude": (
        Way("/v1/messages", ("", "beta=true")),
        Way("/v1/messages/count_tokens", ("", "beta=true"), priced=False),
    ),
    "gpt": (Way("/v1/responses"),),
}

HEADERS = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "openai-beta",
        "originator",
        "user-agent",
    }
)
"""Of a request, that pass. Never one that names a key."""
BACK = frozenset({"content-type", "retry-after", "request-id", "x-request-id", "x-should-retry"})
"""Of an answer."""

OWN_TOOLS: dict[Family, tuple[str, ...]] = {
    "claude": ("", "custom", "bash_", "text_editor_", "memory_"),
    "gpt": ("function", "custom", "local_shell", "namespace"),
}
"""Kinds of tools that the agent runs itself. Those with a `_` at the end are followed by a date."""

PLAIN: dict[Family, dict[str, tuple[object, ...]]] = {
    "claude": {
        "service_tier": (None, "auto", "standard_only"),
        "speed": (None, "standard"),
        "inference_geo": (None, "global"),
    },
    "gpt": {"service_tier": (None, "auto", "default", "flex")},
}
"""Settings that cost more than the price list says, unless they are one of these."""
CLOSED: dict[Family, tuple[str, ...]] = {
    "claude": ("mcp_servers", "container", "fallbacks"),
    "gpt": ("background", "store", "conversation", "previous_response_id", "prompt"),
}
"""Settings that have to be absent or empty: what they name is run, kept or made up elsewhere."""


CLEARING = "clear_"
"""What an edit of the context is called that only leaves something out."""


def way(family: Family, path: str, query: str) -> Way | None:
    """The way a request takes, if that is open."""
    return next((one for one in WAYS[family] if one.path == path and query in one.queries), None)


def objection(family: Family, body: Body, model: str) -> str:
    """Why a request does not pass; empty when it does."""
    if body.get("model") != model:
        return f"the model {body.get('model')!r} is not the one that was hired, {model!r}"
    for name in CLOSED[family]:
        if body.get(name):
            return f"{name!r} is not open to this agent"
    for name, plain in PLAIN[family].items():
        if body.get(name) not in plain:
            return f"{name} {body[name]!r} has another price"
    settings = body.get("context_management")
    edits = cast("Body", settings).get("edits") if isinstance(settings, Mapping) else settings
    for edit in _mappings(edits):
        if not str(edit.get("type")).startswith(CLEARING):
            return f"context_management {edit.get('type')!r} makes answers of its own"
    for part in _parts(body):
        if why := _elsewhere(part) or _run_elsewhere(family, part):
            return why
    return _run_elsewhere(family, body)


def _run_elsewhere(family: Family, holder: Body) -> str:
    """A tool among those that a request or a piece of it brings, which the agent does not run itself."""
    heap = [holder.get("tools")]
    while heap:
        for tool in _mappings(heap.pop()):
            kind = str(tool.get("type") or "")
            own = OWN_TOOLS[family]
            if not any(kind == one or (one.endswith("_") and kind.startswith(one)) for one in own):
                return f"the tool {kind!r} is run by the provider, and not held back by a sandbox"
            heap.append(tool.get("tools"))
    return ""


def _parts(body: Body) -> Iterator[Body]:
    """Pieces of content, and what is nested in results of tools. Arguments of calls are the model's own words."""
    heap = [body.get("system"), body.get("messages"), body.get("input"), body.get("instructions")]
    while heap:
        for piece in _mappings(heap.pop()):
            yield piece
            heap += [piece.get("content"), piece.get("output")]


def _elsewhere(part: Body) -> str:
    """What in a piece of content the provider would fetch from somewhere."""
    source = part.get("source")
    if isinstance(source, Mapping):
        kind = str(cast("Body", source).get("type"))
        if kind not in {"base64", "text", "content"}:
            return f"a source of type {kind!r} would be fetched by the provider"
    if str(part.get("type")) in {"container_upload", "item_reference"}:
        return f"{part['type']!r} refers to what the provider keeps"
    for name in ("image_url", "file_url", "file_id"):
        given = part.get(name)
        if given and not str(given).startswith("data:"):
            return f"{name!r} would be fetched by the provider"
    return ""


def _mappings(given: object) -> Iterator[Body]:
    """The mappings in a list; one by itself is a list of one."""
    for one in cast("list[object]", given) if isinstance(given, list) else [given]:
        if isinstance(one, Mapping):
            yield cast("Body", one)
