"""The one queue of a target (ADR-055, ADR-057): what several jobs made is put on the tip, proved as exactly that, and landed.

It is the same for one job and for many. What fits on the tip no more is made anew, and never forced.
"""

from domain.axis import Axis
from domain.reading import Confirm
from domain.sweep_journal import SweepJournal
from domain.target import Workspace
from flows.chain import carry
from tasks.queue_up import queue_up
from tasks.settle_items import settle_items


def deliver(
    workspace: Workspace,
    axis: Axis,
    journal: SweepJournal,
    *,
    verify_each: bool = False,
    confirm: Confirm = "off",
    max_usd: float | None = None,
) -> SweepJournal:
    """All that waits, in the order of the list."""
    made = journal.waiting
    chain = queue_up(workspace, made, journal.tip, journal.number)
    batch, journal, tip = carry(
        workspace,
        axis,
        chain,
        journal,
        verify_each=verify_each,
        confirm=confirm,
        max_usd=max_usd,
    )
    return journal.delivered(chain, batch, settle_items(workspace, axis, made, batch, tip))
