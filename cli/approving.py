"""`swathe run --approve`: the list at a terminal, and what a person says of it."""

import typer

from adapters import approving
from cli import terminal
from domain.approval import GO, NAMED, STOP, Approval
from domain.axis import Axis
from domain.site import Listing
from domain.target import Workspace
from domain.words import counted

MOST_SHOWN = 200


def approved(workspace: Workspace, axis: Axis, *, retry: bool) -> Approval:
    """What a person says of the list. What they strike is declined from now on."""
    listing = approving.listed(workspace, axis, retry=retry)
    approval = _asked(listing) if listing.sites else Approval(go=True)
    approving.strike(workspace, axis, approval, retry=retry)
    return approval


def _asked(listing: Listing) -> Approval:
    console, sites = terminal.remarks(), listing.sites
    table = terminal.listing("id", "site", "rule", "what", title=counted(len(sites), "site"))
    for site in sites[:MOST_SHOWN]:
        name = site.id if "#" in site.id else site.id[:NAMED]
        table.add_row(name, *map(terminal.said, (site.place, site.rule, site.message)))
    console.print(table)
    if len(sites) > MOST_SHOWN:
        console.print(f"and {len(sites) - MOST_SHOWN:,} more; `swathe plan --json` has them all")
    struck = typer.prompt(
        "Sites to leave out (ids, path:line, paths or globs; Enter for none)",
        default="",
        show_default=False,
        err=True,
    )
    go = typer.confirm("Go on with the others?" if struck.strip() else "Go on?", err=True)
    return Approval.of(GO if go else STOP, struck, sites)
