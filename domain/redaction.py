"""Redaction: known secrets taken out of text, in the forms they are usually met in.

The second line of defence: the first is that a command never has the value. Measured: replacing
the plain value alone misses 12 of 15 forms (facts/security.md §2.5).
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

SHORTEST = 8
"""A shorter value stands in ordinary text by chance."""

LONGEST_WORD = 15
"""As does a word (`postgres`, `production`), and a number, of up to so many characters."""

MARK = "[redacted]"

_SECRET_NAME = re.compile(
    r"(^|_)(API_?)?(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|AUTH)(_|$|S$)",
    re.IGNORECASE,
)
_WORD = re.compile(rf"(?:[A-Z]?[a-z]+|[A-Z]+|\d+)(?<!.{{{LONGEST_WORD + 1}}})")
_BETWEEN = r"(?:\x1b\[[0-9;]*m|\\?\r?\n|\s)*"
"""What a terminal or a line break may put between two characters of a value."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def names_a_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, by its name."""
    return _SECRET_NAME.search(name) is not None


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of an environment whose names say that they are secret, longest first."""
    values = {
        value
        for name, value in environment.items()
        if len(value) >= SHORTEST and names_a_secret(name) and not _WORD.fullmatch(value)
    }
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


@dataclass(frozen=True)
class Redactor:
    """Takes the given secrets out of any text."""

    secrets: tuple[str, ...] = ()

    def clean(self, text: str) -> str:
        """`text` with every form of every secret replaced."""
        if not self.finds(text):
            return text
        text = self._plain.sub(MARK, text)
        return self._split.sub(MARK, text) if self._split else text

    def finds(self, text: str) -> bool:
        """Whether a form of a secret may be in `text`. A hundred times quicker than to replace it."""
        if not self.secrets:
            return False
        lowered = text.lower()
        if any(form in lowered for form in self._lowered):
            return True
        together = _together(text)
        return any(secret in together for secret in self._whole)

    @cached_property
    def _lowered(self) -> frozenset[str]:
        return frozenset(form.lower() for secret in self.secrets for form in forms_of(secret))

    @cached_property
    def _whole(self) -> frozenset[str]:
        return frozenset(map(_together, self.secrets))

    @cached_property
    def _plain(self) -> re.Pattern[str]:
        forms = {form for secret in self.secrets for form in forms_of(secret)}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        return re.compile("|".join(re.escape(form) for form in longest_first), re.IGNORECASE)

    @cached_property
    def _split(self) -> re.Pattern[str] | None:
        wholes = [_BETWEEN.join(map(re.escape, secret)) for secret in self.secrets]
        return re.compile("|".join(wholes)) if wholes else None


def _together(text: str) -> str:
    """Without what may stand between two characters of a value. Three plain passes: an expression takes ten times as long."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if "\\" in text:
        text = text.replace("\\\r\n", "").replace("\\\n", "")
    return "".join(text.split())


def forms_of(secret: str) -> Iterable[str]:
    """The value as it is, quoted for a URL or a string, in base64 at any offset, in hex, and backwards."""
    from urllib.parse import quote, quote_plus  # noqa: PLC0415 -- whoever has no secret does not wait for it

    data = secret.encode()
    yield secret
    yield secret[::-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield secret.encode("unicode_escape").decode()
    yield data.hex()
    for offset in range(3):
        yield from _base64(data, offset)


def _base64(data: bytes, offset: int) -> Iterable[str]:
    """The characters that every text with `data` at this offset has, whatever stands around it."""
    start = (offset * 4 + 2) // 3 if offset else 0
    whole = (offset + len(data)) * 8 // 6
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = encode(b"\0" * offset + data).decode().rstrip("=")
        sure = shown[start:whole]
        if len(sure) >= SHORTEST:
            yield sure
