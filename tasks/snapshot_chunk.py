"""snapshot_chunk: the chunk that is due, from the plan of the tip. Deterministic; no model, and no file is read to plan."""

from prefect import task

from adapters import reviewing
from adapters.redacting import discreet
from domain.assignment import Assignment
from domain.review_state import Look
from domain.reviewers import Opened
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def snapshot_chunk(opened: Opened, tip: str, look: Look) -> Assignment:
    """Same tip, same terms, same look: the same chunk."""
    return reviewing.assigned(opened, tip, look)
