"""How a run's ending is named in Prefect (design.md §6)."""

from prefect import State
from prefect.states import Cancelled, Completed, Failed

from domain.report import Report
from domain.value import Busy

FAILED = ("stalled", "red", "refused")


def state_of(report: Report) -> State[Report]:
    """Completed under the ending's own name, or Failed."""
    name = report.ending.replace("-", " ").capitalize()
    message = f"{report.ending}: {report.why}"
    if report.ending in FAILED:
        return Failed(name=name, message=message)
    return Completed(name=name, message=message, data=report)


def held(busy: Busy) -> State[Report]:
    """Another run holds the target: this one never began."""
    return Cancelled(name="Busy", message=f"busy: {busy}")
