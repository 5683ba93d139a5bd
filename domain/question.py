"""A question that only a person can decide: what it is, how it is put in a form, what is told of the answer."""

import hashlib
from collections.abc import Sequence
from typing import Self

from domain.value import Value
from domain.words import printable

JUDGE = "Use your own judgement"
UNDECIDED = "use your own judgement, and leave to the operator what is undecided"
"""What a model is told when nobody answers."""
MOST_WORDS = 1_000
MOST_OPTIONS = 6
OPTION_WORDS = 120


class Question(Value):
    """Of a model, at the end of a pass."""

    id: str
    """The same for the same question of the same pass."""
    text: str
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, options: Sequence[str], asked_in: str) -> Self | None:
        """None when nothing is asked. `asked_in` names the pass."""
        said = printable(text, MOST_WORDS).strip()
        if not said:
            return None
        offered = tuple(
            dict.fromkeys(option for one in options if (option := printable(one, OPTION_WORDS)))
        )
        digest = hashlib.sha256(f"{asked_in} {said}".encode()).hexdigest()[:12]
        return cls(id=f"answer-{digest}", text=said, options=offered[:MOST_OPTIONS])

    def answered(self, choice: str, words: str) -> str:
        """What the model is told."""
        chosen = "" if choice == JUDGE else choice
        said = ". ".join(part for part in (printable(chosen), printable(words)) if part)
        return f"to your question {self.text!r}: {said or UNDECIDED}"
