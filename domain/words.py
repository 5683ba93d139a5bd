"""How numbers, times and other people's texts are put before a person."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

MINUTE = 60
HOUR = 3600

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str, width: int | None = None) -> str:
    """`text` on one line, without control characters or credentials in an address.

    Subjects, test names and messages come from the repository worked on: an escape sequence
    in one of them must not reach a terminal.
    """
    plain = text
    if not (text.isascii() and text.isprintable()):
        plain = "".join(" " if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    plain = without_credentials(" ".join(plain.split()))
    if width is not None and len(plain) > width:
        return plain[: max(width - 1, 0)] + "…"
    return plain


def without_credentials(text: str) -> str:
    """`text` with user names and passwords taken out of the addresses in it."""
    return _CREDENTIALS.sub("", text)


def sendable(text: str) -> str:
    """`text` as UTF-8 can say it. A lone surrogate, which stands for a byte that is no UTF-8 or for half a character, is taken by nobody."""
    return text.encode("utf-8", "replace").decode()


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 site`, `2 sites`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def duration(seconds: float) -> str:
    """`0.4 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 9.95:  # noqa: PLR2004 - from here on it would read 10.0
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"


def tallied(words: Iterable[str]) -> str:
    """`3 red, 1 scope`: most frequent first."""
    counts = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {printable(word)}" for word, count in counts)
