"""What a person sees while a run works, told from the run's `events.jsonl`. All of it on stderr."""

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, Self

from pydantic import ValidationError
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from cli import terminal
from domain.progress import Event, Progress
from domain.telling import kept_line, progress_line, told, warning
from domain.words import MINUTE

SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_TO_FINISH = 5.0
MINUTES_BETWEEN_WARNINGS = 10
BAR_WIDTH = 40
SHOWN = {"begun": "", "ui": "", "baseline": "", "parked": "yellow", "sandbox": "bold yellow"}
"""The events that stay on the screen, each with its style."""


class View(Protocol):
    """How progress is shown: live, or line by line."""

    def __enter__(self) -> object: ...
    def __exit__(self, *_: object) -> None: ...
    def show(self, progress: Progress, event: Event) -> None: ...
    def tick(self, progress: Progress, now: float) -> None: ...


class Lines:
    """One line per event: for a log, a pipe, CI."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._warned = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress, event: Event) -> None:
        if line := told(event):
            self._console.print(line, markup=False)
        if event.event == "landed":
            self._console.print(progress_line(progress, event.elapsed), markup=False)

    def tick(self, progress: Progress, now: float) -> None:
        word = warning(progress, now)
        if word and now - self._warned > MINUTES_BETWEEN_WARNINGS * MINUTE:
            self._warned = now
            self._console.print(f"warning: {word}", markup=False)


class Screen:
    """A few lines that stay in place, and above them what should be remembered."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, transient=True, refresh_per_second=8)
        self._spinner = Spinner("dots")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, progress: Progress, event: Event) -> None:
        if event.event in SHOWN and (line := told(event)):
            style = SHOWN[event.event]
            self._live.console.print(Text(line, style=style))

    def tick(self, progress: Progress, now: float) -> None:
        rows = Table.grid()
        if progress.total:
            rows.add_row(
                ProgressBar(total=progress.total, completed=progress.settled, width=BAR_WIDTH)
            )
        rows.add_row(Text(progress_line(progress, now)))
        if word := warning(progress, now):
            rows.add_row(Text(word, style="bold yellow"))
        self._spinner.update(text=terminal.said(progress.step or "working"))
        rows.add_row(self._spinner)
        self._live.update(rows)


class Follower:
    """Reads events as they are appended, and keeps the view up to date, in a thread of its own."""

    def __init__(self, events: Path, view: View) -> None:
        self.progress = Progress()
        self._events = events
        self._view = view
        self._offset = 0
        self._read_at = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Read what is still to be read, and stop."""
        self._over.set()
        self._thread.join(SECONDS_TO_FINISH)

    def _follow(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_LOOKS):
            self._look()
        self._look()

    def _look(self) -> None:
        for event in self._appended():
            self.progress = self.progress.after(event)
            self._read_at = time.monotonic()
            self._view.show(self.progress, event)
        self._view.tick(self.progress, self.progress.elapsed + time.monotonic() - self._read_at)

    def _appended(self) -> Iterator[Event]:
        try:
            with self._events.open("rb") as lines:
                lines.seek(self._offset)
                fresh = lines.read()
        except OSError:
            return  # not begun
        whole = fresh[: fresh.rfind(b"\n") + 1]  # the last line may be half written
        self._offset += len(whole)
        for line in whole.splitlines():
            try:
                yield Event.model_validate_json(line)
            except ValidationError:
                continue  # a newer writer, or a line cut by a full disk: progress is not worth a crash


@contextmanager
def follow(events: Path, console: Console | None = None) -> Generator[Follower]:
    """Show the progress of the run that writes `events`, for as long as the block lasts.

    When the block is left by an exception, what has landed by then is named before it goes on.
    """
    console = console or terminal.remarks()
    view = Screen(console) if console.is_terminal else Lines(console)
    follower = Follower(events, view)
    try:
        with view:
            follower.start()
            try:
                yield follower
            finally:
                follower.finish()
    except BaseException:
        if kept := kept_line(follower.progress):
            console.print(kept, markup=False)
        raise
