"""The verbs, each loaded when it is typed: `swathe status` waits for no library that only `swathe run` needs."""

import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

CARRY, LOOK, KEEP = "Carry an axis", "Look", "Take the work home"
WORDS = "A word to a run that is on"
DUTY, SERVICE = "On duty", "Service"


class Verb(NamedTuple):
    """Where a verb is defined."""

    module: str
    name: str
    panel: str


VERBS = {
    "demo": Verb("cli.demo", "demo", CARRY),
    "run": Verb("cli.run", "run", CARRY),
    "sweep": Verb("cli.sweep", "sweep", CARRY),
    "review": Verb("cli.review", "review", CARRY),
    "units": Verb("cli.units", "units", CARRY),
    "plan": Verb("cli.plan", "plan", CARRY),
    "status": Verb("cli.status", "status", LOOK),
    "list": Verb("cli.items", "show", LOOK),
    "report": Verb("cli.report", "report", LOOK),
    "doctor": Verb("cli.doctor", "doctor", LOOK),
    "take": Verb("cli.status", "take", KEEP),
    "curate": Verb("cli.curate", "curate", KEEP),
    "enough": Verb("cli.words", "enough", WORDS),
    "raise": Verb("cli.words", "more", WORDS),
    "tell": Verb("cli.words", "tell", WORDS),
    "answer": Verb("cli.words", "answer", WORDS),
    "deploy": Verb("cli.deploy", "deploy", DUTY),
    "duty": Verb("cli.duty", "duty", DUTY),
    "worker": Verb("cli.worker", "worker", DUTY),
    "server": Verb("cli.server", "app", SERVICE),
}
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


class Verbs(TyperGroup):
    """The group of `VERBS`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(VERBS)  # pyright: ignore[reportAttributeAccessIssue] -- names, for suggestions

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        defined: Any = getattr(import_module(verb.module), verb.name)
        app = defined if isinstance(defined, typer.Typer) else _alone(defined)
        command = get_command(app)
        command.name, command.rich_help_panel = cmd_name, verb.panel  # pyright: ignore[reportAttributeAccessIssue]
        return command


def _alone(verb: Any) -> typer.Typer:
    app = typer.Typer(add_completion=False, context_settings=SETTINGS)
    app.command()(verb)
    return app


app = typer.Typer(
    name="swathe",
    cls=Verbs,
    help="Carry one axis of improvement through a whole repository, site by site, each change "
    "verified by the repository's own tests, committed on its own, and kept.",
    epilog="Start with `swathe demo`: it makes a small repository and shows a whole run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # `main` speaks for them
    context_settings=SETTINGS,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version as installed

        sys.stdout.write(f"swathe {installed('swathe')}\n")
        raise typer.Exit


@app.callback()
def _swathe(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
