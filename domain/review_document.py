"""The state of a review as a document: written for a diff to be read."""

import json
from typing import cast

from domain.review_state import MOST_CURSOR, ReviewState


def written(state: ReviewState) -> str:
    """One line for each file and finding."""
    lines: list[str] = []
    # Not in mode "json": pydantic writes U+FFFD for a path that is not UTF-8 where it is a key.
    for name, value in state.model_dump().items():
        text = json.dumps(value)
        if isinstance(value, tuple) and value:
            items = cast("tuple[object, ...]", value)
            text = _block("[", [json.dumps(item) for item in items], "]")
        elif isinstance(value, dict) and value and name != "streak":
            pairs = cast("dict[str, object]", value).items()
            text = _block("{", [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in pairs], "}")
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _block(opening: str, items: list[str], closing: str) -> str:
    return f"{opening}\n  " + ",\n  ".join(items) + f"\n {closing}"


def from_earlier(text: bytes | str) -> ReviewState:
    """What `.whole_improve_loop.state` of the earlier system says: where it stood, and no more.

    Its streak was bound to nothing, so it is not believed. What cannot be read is a fresh start.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ReviewState()
    fields = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    cursor = fields.get("cursor")
    if not isinstance(cursor, int) or isinstance(cursor, bool) or not 0 <= cursor <= MOST_CURSOR:
        return ReviewState()
    return ReviewState(cursor=cursor)
