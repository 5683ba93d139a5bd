"""Commit messages: text from elsewhere is body only; the trailers are ours (design.md §3)."""

import re
import unicodedata
from collections.abc import Mapping

MAX_SUBJECT = 72
MAX_BODY = 4000
MAX_READ = 100_000
"""Characters of somebody's message that are looked at."""

_TRAILER = re.compile(r"^(?:[A-Za-z0-9-]+[ \t]*:(?!//)[ \t]*\S|\(cherry picked from)")
"""What git takes for a trailer (trailer.c); an address is none."""

_SUBJECT_TRAILER = re.compile(r"^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-by[ \t]*:", re.IGNORECASE)

_DIVIDER = re.compile(r"^(?:---(?:\s|$)|diff -|Index: )")
"""Where git ends a message that it reads as a patch; trailers below would be lost."""

_DIRECTIVE = re.compile(
    r"\[\s*(?:skip[\s_-]+[a-z]+|no[\s_-]+(?:ci|cd|build|deploy)|[a-z]+[\s_-]+skip)\s*\]|\*\*\*NO_CI\*\*\*",
    re.IGNORECASE,
)

_CLOSES = re.compile(
    r"\b(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)"
    r"(?=:?\s+(?:issues?\s+)?(?:[\w./-]*[#!]\d|GH-\d|https?://))",
    re.IGNORECASE,
)

_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b.?", re.DOTALL
)


def printable(text: str) -> str:
    """Without control, escape and bidi characters; newlines and tabs stay."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = re.sub(r"\r\n?|[\u2028\u2029\x85]", "\n", _ESCAPE.sub("", text))
    return "".join(
        c
        for c in text.encode("utf-8", "replace").decode()
        if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf")
    )


def tame(text: str) -> str:
    """Printable, and without words that CI or a forge would act on."""
    text = printable(text)
    if "[" in text or "*" in text:
        text = _DIRECTIVE.sub(lambda found: f"({found[0].strip('[]* ')})", text)
    return _CLOSES.sub(r"(\1)", text)


def clean(text: str) -> tuple[str, str]:
    """Subject and body of a message that somebody else wrote, with nothing in it that acts.

    Trailer-shaped lines are quoted, CI directives and issue-closing words lose their effect,
    sizes are capped. Never empty.
    """
    lines = [line.rstrip() for line in tame(text[:MAX_READ]).strip().split("\n")]
    subject = re.sub(r"^[-\s]+", "", lines[0])
    if _SUBJECT_TRAILER.match(subject):
        subject = f"> {subject}"
    # Stripped first: an indented line at its start would otherwise become a trailer afterwards.
    rest = "\n".join(lines[1:]).strip().split("\n")
    body = "\n".join(f"> {line}" if _acts(line) else line for line in rest)
    return _cut(subject or "Change", MAX_SUBJECT), _cut(body, MAX_BODY)


def _acts(line: str) -> bool:
    return bool(_TRAILER.match(line) or _DIVIDER.match(line))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def compose(subject: str, body: str, trailers: Mapping[str, str]) -> str:
    """A whole message: cleaned text, then our trailers, each on one line."""
    lines = [
        f"{name}: {' '.join(tame(value).split())}" for name, value in trailers.items() if value
    ]
    return "\n\n".join(part for part in (subject, body, "\n".join(lines)) if part) + "\n"
