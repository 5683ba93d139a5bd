"""The command `swathe`: its verbs, and how it ends.

Nothing that a person does ends in a traceback. Expected refusals exit with 2, and so does a disk that
takes no more; an interruption with 130, a defect of ours with 70 and the path of a log.
"""

import os
import sys
from typing import Annotated

import typer

from adapters import redacting
from cli import demo, doctor, interruption, report, run, server, status, terminal
from cli.crash import disk_trouble, write_log
from domain.value import Busy, Refused

INTERRUPTED, BUSY, DEFECT, REFUSED = 130, 75, 70, 2

CARRY, LOOK, KEEP, SERVICE = "Carry an axis", "Look", "Take the work home", "Service"

app = typer.Typer(
    name="swathe",
    help="Carry one axis of improvement through a whole repository, site by site, each change "
    "verified by the repository's own tests, committed on its own, and kept.",
    epilog="Start with `swathe demo`: it makes a small repository and shows a whole run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # `main` speaks for them
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo", rich_help_panel=CARRY)(demo.demo)
app.command("run", rich_help_panel=CARRY)(run.run)
app.command("plan", rich_help_panel=CARRY)(run.plan)
app.command("status", rich_help_panel=LOOK)(status.status)
app.command("report", rich_help_panel=LOOK)(report.report)
app.command("doctor", rich_help_panel=LOOK)(doctor.doctor)
app.command("take", rich_help_panel=KEEP)(status.take)
app.command("enough", rich_help_panel=KEEP)(status.enough)
app.add_typer(server.app, name="server", rich_help_panel=SERVICE)


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


def _tell_interruption() -> None:
    terminal.remarks().print(
        "Interrupted. What has landed is kept; run the same command again to go on.", markup=False
    )


def main() -> None:
    """The console entry. Always leaves through SystemExit."""
    with interruption.heard():
        try:
            redacting.clean_streams()
            redacting.clean_logs()
            app(prog_name="swathe")
        except SystemExit as leaving:
            if leaving.code == INTERRUPTED:
                _tell_interruption()
            raise
        except KeyboardInterrupt:
            _tell_interruption()
            sys.exit(INTERRUPTED)
        except Refused as refusal:
            terminal.remarks().print(f"swathe: {refusal}", markup=False, style="red")
            sys.exit(REFUSED)
        except Busy as busy:
            terminal.remarks().print(f"swathe: {busy}", markup=False, style="yellow")
            sys.exit(BUSY)
        except BrokenPipeError:
            # Whoever read our output has seen enough. Nothing is left to be flushed into the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except Exception as trouble:  # noqa: BLE001 - the last door: a person never sees a traceback
            sys.exit(_told(trouble))


def _told(trouble: Exception) -> int:
    """Say what became of a run that met what nobody expected; its exit code."""
    if interruption.asked():
        _tell_interruption()
        return INTERRUPTED
    if said := disk_trouble(trouble):
        terminal.remarks().print(
            f"swathe: the disk takes no more: {said}. What has landed is kept. "
            f"Make room or mend it, then run the same command again.",
            markup=False,
            style="red",
        )
        return REFUSED
    log = write_log(trouble)
    report = f"report it with this log: {log}" if log else f"report it. It says: {trouble}"
    terminal.remarks().print(
        f"swathe: this is a defect of Swathe ({type(trouble).__name__}), not of your repository. "
        f"What has landed is kept. Please {report}",
        markup=False,
    )
    return DEFECT


if __name__ == "__main__":
    main()
