"""Words of the operator to a run that is on: enough, a higher budget, a sentence to the model. And what they add up to."""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Self, cast

from pydantic import Field, ValidationError, model_validator

from domain.budget import Budget
from domain.ledger import Caps
from domain.value import Refused, Value

MOST_CHARACTERS = 4_000
"""Of a sentence: it is sent along with every further request of the conversation."""

EXAMPLES = 'As in {"enough": true}, {"max_usd": 5}, {"max_minutes": 90}, {"max_passes": 4}, {"tell": "leave b.py alone"}.'


def _higher(mine: float | None, said: float | None) -> float | None:
    """A cap is raised, never lowered; where there is none, there is nothing to raise."""
    return mine if mine is None or said is None else max(mine, said)


class Raise(Value):
    """The highest that was said of each cap."""

    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_minutes: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_passes: int | None = Field(default=None, gt=0)

    def budget(self, given: Budget) -> Budget:
        """The budget that a run set out with, as far as it was raised since."""
        if self == NOTHING:
            return given
        passes = _higher(given.max_passes, self.max_passes)
        return given.model_copy(
            update={
                "max_usd": _higher(given.max_usd, self.max_usd),
                "max_minutes": _higher(given.max_minutes, self.max_minutes),
                "max_passes": None if passes is None else int(passes),
            }
        )

    def caps(self, given: Caps, kept_back: float = 0.0) -> Caps:
        """The same for dollars. `kept_back`: the share of them that is not for whoever works."""
        said = None if self.max_usd is None else self.max_usd * (1 - kept_back)
        return given.model_copy(update={"max_usd": _higher(given.max_usd, said)})


NOTHING = Raise()


class Word(Raise):
    """One thing that was said."""

    id: str = ""
    """The same however often it is handed on: it counts once."""
    enough: bool = False
    """Finish the pass, land it, stop."""
    tell: str = Field(default="", max_length=MOST_CHARACTERS)
    """A sentence to the model."""
    kept: bool = False
    """For the next run, if none is on: the answer to what the last one asked."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.words:
            raise ValueError("it says nothing")
        return self

    @property
    def words(self) -> str:
        """As a person is told of it."""
        raised = [
            f"{name.removeprefix('max_')} {value:g}"
            for name in Raise.model_fields
            if (value := getattr(self, name)) is not None
        ]
        return "; ".join(
            [
                *(["enough"] if self.enough else []),
                *([f"the budget is raised to {', '.join(raised)}"] if raised else []),
                *([f"to the model: {self.tell}"] if self.tell else []),
            ]
        )


class Said(Value):
    """All that was said to a run."""

    enough: bool = False
    raised: Raise = NOTHING
    told: dict[str, str] = {}
    """Sentences to the model by their ids, oldest first."""

    @classmethod
    def of(cls, words: Iterable[Word]) -> "Said":
        said = list(words)
        highest: dict[str, float] = {}
        for name in Raise.model_fields:
            values = [value for word in said if (value := getattr(word, name)) is not None]
            if values:
                highest[name] = max(values)
        return cls(
            enough=any(word.enough for word in said),
            raised=Raise.model_validate(highest),
            told={word.id: word.tell for word in said if word.tell},
        )


def variable(pool: str) -> str:
    """The Prefect variable that carries words to the run of a pool, as Prefect allows a name."""
    return f"swathe_{re.sub(r'[^a-z0-9]+', '_', pool.lower()).strip('_')}"


def variables_page(run: str) -> str:
    """Where variables are made, by the address of a run's page; empty when that is not known."""
    return re.sub(r"/(flow-)?runs/.*", "/variables", run)


def words_in(value: object, holder: str) -> tuple[Word, ...]:
    """What the value of a variable says: one word, or a list of them, as JSON or as text that holds it.

    `holder` names the variable that was made, so that the same value in another one is said anew. `Refused` when it
    can't be read.
    """
    found = _loaded(value)
    words: list[Word] = []
    for one in cast("list[object]", found) if isinstance(found, list) else [found]:
        try:
            word = Word.model_validate(one)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the value"
            raise Refused(
                f"{json.dumps(one)} is no word to a run: {place}: {first['msg']}. {EXAMPLES}"
            ) from None
        said = hashlib.sha256(f"{holder} {word.to_json()}".encode()).hexdigest()[:20]
        words.append(word if word.id else word.model_copy(update={"id": said}))
    return tuple(words)


def _loaded(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.strip().strip('"') == "enough":
        return {"enough": True}
    try:
        return json.loads(value)
    except ValueError:
        raise Refused(f"{value!r} is no word to a run. {EXAMPLES}") from None
