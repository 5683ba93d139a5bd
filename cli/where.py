"""Answers that every verb may ask for, `plan` included: typed without a library but the one that reads them."""

from typing import Annotated

import typer

from domain.choice import Grain, Policy

SCOPE, GATE, OUTPUT = "Where", "How a commit is proved", "Output"

Repo = Annotated[str, typer.Argument(metavar="REPO", help="The repository: a path, or a git URL.")]
Axis = Annotated[
    str,
    typer.Option(
        metavar="AXIS",
        help="The improvement to carry through: a name from the catalogue, `ruff:UP,SIM` (rules of ruff), "
        "`ast-grep:RULE.yml`, `cmd:…` (your own commands), or a sentence, which needs a model: see --executor.",
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the result as the last line of stdout, in JSON.",
        rich_help_panel=OUTPUT,
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="Only these files, as in .gitignore: `src/**`. May be repeated. (default: everything)",
        rich_help_panel=SCOPE,
    ),
]
Branch = Annotated[
    str | None,
    typer.Option(
        metavar="BASE",
        help="Only files changed since the merge base with this branch.",
        rich_help_panel=SCOPE,
    ),
]
Base = Annotated[
    str,
    typer.Option(
        metavar="REF", help="The branch, tag or commit to start from.", rich_help_panel=SCOPE
    ),
]
Generated = Annotated[
    bool,
    typer.Option(
        "--include-generated",
        help="Also generated, vendored and minified files.",
        rich_help_panel=SCOPE,
    ),
]
Verify = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CMD",
        help="A command that proves a commit, as `pytest -q`. May be repeated. (default: detected)",
        rich_help_panel=GATE,
    ),
]
Setup = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CMD",
        help="A command that prepares the environment of the tests. May be repeated. (default: detected)",
        rich_help_panel=GATE,
    ),
]
Environment = Annotated[
    str,
    typer.Option(
        "--env",
        metavar="PATH",
        help="An environment that exists already, as `.venv`; nothing is installed then.",
        rich_help_panel=GATE,
    ),
]
Sandbox = Annotated[
    Policy,
    typer.Option(
        help="What holds back the target's commands. auto: bubblewrap, and where it does not work a warning; "
        "required: refused where it does not; landlock: the weaker way; off: nothing, they have your rights.",
        rich_help_panel=GATE,
    ),
]
Unsafe = Annotated[
    bool,
    typer.Option(
        "--unsafe", help="Also fixes that may change what the code does. The tests decide."
    ),
]
OneCommit = Annotated[
    Grain,
    typer.Option(
        help="What one commit settles: a finding, all findings of a file, or all of a rule."
    ),
]
