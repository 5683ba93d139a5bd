"""The one path of a chain of commits, whoever made it (design.md §3): admitted, proved, read where asked, landed."""

from typing import Protocol, Self, TypeVar

from domain.axis import Axis
from domain.batch import Batch
from domain.commit import ChainOnShelf
from domain.confirming import heard, unread
from domain.proof import Proof, answered, question
from domain.reading import Confirm
from domain.red_rate import RedRate
from domain.target import Workspace
from tasks.admit import admit
from tasks.confirm import confirm as read
from tasks.land import land
from tasks.verify import verify


class Tally(Protocol):
    """What the journal of a flow knows of the gate."""

    @property
    def rate(self) -> RedRate: ...
    @property
    def flaky(self) -> tuple[str, ...]: ...
    @property
    def stopped(self) -> str: ...
    def count(self, proof: Proof, /) -> Self: ...


Told = TypeVar("Told", bound=Tally)


def carry(
    workspace: Workspace,
    axis: Axis,
    chain: ChainOnShelf,
    journal: Told,
    *,
    verify_each: bool = False,
    confirm: Confirm = "off",
    max_usd: float | None = None,
) -> tuple[Batch, Told, str]:
    """What was decided of each commit, the journal with its gate runs, and the tip."""
    batch = admit(workspace, chain, journal.rate, verify_each, confirm)
    while batch.probe and not journal.stopped:
        proof = verify(workspace, chain, question(batch, journal.flaky))
        batch, journal = answered(batch, proof), journal.count(proof)
        if green := unread(batch):
            batch = heard(batch, read(workspace, axis, chain, green, max_usd))
        if batch.ripe:
            land(workspace, axis, chain, batch.outcome)
    return batch, journal, land(workspace, axis, chain, batch.outcome)
