"""`swathe sweep`: carry an axis through a repository from a work-list."""

from typing import Annotated, Any

import typer

from cli.run import options_of, refusal_as_json, run
from cli.signatures import asks_like
from domain.order import SweepTerms
from domain.value import Refused

LIST = "The list"
NOT_ASKED = ("teach", "dry_run", "max_usd_per_pass")
"""What `run` asks and a sweep does not."""

Jobs = Annotated[
    int,
    typer.Option(
        min=1,
        max=64,
        metavar="N",
        help="Items that are worked on at the same time, each in a clone of its own.",
        rich_help_panel=LIST,
    ),
]
MaxItems = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="At most this many items in this run; the others wait for the next.",
        rich_help_panel=LIST,
    ),
]
Attempts = Annotated[
    int,
    typer.Option(
        min=1,
        max=5,
        metavar="N",
        help="How often a model may try an item that was turned down, before it is parked.",
        rich_help_panel=LIST,
    ),
]
ListMinutes = Annotated[
    float,
    typer.Option(
        metavar="N",
        help="How long a model may look for items; work begins with the first that it names.",
        rich_help_panel=LIST,
    ),
]
MORE = {"jobs": (Jobs, 1), "max_items": (MaxItems, None), "attempts": (Attempts, 2), "list_minutes": (ListMinutes, 30.0)}  # fmt: skip


@asks_like(run, less=NOT_ASKED, more=MORE)
def sweep(**asked: Any) -> None:
    """Carry one axis through a repository, item by item, from a list that is made anew until nothing new is found.

    Items are worked on side by side (--jobs), and land through one queue on the branch `swathe/<axis>`. `swathe list`
    shows the list; there you can reorder it, strike items and add some. Exit codes are those of `swathe run`.
    """
    as_json = asked["as_json"]
    with refusal_as_json(asked["repo"], asked["axis"], as_json=as_json):
        if asked["list_minutes"] <= 0:
            raise Refused(f"--list-minutes {asked['list_minutes']:g}: give more than 0.")
        terms = SweepTerms(grain=asked["grain"], **{name: asked[name] for name in MORE})
        options = options_of(asked).model_copy(update={"terms": terms})
        from cli import engine, summary  # git, the rules and Prefect: not for `--help`

        report = engine.run_campaign(options)
        summary.show(report, as_json=as_json)
        raise typer.Exit(report.exit_code)
