"""A run that works, in words: one line for all of it, one line for each event."""

from collections.abc import Callable

from domain.progress import Event, Progress
from domain.status import MINUTES_UNTIL_QUIET
from domain.words import MINUTE, counted, duration, printable


def progress_line(progress: Progress, now: float) -> str:
    """Everything a person asks of a run that works, in one line."""
    said = [counted(progress.total, "site")] if progress.stage != "preparing" else []
    said += [
        counted(progress.gate_runs, "gate run"),
        f"{progress.landed:,} landed",
        f"{progress.parked:,} parked",
    ]
    if progress.first_commit is not None:
        said.append(f"first commit after {duration(progress.first_commit)}")
    if progress.last_commit is not None:
        said.append(f"last one {duration(progress.quiet_seconds(now))} ago")
    return " · ".join(said)


def warning(progress: Progress, now: float) -> str | None:
    """A word about a run that looks alive and lands nothing."""
    quiet = progress.quiet_seconds(now)
    if progress.stage != "working" or quiet <= MINUTES_UNTIL_QUIET * MINUTE:
        return None
    return (
        f"nothing has landed for {duration(quiet)}. "
        f"`swathe enough {printable(progress.target)}` ends the run after this pass and keeps what landed."
    )


def kept_line(progress: Progress) -> str | None:
    """What a run that was cut off leaves behind, and how to take it; None when it has landed nothing."""
    if not progress.landed:
        return None
    return (
        f"{counted(progress.landed, 'commit')} landed on {_short(progress.branch)}, now at {progress.tip[:12]}. "
        f"Nothing of it is lost: run the same command again to go on, or take the work with "
        f"`swathe take {printable(progress.target)} --axis {printable(progress.axis)}`."
    )


def told(event: Event) -> str | None:
    """The event as a line of its own; None for what is not worth one."""
    words = _WORDS.get(event.event)
    return words(event) if words else None


def _short(branch: str) -> str:
    return printable(branch.removeprefix("refs/heads/"))


def _gate_told(event: Event) -> str:
    how = "known from before" if event.kept else duration(event.seconds)
    pinned = " with the protected files of the base" if event.pinned else ""
    return f"gate {printable(event.kind)} on {counted(event.size, 'commit')}{pinned} ({how})"


def _parked_told(event: Event) -> str:
    breaks = f", breaks {printable(event.failures[0])}" if event.failures else ""
    more = f" and {len(event.failures) - 1} more" if len(event.failures) > 1 else ""
    return f"parked {printable(event.site)}: {printable(event.reason)}{breaks}{more}"


def _begun_told(event: Event) -> str:
    return f"{printable(event.axis)} on {printable(event.target)} -> {_short(event.branch)}"


def _baseline_told(event: Event) -> str:
    tests = "exit code only" if event.tests is None else counted(event.tests, "test")
    known = f"{len(event.failed)} fail already" if event.failed else "all green"
    return f"baseline: {tests}, {known} ({duration(event.seconds)})"


_WORDS: dict[str, Callable[[Event], str]] = {
    "begun": _begun_told,
    "ui": lambda event: f"watch it at {printable(event.url)}",
    "sandbox": lambda event: f"warning: {printable(event.what)}",
    "step": lambda event: printable(event.what),
    "baseline": _baseline_told,
    "sites": lambda event: f"{counted(event.count, 'site')} found" if event.known else "",
    "gate": _gate_told,
    "landed": lambda event: f"landed {counted(event.size, 'commit')}",
    "parked": _parked_told,
}
