"""`swathe review`: look through a repository chunk by chunk, and mend what is found."""

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import ask, checked
from cli.run import refusal_as_json
from domain.reviewers import Mode
from domain.sweep import ContextMode, Coverage, StopWhen
from domain.value import Refused

if TYPE_CHECKING:
    from domain.review_options import ReviewOptions

REVIEW = "How it is reviewed"

Look = Annotated[
    str,
    typer.Option(
        "--axis",
        metavar="SENTENCE",
        help="What the reviewers look for, as 'callers that ignore a returned error'. (default: whatever is wrong)",
        show_default=False,
    ),
]
Who = Annotated[
    list[str] | None,
    typer.Option(
        "--reviewer",
        metavar="claude|gpt|rules[:MODEL]",
        help="Who reviews: a model family, with its model if it is not the family's own; twice for two. rules: ruff and ast-grep, "
        "at no cost. (default: the families whose keys are set, else rules)",
        rich_help_panel=ask.MODEL,
    ),
]
Families = Annotated[
    Mode,
    typer.Option(
        "--review",
        help="dual: two families take turns and check each other; mono: one alone.",
        rich_help_panel=ask.MODEL,
    ),
]
Stop = Annotated[
    StopWhen | None,
    typer.Option(
        help="covered: every file has a clean verdict on its present content, and both families took part; covered_by_both: by "
        "each family; streak: a round of clean passes in a row and one more. (default: covered; covered_by_both where rules review)",
        rich_help_panel=REVIEW,
    ),
]
Context = Annotated[
    ContextMode,
    typer.Option(
        "--context",
        help="explore: a reviewer opens the files itself; inline: they stand in its prompt.",
        rich_help_panel=REVIEW,
    ),
]
Covering = Annotated[
    Coverage,
    typer.Option(
        "--coverage",
        help="any: a reviewer has to open a file of its chunk at least; full: every line of it.",
        rich_help_panel=REVIEW,
    ),
]
ChunkTokens = Annotated[
    int | None,
    typer.Option(
        "--max-review-chunk-tokens",
        min=1,
        metavar="N",
        help="Tokens in a chunk. (default: 30,000; inline 16,000)",
        rich_help_panel=REVIEW,
    ),
]
Window = Annotated[
    int,
    typer.Option(
        "--reviewer-window-tokens",
        min=0,
        metavar="N",
        help="The reviewer's window: a chunk takes no more than --reviewer-window-percent of it.",
        show_default=False,
        rich_help_panel=REVIEW,
    ),
]
Percent = Annotated[
    int,
    typer.Option("--reviewer-window-percent", min=1, max=100, metavar="N", rich_help_panel=REVIEW),
]
Passes = Annotated[
    int | None,
    typer.Option(
        "--max-review-passes",
        min=1,
        metavar="N",
        help="At most this many reviews in this run; the next run goes on. (default: 15; rules: as many as it takes)",
        rich_help_panel=ask.LIMITS,
    ),
]


def review(
    repo: ask.Repo,
    *,
    axis: Look = "",
    reviewer: Who = None,
    families: Families = "dual",
    stop_when: Stop = None,
    context: Context = "explore",
    coverage: Covering = "any",
    chunk_tokens: ChunkTokens = None,
    window_tokens: Window = 0,
    window_percent: Percent = 45,
    paths: ask.Paths = None,
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
    price: ask.Price = "",
    effort: ask.Thinking = "",
    retry: Annotated[
        bool, typer.Option("--retry", help="Try again what was parked, stuck or left before.")
    ] = False,
    max_review_passes: Passes = None,
    max_minutes: ask.MaxMinutes = None,
    max_usd: ask.MaxUsd = None,
    as_json: ask.Json = False,
) -> None:
    """Review a repository chunk by chunk, mend what is found, and land each fix that the tests hold.

    Fixes land on the branch `swathe/review`. The review is over when every file has a clean verdict on the content it has;
    what has not changed since is not looked at again. Exit codes are those of `swathe run`.
    """
    asked = dict(locals())
    with refusal_as_json(repo, axis or "review", as_json=as_json):
        from cli import engine, summary

        report = engine.run_review(options_of(asked))
        summary.show(report, as_json=as_json)
    raise typer.Exit(report.exit_code)


def options_of(asked: Mapping[str, Any]) -> "ReviewOptions":
    """The request that these answers make, by the names under which `review` asks for them. Refuses what cannot be meant."""
    from domain.axis import Sentence
    from domain.review_options import ReviewOptions, ReviewSettings

    target = ask.target(
        **{name: asked[name] for name in signature(ask.target).parameters if name in asked}
    )
    who = [one.strip() for one in asked["reviewer"] or ()]
    only_rules = "rules" in who
    if only_rules and len(who) > 1:
        raise Refused(
            f"--reviewer rules and {len(who) - 1} more: rules review among themselves. Name models, or rules alone."
        )
    models = (
        ()
        if only_rules
        else tuple(ask.reviewer(one, asked["price"], asked["effort"]) for one in who)
    )
    axis = asked["axis"]
    return ReviewOptions(
        target=target,
        axis=Sentence(text=checked.words("--axis", axis)) if axis else None,
        settings=ReviewSettings(
            review=asked["families"],
            stop_when=asked.get("stop_when"),
            context_mode=asked["context"],
            coverage=asked["coverage"],
            max_review_chunk_tokens=asked["chunk_tokens"],
            reviewer_window_tokens=asked["window_tokens"],
            reviewer_window_percent=asked["window_percent"],
            max_review_passes=asked.get("max_review_passes"),
        ),
        budget=ask.budget(None, asked["max_minutes"], asked["max_usd"]),
        hired=models,
        only_rules=only_rules,
        retry=asked["retry"],
    )
