"""Commit messages: text from elsewhere is body only; the trailers are ours (design.md §3)."""

import re
import unicodedata
from collections.abc import Mapping

MAX_SUBJECT = 72
MAX_BODY = 4000

_TRAILER = re.compile(r"^[A-Za-z][A-Za-z0-9-]*[ \t]*:[ \t]|^\(cherry picked from")
_DIRECTIVE = re.compile(
    r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI\*\*\*", re.IGNORECASE
)
_CLOSES = re.compile(r"\b(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing))(:?\s+)(?=[\w./-]*#\d)", re.IGNORECASE)


def printable(text: str) -> str:
    """Without control, escape and bidi characters; newlines and tabs stay."""
    text = re.sub(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)", "", text)
    return "".join(
        c for c in text.encode("utf-8", "replace").decode() if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf")
    )


def clean(text: str) -> tuple[str, str]:
    """Subject and body of a message that somebody else wrote, with nothing in it that acts.

    Trailer-shaped lines are quoted, CI directives and issue-closing words lose their effect,
    sizes are capped. Never empty.
    """
    text = _DIRECTIVE.sub(lambda found: f"({found[0].strip('[]*')})", printable(text))
    text = _CLOSES.sub(r"\1\2issue ", text)
    lines = [line.rstrip() for line in text.strip().split("\n")]
    subject = lines[0].strip().lstrip("-").strip()
    if _TRAILER.match(subject) and subject.split(":")[0].lower() in _ACTING:
        subject = f"> {subject}"
    body = "\n".join(f"> {line}" if _TRAILER.match(line) else line for line in lines[1:]).strip()
    return _cut(subject or "Change", MAX_SUBJECT), _cut(body, MAX_BODY)


_ACTING = {"signed-off-by", "reviewed-by", "acked-by", "co-authored-by", "tested-by"}


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def compose(subject: str, body: str, trailers: Mapping[str, str]) -> str:
    """A whole message: cleaned text, then our trailers, each on one line."""
    lines = [f"{name}: {' '.join(printable(value).split())}" for name, value in trailers.items() if value]
    return "\n\n".join(part for part in (subject, body, "\n".join(lines)) if part) + "\n"
