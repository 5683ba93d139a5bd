"""`swathe demo`: a whole run on a small repository made for it."""

from pathlib import Path
from typing import Annotated

import typer

from adapters import sample
from cli import ask, checked
from cli.run import refusal_as_json
from domain.value import Refused

FOLDER = Path("swathe-demo")


def demo(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]", help="Where the repository is made; must not exist yet."
        ),
    ] = FOLDER,
    axis: Annotated[
        str,
        typer.Option(
            metavar="AXIS",
            help=f"The axis to carry through. With `{sample.PARKING_AXIS}` some commits break tests, and are parked.",
        ),
    ] = sample.AXIS,
    sandbox: ask.Sandbox = "auto",
    as_json: ask.Json = False,
) -> None:
    """Make a small git repository, carry an axis through it, and show the commits that landed."""
    with refusal_as_json(str(folder), axis, as_json=as_json):
        checked.words("--axis", axis)
        if folder.exists():
            raise Refused(
                f"{str(folder)!r} exists already. Name another folder, as in `swathe demo {folder}-2`, "
                f"or go on in this one: `swathe run {folder} --axis {axis}`."
            )
        from cli import engine, summary

        report = engine.demo(folder.absolute(), axis, sandbox)
        summary.show(report, as_json=as_json)
        raise typer.Exit(report.exit_code)
