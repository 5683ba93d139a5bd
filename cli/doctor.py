"""`swathe doctor REPO`: what was found, and whether it works."""

import typer

from cli import ask, terminal
from domain.doctor import Doctor

NOT_WELL = 2


def doctor(
    repo: ask.Repo,
    *,
    base: ask.Base = "HEAD",
    verify: ask.Verify = None,
    setup: ask.Setup = None,
    environment: ask.Environment = "",
    sandbox: ask.Sandbox = "auto",
    offline: ask.Offline = False,
    gate_minutes: ask.GateMinutes = 30.0,
    as_json: ask.Json = False,
) -> None:
    """Find out how a repository is built and tested, do it once on the base commit, and say what is missing.

    Looked for, in this order: pytest, Django, what tox or nox would run, test targets of justfile, Makefile and
    package.json, the test steps of CI jobs, the default of the language, and what a model wrote for an earlier run.

    Exit code: 0 all is well, 2 something a run needs is missing.
    """
    target = ask.target(
        repo,
        base=base,
        verify=verify,
        setup=setup,
        environment=environment,
        sandbox=sandbox,
        offline=offline,
        gate_minutes=gate_minutes,
    )
    from cli import engine

    found = engine.doctor(target)
    if as_json:
        terminal.as_json(found)
    else:
        _show(found)
    raise typer.Exit(0 if found.well else NOT_WELL)


def _show(found: Doctor) -> None:
    console = terminal.results()
    table = terminal.listing("", "what", "found")
    for check in found.checks:
        mark = terminal.said("ok", "green") if check.ok else terminal.said("no", "bold red")
        table.add_row(mark, terminal.said(check.name), terminal.said(check.found))
        if check.advice:
            table.add_row("", "", terminal.said(check.advice, "yellow"))
    console.print(table)
    if found.gate:
        console.print()
        console.print(
            terminal.grid(
                ("proved by", "; ".join(found.gate.verify)),
                ("found", found.gate.source),
                ("prepared by", "; ".join(found.gate.setup) or found.gate.environment or "Swathe"),
            )
        )
    if found.baseline and found.baseline.failed:
        console.print(
            terminal.said(
                f"fails on the base already: {', '.join(found.baseline.failed)}", "yellow"
            )
        )
    console.print()
    console.print(
        "A run can start." if found.well else "A run would be refused until this is repaired."
    )
