"""Who is to work: the operator's words, nothing derived and no key."""

from typing import Literal

from pydantic import Field

from domain.value import Value

Family = Literal["claude", "gpt"]
Effort = Literal["", "low", "medium", "high"]
Agent = Literal["own", "vendor"]
Executor = Literal["codemod", "claude", "gpt", "claude-code", "codex"]

WORKERS: dict[tuple[Family, Agent], Executor] = {
    ("claude", "own"): "claude",
    ("gpt", "own"): "gpt",
    ("claude", "vendor"): "claude-code",
    ("gpt", "vendor"): "codex",
}


class Hired(Value):
    """A model for a role, and whose agent it works in."""

    family: Family = Field(
        title="Family",
        description="Whose model it is; its key stands in the worker's environment.",
    )
    agent: Agent = Field(
        default="own",
        title="Agent",
        description="own: Swathe's; vendor: the family's own (Claude Code, Codex), for the work alone.",
    )
    model: str = Field(default="", title="Model", description="Empty: the family's default.")
    price: str = Field(
        default="",
        title="Price",
        description="US dollars for a million tokens of input and output, as in 4/20, where no list has it.",
    )
    effort: Effort = Field(
        default="", title="Effort", description="How much it thinks; empty: its own default."
    )
    reader_model: str = Field(
        default="",
        title="Reader's model",
        description="The model of the other family, which reads commits and looks afresh. Empty: that family's default.",
    )
    reader_price: str = Field(
        default="", title="Reader's price", description="As above, where no list has it."
    )

    def reader(self, family: Family) -> "Hired":
        """Who reads what this one writes."""
        return Hired(family=family, model=self.reader_model, price=self.reader_price)

    @property
    def executor(self) -> Executor:
        """As the command line, trailers and reports name it."""
        return WORKERS[self.family, self.agent]


def worker(executor: str) -> tuple[Family, Agent] | None:
    """Who works under this name; None: rules, without a model."""
    return next((who for who, name in WORKERS.items() if name == executor), None)
