"""What every value of the domain is: frozen, strict about its fields."""

import json
from typing import Self

from pydantic import BaseModel, ConfigDict

from domain.refusal import Busy, Refused

__all__ = ["Busy", "Refused", "Value"]


class Value(BaseModel):
    """An immutable fact. A change is a new value; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def to_json(self, indent: int | None = None) -> str:
        """As JSON in ASCII: a path whose bytes are not UTF-8 survives the way out and back."""
        return json.dumps(self.model_dump(mode="json"), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls.model_validate(json.loads(text))
