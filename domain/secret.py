"""Secrets: what tells a credential in an added line from text that only resembles one.

A rule that refuses honest commits is switched off by its operator, so that a value must look
random wherever its shape alone (`ghp_…`, `AKIA…`) does not say what it is.
"""

import re
from itertools import pairwise

from domain.value import Value

SHORTEST = 8
"""Characters. Of a shorter value nothing can be said."""

LONG = 16
"""From here on a mixture of letters and digits is no word, and no name of an algorithm."""

_EXAMPLE = re.compile(
    r"example|sample|dummy|fake|placeholder|change.?me|redacted|your.?|x{4}|\*{3}|\.{3}"
    r"|(.)\1{7}|0123456789|1234567890|abcdefgh|deadbeef",
    re.IGNORECASE,
)
"""What people write where a secret would stand."""

_WORDS = re.compile(r"passw|secret|token|credential|test|admin|user", re.IGNORECASE)
"""Words in a value that tell a name or a fixture from a password."""

_PUT_IN_LATER = re.compile(r"[\s{}<>()\[\]]|^[$%@]")
"""A template, a call, a reference, a sentence: the value itself stands elsewhere."""

_SEPARATORS = re.compile(r"[-_./:@,;+=|\\]+")

CHANGES_OF_KIND = 3
"""Between letters and digits: `v2`, `sha256`, `Summer2024` have fewer, `Tr0ub4dor3` has more."""

SHARE_OF_CHANGES = 0.4
"""Of the neighbours in a random text of letters and digits, six in ten differ in kind; in `getUserById2`, fewer."""


class Leak(Value):
    """A new secret in a commit. It never holds the value."""

    kind: str
    """In the words of whoever found it: `AWS Access Key`, `your GITHUB_TOKEN`."""
    path: str = ""
    """Empty: in the message, or in the name of a file."""
    line: int = 0
    """In the file as the commit leaves it."""

    @property
    def told(self) -> str:
        place = f"{self.path}:{self.line}" if self.path else "the message or a file's name"
        return f"new secret ({self.kind}): {place}"


def is_example(value: str) -> bool:
    """Whether it says of itself that it is none."""
    return _EXAMPLE.search(value) is not None


def looks_random(value: str) -> bool:
    """Whether a value is a secret by its looks alone; what a person made up of words is not seen."""
    if len(value) < SHORTEST or _PUT_IN_LATER.search(value):
        return False
    if is_example(value) or _WORDS.search(value):
        return False
    longest = max(_SEPARATORS.split(value), key=len)
    if len(longest) < SHORTEST or not any(map(str.isdigit, longest)):
        return False
    kinds = [_kind(character) for character in longest]
    steps = list(pairwise(kinds))
    between = sum((one == "digit") != (two == "digit") for one, two in steps)
    share = sum(one != two for one, two in steps) / len(steps)
    return between >= CHANGES_OF_KIND or (len(longest) >= LONG and share >= SHARE_OF_CHANGES)


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "upper" if character.isupper() else "lower"
    return "other"
