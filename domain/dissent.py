"""Dissent: what a report says of commits that a reader of another family did not confirm."""

from collections.abc import Sequence

from domain.report import Landed
from domain.state import State, file_of

MOST = 5


def unconfirmed(landed: Sequence[Landed]) -> tuple[str, ...]:
    """Commits that landed although somebody was to read them and gave no clear answer: one line for each of a few."""
    found = [commit for commit in landed if commit.unconfirmed]
    shown = [
        f"not confirmed: {commit.site} {commit.subject}: {commit.unconfirmed}"
        for commit in found[:MOST]
    ]
    more = len(found) - len(shown)
    return (*shown, *([f"and {more} more are not confirmed"] if more else []))


def disputes(state: State) -> tuple[str, ...]:
    """Files in which a reader spoke against the work twice, with the commits, for the operator to decide."""
    return tuple(
        f"a reader spoke twice against the work on {path}, and it is yours to decide: "
        + "; ".join(
            f"{parked.ref} ({parked.reason})"
            for parked in state.parked
            if parked.doubted_by and file_of(parked.site) == path
        )
        for path in sorted(state.disputed)
    )
