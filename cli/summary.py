"""A report on the terminal."""

from rich.console import Console

from cli import terminal
from domain.report import Report
from domain.summary import broken_tests, next_step, numbers
from domain.words import counted

MOST_ROWS = 12
"""More would push the command that takes the work off the screen; `swathe report` has them all."""

STYLES = {0: "bold green", 1: "bold red", 2: "bold red", 3: "bold yellow", 75: "bold yellow"}


def show(report: Report, *, as_json: bool) -> None:
    """Print `report`: as its JSON line, or for a person."""
    if as_json:
        terminal.as_json(report)
        return
    console = terminal.results()
    console.print()
    console.print(
        terminal.said(f"{report.ending}:", STYLES[report.exit_code]), terminal.said(report.why)
    )
    for part in (_landed, _parked, _remaining, _circumstances):
        part(report, console)
    console.print()
    console.print(terminal.grid(*numbers(report)))
    _home(report, console)


def _landed(report: Report, console: Console) -> None:
    if not report.landed:
        return
    table = terminal.listing(
        "commit", "site", "subject", "verified", title=f"Landed ({len(report.landed)})"
    )
    for one in report.landed[-MOST_ROWS:]:
        table.add_row(*map(terminal.said, (one.sha[:10], one.site, one.subject, one.verified)))
    console.print()
    console.print(table)
    _rest(len(report.landed), report, console)


def _parked(report: Report, console: Console) -> None:
    if not report.parked:
        return
    table = terminal.listing("site", "reason", "breaks", title=f"Parked ({len(report.parked)})")
    for one in report.parked[:MOST_ROWS]:
        table.add_row(*map(terminal.said, (one.site, one.reason, broken_tests(one))))
    console.print()
    console.print(table)
    _rest(len(report.parked), report, console)


def _remaining(report: Report, console: Console) -> None:
    if not report.remaining:
        return
    table = terminal.listing("site", "what", "why", title=f"Remaining ({len(report.remaining)})")
    for one in report.remaining[:MOST_ROWS]:
        what = f"{one.rule} {one.message}".strip()
        table.add_row(*map(terminal.said, (one.site, what, one.why)))
    console.print()
    console.print(table)
    _rest(len(report.remaining), report, console)


def _rest(rows: int, report: Report, console: Console) -> None:
    if rows > MOST_ROWS:
        console.print(
            f"  … and {rows - MOST_ROWS} more: swathe report {report.run}",
            style="dim",
            markup=False,
        )


def _circumstances(report: Report, console: Console) -> None:
    said = list(report.notes)
    if report.baseline.failed:
        failed = ", ".join(report.baseline.failed[:MOST_ROWS])
        said.append(
            f"{counted(len(report.baseline.failed), 'test')} failed on the base already: {failed}"
        )
    if flaky := tuple(dict.fromkeys((*report.baseline.flaky, *report.flaky))):
        said.append(f"tests that answer both ways: {', '.join(flaky[:MOST_ROWS])}")
    if report.fixed:
        said.append(f"failed on the base, pass now: {', '.join(report.fixed[:MOST_ROWS])}")
    if report.skipped:
        said.append(
            "skipped: " + ", ".join(f"{count} {why}" for why, count in report.skipped.items())
        )
    if said:
        console.print()
    for line in said:
        console.print("note:", terminal.said(line), style="dim")


def _home(report: Report, console: Console) -> None:
    """Branch, commit and the command that takes them, whatever the ending."""
    rows = (
        ("branch", f"{report.branch} {report.tip[:12]}".strip()),
        ("run", report.run),
    )
    console.print()
    console.print(terminal.grid(*(row for row in rows if row[1])))
    if report.ui:
        # An address in two pieces cannot be opened.
        console.print("UI: ", terminal.said(report.ui), soft_wrap=True)
    console.print("next:", terminal.said(next_step(report)))
    if report.take and (report.landed or report.landed_before):
        # Alone on its line and never wrapped, to be copied as it is.
        console.print()
        console.print("   ", terminal.said(report.take, "bold"), soft_wrap=True)
