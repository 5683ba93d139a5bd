"""reviewer: the family whose turn it is reads a chunk, and says what it finds."""

from prefect import task

from adapters import reviewing
from adapters.redacting import cleaned, discreet
from domain.assignment import Assignment, Heard
from domain.ledger import Caps
from domain.reviewers import Opened
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def reviewer(opened: Opened, chunk: Assignment, caps: Caps) -> Heard:
    """A review is paid once: kept by its chunk, its family and its turn."""
    return cleaned(reviewing.review(opened, chunk, caps))
