"""fixer: the family that found the blockers mends them, in the reviewer's conversation."""

from prefect import task

from adapters import reviewing
from adapters.redacting import cleaned, discreet
from domain.assignment import Assignment, Checked, Mended
from domain.ledger import Caps
from domain.reviewers import Opened
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def fixer(opened: Opened, chunk: Assignment, checked: Checked, caps: Caps) -> Mended:
    """A fix is paid once: kept by its chunk and its blockers."""
    return cleaned(reviewing.mend(opened, chunk, checked.to_fix, caps))
