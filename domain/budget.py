"""What a run may spend. What it has landed by then, it keeps."""

from pydantic import Field

from domain.ledger import Caps
from domain.reading import Confirm
from domain.value import Value

READING_SHARE = 0.15
"""Of the dollars of a run: kept for the reading of commits, where they are to be read."""


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
    max_usd_per_pass: float | None = Field(
        default=None,
        gt=0,
        title="US dollars for a pass",
        description="For the work of one pass; the next one begins anew.",
    )
    max_usd_per_site: float | None = Field(
        default=None,
        gt=0,
        title="US dollars for a site",
        description="Between two commits of a pass; what is not committed by then is given up.",
    )

    @property
    def caps(self) -> Caps:
        """In dollars."""
        return Caps(
            max_usd=self.max_usd,
            max_usd_per_pass=self.max_usd_per_pass,
            max_usd_per_site=self.max_usd_per_site,
        )

    def for_work(self, confirm: Confirm) -> Caps:
        """What the work may spend: a share is held back for the reader, which is asked after it."""
        if self.max_usd is None or confirm == "off":
            return self.caps
        return self.caps.model_copy(update={"max_usd": self.max_usd * (1 - kept_back(confirm))})


def kept_back(confirm: Confirm) -> float:
    """The share of the dollars that the work may not spend."""
    return 0.0 if confirm == "off" else READING_SHARE


UNBOUNDED = Budget()
