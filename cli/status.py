"""`swathe status` and `take`: where a campaign stands, and bringing it home."""

from typing import Annotated

import typer

from cli import ask, checked, terminal
from domain.status import CampaignStatus, RepoStatus, Taken
from domain.value import Refused
from domain.words import counted, duration, tallied

OneAxis = Annotated[
    str | None,
    typer.Option(
        "--axis", metavar="AXIS", help="Only this axis. (default: every axis of the repository)"
    ),
]


def status(repo: ask.Repo, axis: OneAxis = None, as_json: ask.Json = False) -> None:
    """Show what has landed, what is parked and why, what remains, what it cost, and what to do next."""
    from cli import engine

    found = engine.status(checked.repository(repo), _axis(axis))
    if as_json:
        terminal.as_json(found)
    else:
        _show(found)


def take(
    repo: ask.Repo,
    axis: Annotated[str | None, typer.Option("--axis", metavar="AXIS", help="Which axis.")] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Run the command instead of printing it.")
    ] = False,
) -> None:
    """Print the git command that brings the landed branch home, or run it."""
    from cli import engine

    chosen = _axis(axis) or _only_axis(engine.status(checked.repository(repo), None))
    taken = engine.take(checked.repository(repo), chosen, run=run)
    _show_taken(taken)


def _axis(axis: str | None) -> str | None:
    return None if axis is None else checked.words("--axis", axis)


def _only_axis(found: RepoStatus) -> str:
    landed = [campaign.axis for campaign in found.campaigns if campaign.landed]
    if len(landed) == 1:
        return landed[0]
    if not landed:
        raise Refused(
            f"nothing has landed in {found.repo!r} yet. `swathe run {found.repo} --axis AXIS` begins."
        )
    raise Refused(
        f"commits of {len(landed)} axes have landed. Say which, with --axis: {', '.join(landed)}."
    )


def _show(found: RepoStatus) -> None:
    console = terminal.results()
    if not found.campaigns:
        console.print(
            terminal.said(
                f"No campaign in {found.repo}. `swathe run {found.repo} --axis AXIS` begins one."
            )
        )
    for campaign in found.campaigns:
        console.print(terminal.said(campaign.axis, "bold"))
        console.print(terminal.grid(*_rows(campaign)))
        if campaign.quiet:
            waited = duration((campaign.minutes_since_last_commit or 0) * 60)
            console.print(terminal.said(f"warning: nothing has landed for {waited}", "bold yellow"))
        if campaign.next:
            console.print("next:", terminal.said(campaign.next))
        if campaign.undelivered:
            console.print(terminal.said(campaign.undelivered, "yellow"), soft_wrap=True)
        if campaign.landed and campaign.take:
            console.print("take:", terminal.said(campaign.take), soft_wrap=True)
        console.print()


def _rows(campaign: CampaignStatus) -> tuple[tuple[str, str], ...]:
    since = campaign.minutes_since_last_commit
    last = "" if since is None else f", last commit {duration(since * 60)} ago"
    state = (
        f"runs now{last}" if campaign.running else f"{campaign.ending or 'cut off'}: {campaign.why}"
    )
    parked = tallied(one.reason for one in campaign.parked)
    remaining = "not listed yet" if campaign.remaining is None else str(campaign.remaining)
    return (
        ("branch", f"{campaign.branch} {campaign.tip[:12]}".strip()),
        ("landed", counted(campaign.landed, "commit")),
        ("parked", parked or "none"),
        ("remaining", remaining),
        ("spent", f"{campaign.spend_usd:.2f} US dollars"),
        ("run", campaign.run),
        ("state", state),
    )


def _show_taken(taken: Taken) -> None:
    console = terminal.results()
    if not taken.ran:
        console.print(terminal.said(taken.command), soft_wrap=True)
        return
    for line in taken.output.splitlines():
        console.print(terminal.said(line))
    console.print(
        terminal.said(
            f"Took {counted(taken.commits, 'commit')} of {taken.branch} ({taken.tip[:12]})."
        )
    )
