"""Answers that more than one verb asks for: how they are asked, and what they add up to."""

from typing import Annotated, Literal, get_args

import typer

from cli import checked
from cli.where import (
    GATE,
    OUTPUT,
    Axis,
    Base,
    Branch,
    Environment,
    Generated,
    Json,
    OneCommit,
    Paths,
    Repo,
    Sandbox,
    Setup,
    Unsafe,
    Verify,
)
from domain.budget import Budget
from domain.choice import Policy
from domain.hired import Effort, Family, Hired, worker
from domain.target import Target
from domain.value import Refused

__all__ = [  # what `cli.where` asks is asked by these verbs too
    "GATE",
    "OUTPUT",
    "Axis",
    "Base",
    "Branch",
    "Environment",
    "Generated",
    "Json",
    "OneCommit",
    "Paths",
    "Repo",
    "Sandbox",
    "Setup",
    "Unsafe",
    "Verify",
]  # fmt: skip

LIMITS, MODEL = "How far", "Who works"

GateMinutes = Annotated[
    float,
    typer.Option(metavar="N", help="How long one run of the tests may take.", rich_help_panel=GATE),
]
Executor = Annotated[
    Literal["codemod", "claude", "gpt", "claude-code", "codex"],
    typer.Option(
        help="Who makes the changes. codemod: rules, at no cost; claude, gpt: a model, with ANTHROPIC_API_KEY or OPENAI_API_KEY; "
        "claude-code, codex: the same in its vendor's own agent, an extra of the installation. An axis in a sentence needs a model.",
        rich_help_panel=MODEL,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Which model. (default: the family's own)", rich_help_panel=MODEL
    ),
]
Price = Annotated[
    str,
    typer.Option(
        metavar="IN/OUT",
        help="Its price in US dollars for a million tokens of input and output, where no list has it: 4/20.",
        rich_help_panel=MODEL,
    ),
]
Thinking = Annotated[
    Effort,
    typer.Option(
        "--effort", help="How much the model thinks. (default: its own)", rich_help_panel=MODEL
    ),
]
ReaderModel = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Which model of the other family reads commits and looks afresh. (default: that family's own)",
        rich_help_panel=MODEL,
    ),
]
ReaderPrice = Annotated[
    str,
    typer.Option(metavar="IN/OUT", help="Its price, as in --price.", rich_help_panel=MODEL),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="The set-up gets no network: what it needs is in a cache or a folder. Needs a sandbox.",
        rich_help_panel=GATE,
    ),
]
Share = Annotated[
    str,
    typer.Option(
        "--share",
        metavar="REMOTE",
        help="Push what lands to this remote (its name, as origin, or a git URL), and go on from what is there: another "
        "machine can take over.",
    ),
]
Allow = Annotated[
    list[str] | None,  # typer takes no list of a Literal
    typer.Option(
        metavar="|".join(checked.CLOSED),
        help="Files a commit may touch that are closed otherwise: tests, CI, dependency manifests, "
        "tool configuration. May be repeated.",
        rich_help_panel=GATE,
    ),
]
MaxPasses = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="At most this many passes over the repository.", rich_help_panel=LIMITS
    ),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option(metavar="N", help="At most this many active minutes.", rich_help_panel=LIMITS),
]
Confirm = Annotated[
    Literal["off", "sample", "each"],
    typer.Option(
        help="Which commits a model of the other family reads before they land; what it says breaks something is parked. "
        "sample: the first of every kind of file, and one in five; each: all, refused without the other family's key.",
        rich_help_panel=MODEL,
    ),
]
Teach = Annotated[
    int,
    typer.Option(
        metavar="K",
        min=0,
        help="The model does the first K sites; an ast-grep rule made from them, and proved on some that it was not shown, "
        "does the others at no cost; what the rule can't do is the model's again. (default: the model does all)",
        show_default=False,
        rich_help_panel=MODEL,
    ),
]
MaxUsdPerPass = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="At most this many US dollars for one pass; the next one begins anew.",
        rich_help_panel=LIMITS,
    ),
]
MaxUsdPerSite = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="At most this many US dollars between two commits of a pass; then the pass ends.",
        rich_help_panel=LIMITS,
    ),
]
MaxUsd = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="At most this many US dollars; only models cost any.",
        rich_help_panel=LIMITS,
    ),
]


def hired(executor: str, model: str, price: str, effort: Effort) -> Hired | None:
    """The model that is to work; None for rules."""
    if who := worker(executor):
        family, agent = who
        return Hired(
            family=family, agent=agent, model=model.strip(), price=price.strip(), effort=effort
        )
    if model or price or effort:
        raise Refused(
            "--model, --price and --effort are of a model, and no model was asked for. Add --executor claude or --executor gpt."
        )
    return None


def read_by(hired: Hired | None, model: str, price: str) -> Hired | None:
    """With the model that reads what the hired one writes."""
    if not model.strip() and not price.strip():
        return hired
    if hired is None:
        raise Refused(
            "--reader-model and --reader-price are of the model that reads what another one wrote, and no model was "
            "asked for. Add --executor claude or --executor gpt."
        )
    return hired.model_copy(update={"reader_model": model.strip(), "reader_price": price.strip()})


def reviewer(name: str, price: str, effort: Effort) -> Hired:
    """A family of models that is to review, as `claude` or `claude:MODEL`."""
    family, _, model = name.partition(":")
    if family not in get_args(Family):
        raise Refused(
            f"--reviewer {name!r}: there are {', '.join(get_args(Family))} and rules; with a model, as claude:NAME."
        )
    return Hired.model_validate(
        {"family": family, "model": model.strip(), "price": price.strip(), "effort": effort}
    )


def target(
    repo: str,
    *,
    base: str = "HEAD",
    branch: str | None = None,
    paths: list[str] | None = None,
    verify: list[str] | None = None,
    setup: list[str] | None = None,
    environment: str = "",
    allow: list[str] | None = None,
    include_generated: bool = False,
    sandbox: Policy = "auto",
    offline: bool = False,
    gate_minutes: float = 30.0,
    share: str = "",
) -> Target:
    """The target these answers describe. Refuses what cannot be meant."""
    return Target(
        repo=checked.repository(repo),
        base=checked.ref("--base", base),
        branch=None if branch is None else checked.ref("--branch", branch),
        paths=tuple(checked.glob(path) for path in paths or ()),
        verify=tuple(checked.words("--verify", command) for command in verify or ()),
        setup=tuple(checked.words("--setup", command) for command in setup or ()),
        environment=checked.folder(environment),
        allow=checked.classes(allow or []),
        sandbox=sandbox,
        offline=offline,
        include_generated=include_generated,
        gate_minutes=checked.positive("--gate-minutes", gate_minutes),
        share=share.strip(),
    )


def budget(
    max_passes: int | None,
    max_minutes: float | None,
    max_usd: float | None,
    max_usd_per_pass: float | None = None,
    max_usd_per_site: float | None = None,
) -> Budget:
    return Budget(
        max_usd_per_pass=_positive("--max-usd-per-pass", max_usd_per_pass),
        max_usd_per_site=_positive("--max-usd-per-site", max_usd_per_site),
        max_passes=None
        if max_passes is None
        else int(checked.positive("--max-passes", max_passes)),
        max_minutes=_positive("--max-minutes", max_minutes),
        max_usd=_positive("--max-usd", max_usd),
    )


def _positive(option: str, value: float | None) -> float | None:
    return None if value is None else checked.positive(option, value)
