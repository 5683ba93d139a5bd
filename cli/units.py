"""`swathe units`: bring a repository unit by unit to where two reviews find nothing."""

from typing import Annotated, Any

import typer

from cli import ask
from cli.review import REVIEW, options_of, review
from cli.run import refusal_as_json
from cli.signatures import asks_like
from domain.order import UnitTerms

NOT_ASKED = ("stop_when", "max_review_passes")
"""What `review` asks and units do not: a unit is over when two reviews in a row find it clean."""

Jobs = Annotated[
    int,
    typer.Option(
        min=1,
        max=64,
        metavar="N",
        help="Units that are worked on at the same time, each in a clone of its own.",
        rich_help_panel=ask.LIMITS,
    ),
]
MaxItems = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="At most this many units in this run; the others wait for the next.",
        rich_help_panel=ask.LIMITS,
    ),
]
Looks = Annotated[
    int,
    typer.Option(
        min=2,
        max=40,
        metavar="N",
        help="Reviews of one unit; one that is not found clean twice in a row by then is parked.",
        rich_help_panel=REVIEW,
    ),
]
MORE = {"jobs": (Jobs, 1), "max_items": (MaxItems, None), "looks": (Looks, 8)}


@asks_like(review, less=NOT_ASKED, more=MORE)
def units(**asked: Any) -> None:
    """Work through a repository unit by unit, the worst first: review, mend and review, until two reviews find it clean.

    A unit is a package or a folder, or a part of a large one. What a unit comes to lands as one commit on the branch
    `swathe/units`, once the tests hold it. Units that stay as they are are not looked at again. Exit codes are those of
    `swathe run`.
    """
    as_json = asked["as_json"]
    with refusal_as_json(asked["repo"], asked["axis"] or "units", as_json=as_json):
        terms = UnitTerms(**{name: asked[name] for name in MORE})
        options = options_of(asked).model_copy(update={"units": terms})
        from cli import engine, summary

        report = engine.run_review(options)
        summary.show(report, as_json=as_json)
    raise typer.Exit(report.exit_code)
