"""What a run would do, on the terminal."""

from cli import terminal
from domain.doctor import Plan
from domain.words import counted

MOST_ROWS = 40


def show(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        terminal.as_json(plan)
        return
    console = terminal.results()
    table = terminal.listing(
        "site", "rule", "what", title=f"{counted(len(plan.sites), 'site')} of {plan.axis}"
    )
    for site in plan.sites[:MOST_ROWS]:
        table.add_row(*map(terminal.said, (site.place, site.rule, site.message)))
    console.print(table)
    if len(plan.sites) > MOST_ROWS:
        console.print(
            f"  … and {len(plan.sites) - MOST_ROWS} more; --json lists them all",
            style="dim",
            markup=False,
        )
    console.print()
    console.print(terminal.grid(*_terms(plan)))
    for why, count in plan.skipped.items():
        console.print(terminal.said(f"note: {counted(count, 'file')} skipped: {why}", "dim"))
    for note in plan.notes:
        console.print(terminal.said(f"note: {note}", "dim"))
    console.print("Nothing has been changed.")


def _terms(plan: Plan) -> tuple[tuple[str, str], ...]:
    found = f"{'; '.join(plan.gate.verify)} ({plan.gate.source})" if plan.gate else ""
    return (
        ("commits", str(plan.commits)),
        ("would land on", plan.branch),
        ("base", plan.base),
        ("proved by", found or "no command found: name one with --verify"),
    )
