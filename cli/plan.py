"""`swathe plan`: what a run or a review would do, without either."""

from typing import Annotated

import typer

from cli import review_plan, where
from domain.chunk import MAX_TOKENS, WINDOW_PERCENT

REVIEW = "Without --axis: the chunks of a review"

Axis = Annotated[
    str | None,
    typer.Option(
        metavar="AXIS",
        help="The improvement whose sites are listed, as for `run`. (default: none, which lists the chunks of a review)",
    ),
]
MaxTokens = Annotated[
    int,
    typer.Option(
        "--max-review-chunk-tokens",
        metavar="N",
        help="At most this many tokens of source in a chunk.",
        rich_help_panel=REVIEW,
    ),
]
WindowTokens = Annotated[
    int | None,
    typer.Option(
        "--reviewer-window-tokens",
        metavar="N",
        help="The reviewer's window: a chunk takes a share of it, where that is less.",
        rich_help_panel=REVIEW,
    ),
]
WindowPercent = Annotated[
    int,
    typer.Option(
        "--reviewer-window-percent",
        metavar="N",
        min=1,
        max=100,
        help="That share.",
        rich_help_panel=REVIEW,
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Count the tokens of every file, and show the plan that a review goes by: it is kept, and moves no file that nobody edited.",
        rich_help_panel=REVIEW,
    ),
]
Sample = Annotated[
    bool,
    typer.Option(
        "--sample",
        help="Say how many tokens there are by a sample of 200 places: nearer than the estimate, and quicker than --exact.",
        rich_help_panel=REVIEW,
    ),
]


def plan(
    repo: where.Repo,
    *,
    axis: Axis = None,
    paths: where.Paths = None,
    branch: where.Branch = None,
    base: where.Base = "HEAD",
    include_generated: where.Generated = False,
    max_tokens: MaxTokens = MAX_TOKENS,
    window_tokens: WindowTokens = None,
    window_percent: WindowPercent = WINDOW_PERCENT,
    exact: Exact = False,
    sample: Sample = False,
    verify: where.Verify = None,
    setup: where.Setup = None,
    environment: where.Environment = "",
    sandbox: where.Sandbox = "auto",
    grain: where.OneCommit = "finding",
    unsafe: where.Unsafe = False,
    as_json: where.Json = False,
) -> None:
    """Say what would be done, and do nothing.

    With --axis: the sites of that axis, and what `swathe run` would do with them. Without: the chunks in which a review
    would read the repository, and which files it would skip and why. Sizes are git's: no file is read, and
    tokens are estimated by extension, unless you ask for --sample or --exact.
    """
    if axis is None:
        words_of_an_axis = {
            "--branch": branch is not None,
            "--verify": verify,
            "--setup": setup,
            "--env": environment,
            "--sandbox": sandbox != "auto",
            "--grain": grain != "finding",
            "--unsafe": unsafe,
        }
        given = [name for name, said in words_of_an_axis.items() if said]
        review_plan.show(
            repo,
            paths=tuple(paths or ()),
            base=base,
            include_generated=include_generated,
            max_tokens=max_tokens,
            window_tokens=window_tokens,
            window_percent=window_percent,
            exact=exact,
            sample=sample,
            as_json=as_json,
            of_an_axis=given,
        )
        return
    from cli import run

    run.preview(
        repo,
        axis,
        paths=paths,
        branch=branch,
        base=base,
        include_generated=include_generated,
        verify=verify,
        setup=setup,
        environment=environment,
        sandbox=sandbox,
        grain=grain,
        unsafe=unsafe,
        as_json=as_json,
    )
