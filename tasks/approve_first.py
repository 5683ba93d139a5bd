"""Approving a list: the run is suspended with a form until a person has looked at it. Called by a flow itself."""

from typing import Any, Literal

from prefect.input import RunInput
from prefect.runtime import deployment
from pydantic import Field, create_model

from domain.approval import GO, NOT_APPROVED, STOP, Approval
from domain.site import Listing
from domain.summary import verbatim
from domain.target import Workspace
from domain.words import MINUTE, counted, duration
from tasks.ask_operator import suspended

MOST_SHOWN = 20


def approve_first(workspace: Workspace, listing: Listing, minutes: float) -> Approval:
    """What a person says of the list; with no answer in `minutes`, and where nobody can be asked, nothing is approved."""
    if not listing.sites:
        return Approval(go=True)
    if not deployment.id:
        return Approval(why=f"{NOT_APPROVED} `swathe run --approve` asks at a terminal.")
    given: Any = suspended(workspace, _form(listing, minutes), "approval", minutes)
    return Approval.of(given.choice, given.answer, listing.sites)


def _form(listing: Listing, minutes: float) -> type[RunInput]:
    fields: dict[str, Any] = {
        "choice": (Literal[STOP, GO], Field(default=STOP, title="The list")),  # pyright: ignore[reportInvalidTypeForm]
        "answer": (
            str,
            Field(
                default="",
                title="Sites to leave out",
                description="Ids, places (path:line), paths or globs, one a line.",
            ),
        ),
    }
    sites = listing.sites
    shown = [
        f"- {verbatim(f'{site.place} {site.rule} {site.message}')}" for site in sites[:MOST_SHOWN]
    ]
    more = len(sites) - len(shown)
    said = "\n".join(
        [
            f"{counted(len(sites), 'site')} to approve; the table among the run's artifacts has all of them.",
            "",
            *shown,
            *([f"- and {more:,} more"] if more else []),
            "",
            f"With no answer in {duration(minutes * MINUTE)} nothing is done, and the run ends as declined.",
        ]
    )
    made = create_model("Approval", __base__=RunInput, **fields)
    return made.with_initial_data(description=said)
