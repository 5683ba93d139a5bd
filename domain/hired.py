"""Which model is to work: the operator's words, nothing derived and no key."""

from typing import Literal

from pydantic import Field

from domain.value import Value

Family = Literal["claude", "gpt"]
Effort = Literal["", "low", "medium", "high"]


class Hired(Value):
    """A model for a role."""

    family: Family
    model: str = Field(default="", description="Empty: the family's default.")
    price: str = Field(
        default="",
        description="US dollars for a million tokens of input and output, as in 4/20, where no list has it.",
    )
    effort: Effort = Field(default="", description="How much it thinks; empty: its own default.")
