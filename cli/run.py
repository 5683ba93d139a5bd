"""`swathe run`: carry an axis through a repository."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Annotated, Any

import typer

from cli import ask, checked, terminal
from domain.choice import Grain, Policy
from domain.options import RunOptions
from domain.reading import confirmable
from domain.report import Report
from domain.teaching import teachable
from domain.value import Refused


def run(
    repo: ask.Repo,
    *,
    axis: ask.Axis,
    paths: ask.Paths = None,
    branch: ask.Branch = None,
    base: ask.Base = "HEAD",
    include_generated: ask.Generated = False,
    verify: ask.Verify = None,
    setup: ask.Setup = None,
    environment: ask.Environment = "",
    allow: ask.Allow = None,
    sandbox: ask.Sandbox = "auto",
    offline: ask.Offline = False,
    gate_minutes: ask.GateMinutes = 30.0,
    share: ask.Share = "",
    verify_each: Annotated[
        bool,
        typer.Option(
            "--verify-each",
            help="Prove every commit alone. Slower; batches are the default.",
            rich_help_panel=ask.GATE,
        ),
    ] = False,
    executor: ask.Executor = "codemod",
    model: ask.Model = "",
    price: ask.Price = "",
    effort: ask.Thinking = "",
    confirm: ask.Confirm = "off",
    reader_model: ask.ReaderModel = "",
    reader_price: ask.ReaderPrice = "",
    teach: ask.Teach = 0,
    grain: ask.OneCommit = "finding",
    unsafe: ask.Unsafe = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Try again what was parked or declined before.")
    ] = False,
    approve: Annotated[
        bool,
        typer.Option(
            "--approve",
            help="Show the sites first, and begin once you have approved them; some may be struck. Needs a terminal.",
            rich_help_panel=ask.LIMITS,
        ),
    ] = False,
    max_passes: ask.MaxPasses = None,
    max_minutes: ask.MaxMinutes = None,
    max_usd: ask.MaxUsd = None,
    max_usd_per_pass: ask.MaxUsdPerPass = None,
    max_usd_per_site: ask.MaxUsdPerSite = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="List the sites and the plan. Change nothing.",
            rich_help_panel=ask.OUTPUT,
        ),
    ] = False,
    as_json: ask.Json = False,
) -> None:
    """Carry one axis through a repository. Commits land on the branch `swathe/<axis>`; your own branch stays as it is.

    Exit code: 0 done or nothing to do, 3 stopped early with the work kept, 1 stalled or only red work left,
    2 refused (the message says what to do), 75 another run holds the repository.
    """
    asked = dict(locals())
    with refusal_as_json(repo, axis, as_json=as_json):
        if approve:
            checked.terminal("--approve", f"`swathe plan {repo}` shows the list")
        _carry_out(options_of(asked), as_json=as_json)


def options_of(asked: Mapping[str, Any]) -> RunOptions:
    """The request that these answers make, by the names under which `run` asks for them. Refuses what cannot be meant."""
    target = ask.target(
        **{name: asked[name] for name in signature(ask.target).parameters if name in asked}
    )
    hired = ask.hired(asked["executor"], asked["model"], asked["price"], asked["effort"])
    hired = ask.read_by(hired, asked["reader_model"], asked["reader_price"])
    caps = ("max_passes", "max_minutes", "max_usd", "max_usd_per_pass", "max_usd_per_site")
    return RunOptions(
        target=target,
        axis=checked.words("--axis", asked["axis"]),
        hired=hired,
        confirm=confirmable(asked["confirm"], hired),
        teach=teachable(asked.get("teach", 0), hired),
        budget=ask.budget(**{name: asked.get(name) for name in caps}),
        grain=asked["grain"],
        verify_each=asked["verify_each"],
        unsafe=asked["unsafe"],
        retry=asked["retry"],
        approve=asked.get("approve", False),
        dry_run=asked.get("dry_run", False),
    )


def preview(
    repo: str,
    axis: str,
    *,
    paths: list[str] | None,
    branch: str | None,
    base: str,
    include_generated: bool,
    verify: list[str] | None,
    setup: list[str] | None,
    environment: str,
    sandbox: Policy,
    grain: Grain,
    unsafe: bool,
    as_json: bool,
) -> None:
    """List the sites of an axis, and what a run would do with them."""
    with refusal_as_json(repo, axis, as_json=as_json):
        target = ask.target(
            repo,
            base=base,
            branch=branch,
            paths=paths,
            verify=verify,
            setup=setup,
            environment=environment,
            sandbox=sandbox,
            include_generated=include_generated,
        )
        options = RunOptions(
            target=target,
            axis=checked.words("--axis", axis),
            grain=grain,
            unsafe=unsafe,
            dry_run=True,
        )
        _carry_out(options, as_json=as_json)


def _carry_out(options: RunOptions, *, as_json: bool) -> None:
    from cli import engine  # git, the rules and, when a flow is run, Prefect: not for `--help`

    if options.dry_run:
        from cli import preview

        preview.show(engine.plan(options), as_json=as_json)
        return
    report = engine.run_campaign(options)
    from cli import summary

    summary.show(report, as_json=as_json)
    raise typer.Exit(report.exit_code)


@contextmanager
def refusal_as_json(repo: str, axis: str, *, as_json: bool) -> Generator[None]:
    """A program that asked for JSON gets a report of the refusal too; a person reads it on stderr."""
    try:
        yield
    except Refused as refusal:
        if as_json:
            terminal.as_json(
                Report(run="", ending="refused", why=str(refusal), axis=axis, target=repo)
            )
        raise
