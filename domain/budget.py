"""What a run may spend. What it has landed by then, it keeps."""

from pydantic import Field

from domain.value import Value


class Budget(Value):
    """Caps on one run."""

    max_minutes: float | None = Field(
        default=None, gt=0, title="Minutes", description="Active minutes; waiting does not count."
    )
    max_passes: int | None = Field(
        default=None, gt=0, title="Passes", description="Exactly this many passes at the most."
    )
    max_usd: float | None = Field(
        default=None, gt=0, title="US dollars", description="Only model executors cost money."
    )
