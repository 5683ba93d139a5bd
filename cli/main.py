"""The command `swathe`: its verbs, and how it ends.

Nothing that a person does ends in a traceback. Expected refusals exit with 2, and so does a disk that
takes no more; an interruption with 130, a defect of ours with 70 and the path of a log.
"""

import os
import sys

from cli import interruption, shortcut
from domain.redaction import secrets_in
from domain.refusal import Busy, Refused

INTERRUPTED, BUSY, DEFECT, REFUSED = 130, 75, 70, 2


def _remark(words: str, style: str | None = None) -> None:
    from cli import terminal

    terminal.remarks().print(words, markup=False, style=style)


def _tell_interruption() -> None:
    _remark("Interrupted. What has landed is kept; run the same command again to go on.")


def _clean_streams() -> None:
    if secrets_in(os.environ):
        from adapters import redacting

        redacting.clean_streams()


def main() -> None:
    """The console entry. Always leaves through SystemExit."""
    with interruption.heard():
        try:
            _clean_streams()
            if (asked := shortcut.plan_in(sys.argv[1:])) is not None:
                from cli import review_plan

                review_plan.show(**asked)
                sys.exit()
            from adapters import redacting
            from cli.verbs import app

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
            _remark(f"swathe: {refusal}", "red")
            sys.exit(REFUSED)
        except Busy as busy:
            _remark(f"swathe: {busy}", "yellow")
            sys.exit(BUSY)
        except BrokenPipeError:
            # Whoever read our output has seen enough. Nothing is left to be flushed into the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except Exception as trouble:  # noqa: BLE001 - the last door: a person never sees a traceback
            sys.exit(_told(trouble))


def _told(trouble: Exception) -> int:
    """Say what became of a run that met what nobody expected; its exit code."""
    from cli.crash import disk_trouble, write_log

    if interruption.asked():
        _tell_interruption()
        return INTERRUPTED
    if said := disk_trouble(trouble):
        _remark(
            f"swathe: the disk takes no more: {said}. What has landed is kept. "
            f"Make room or mend it, then run the same command again.",
            "red",
        )
        return REFUSED
    log = write_log(trouble)
    report = f"report it with this log: {log}" if log else f"report it. It says: {trouble}"
    _remark(
        f"swathe: this is a defect of Swathe ({type(trouble).__name__}), not of your repository. "
        f"What has landed is kept. Please {report}"
    )
    return DEFECT


if __name__ == "__main__":
    main()
