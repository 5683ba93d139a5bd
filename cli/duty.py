"""`swathe duty [REPO]`: what is deployed where, what comes next, what came of it, and what waits for a person."""

from typing import Annotated

import typer

from cli import terminal
from domain.duty import DAYS, Duty, OnDuty, PoolDuty
from domain.value import Refused


def duty(
    repo: Annotated[
        str | None,
        typer.Argument(
            metavar="[REPO]",
            help="Only this repository (a path, or a git URL), or the pool of this name.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
) -> None:
    """Show the repositories on duty: deployments, next run, last ending, what landed and was spent, what waits for a person."""
    from cli.connecting import address, connected

    url = address(start=False)
    if url is None:
        raise Refused(
            "no Prefect server runs, so that nothing is on duty. `swathe server start` starts ours; "
            "for another one set PREFECT_API_URL."
        )
    with connected(url):
        from cli.reckoning import reckoned
        from cli.watching import watched

        found = Duty(server=url, pools=tuple(reckoned(*one) for one in watched(repo)))
    if as_json:
        terminal.as_json(found)
        return
    if not found.pools:
        terminal.results().print(
            "Nothing is on duty. `swathe deploy deployments/REPO.yaml` puts a repository there."
        )
    for pool in found.pools:
        _show(pool)


def _show(pool: PoolDuty) -> None:
    console = terminal.results()
    console.print(terminal.said(f"{pool.pool}: {pool.repo}", "bold"))
    console.print(terminal.grid(*_rows(pool)))
    for one in pool.deployments:
        console.print(terminal.said(one.deployment), style="bold")
        console.print(terminal.grid(*_deployment(one)))
    for wait in pool.waits:
        console.print("waits:", terminal.said(wait, "yellow"), soft_wrap=True)
    console.print()


def _rows(pool: PoolDuty) -> tuple[tuple[str, str], ...]:
    home = pool.home
    week = f"in {DAYS} days"
    return (
        ("pool", f"{pool.type}{', paused' if pool.paused else ''}"),
        ("workers online", str(pool.workers)),
        (f"landed {week}", str(home.landed_7_days) if home else "not known here"),
        (f"spent {week}", f"{home.spend_usd_7_days:.2f} US dollars" if home else "not known here"),
        *((("works now", home.works),) if home and home.works else ()),
    )


def _deployment(one: OnDuty) -> tuple[tuple[str, str], ...]:
    last = f"{one.last.state} at {one.last.at}: {one.last.why}" if one.last else "none"
    return (
        ("axis", one.axis or "the form asks for it"),
        ("schedule", "; ".join(one.schedules) or "none"),
        ("next run", one.next or "none"),
        *((("late", str(one.late)),) if one.late else ()),
        *((("runs now", one.runs),) if one.runs else ()),
        ("last ending", last),
    )
