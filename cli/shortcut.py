"""The way round the parser for `swathe plan REPO`, which would take longer than the plan.

It knows the plain words only. Whatever else is typed goes to the parser, which has the help and the complaints.
"""

from collections.abc import Sequence
from typing import Any

FLAGS = {
    "--json": "as_json",
    "--exact": "exact",
    "--sample": "sample",
    "--include-generated": "include_generated",
}
WORDS = {"--base": "base"}
NUMBERS = {
    "--max-review-chunk-tokens": "max_tokens",
    "--reviewer-window-tokens": "window_tokens",
}


def plan_in(typed: Sequence[str]) -> dict[str, Any] | None:
    """What `review_plan.show` is asked for; None: the parser has to look."""
    if not typed or typed[0] != "plan":
        return None
    asked: dict[str, Any] = {}
    words = iter(typed[1:])
    for word in words:
        if word in FLAGS:
            asked[FLAGS[word]] = True
        elif word == "--paths" or word in WORDS or word in NUMBERS:
            value = next(words, "-")
            if value.startswith("-") or (word in NUMBERS and not _plain(value)):
                return None
            if word == "--paths":
                asked.setdefault("paths", []).append(value)
            elif word in WORDS:
                asked[WORDS[word]] = value
            else:
                asked[NUMBERS[word]] = int(value)
        elif word.startswith("-") or "repo" in asked:
            return None
        else:
            asked["repo"] = word
    return asked if "repo" in asked else None


def _plain(number: str) -> bool:
    return number.isascii() and number.isdigit() and len(number) < 10  # noqa: PLR2004 -- no one asks for more
