"""converge_unit: a unit is reviewed, mended and reviewed until it is clean or stubborn, in a clone of its own."""

from prefect import task

from adapters import units
from adapters.redacting import cleaned, discreet
from domain.ledger import Caps
from domain.order import Made, Order
from domain.reviewers import Opened
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def converge_unit(
    opened: Opened, order: Order, *, caps: Caps, max_minutes: float | None, looks: int
) -> Made:
    """A unit is paid once: what was said and done is kept after every review and every fix."""
    return cleaned(units.converge(opened, order, caps=caps, max_minutes=max_minutes, looks=looks))
