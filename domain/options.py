"""What a person asks for with `swathe run`: everything a run needs to know, checked."""

from domain.budget import Budget
from domain.choice import Grain
from domain.hired import Hired
from domain.order import SweepTerms
from domain.reading import Confirm
from domain.target import Target
from domain.value import Value


class RunOptions(Value):
    """One request for a run."""

    target: Target
    axis: str
    """A name from the catalogue, `ruff:SELECTORS`, `ast-grep:RULE.yml`, `cmd:…`, or one sentence."""
    hired: Hired | None = None
    """The model that is to work; None: rules are applied, and nothing costs money."""
    confirm: Confirm = "off"
    """Which of its commits a model of another family reads before they land."""
    teach: int = 0
    """Sites that the model does before a rule, made from them, does the others; 0: it does all."""
    budget: Budget = Budget()
    grain: Grain = "finding"
    """What one commit settles: one finding, the findings of a file, or the findings of a rule."""
    verify_each: bool = False
    unsafe: bool = False
    retry: bool = False
    """Try parked and declined sites again."""
    approve: bool = False
    """Show the list, and begin once a person at this terminal has approved it."""
    dry_run: bool = False
    terms: SweepTerms | None = None
    """How a sweep is carried out; None: the request is for a campaign."""
