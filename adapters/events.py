"""What happens in a run, as it happens: one JSON object a line, for the terminal, the UI and the report."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

from adapters.failpoints import reach
from adapters.redacting import scrubbed

_clocks: dict[Path, tuple[float, float]] = {}
"""By run folder: the monotonic second the clock started, and active seconds before that."""

FILE = "events.jsonl"


def emit(run: Path, event: str, /, **facts: object) -> None:
    """Append one event."""
    record = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "elapsed": round(elapsed(run), 3),
    }
    line = json.dumps(scrubbed({**record, "event": event, **facts}))
    with (run / FILE).open("a") as file:
        file.write(line + "\n")
    reach("event-written")


def elapsed(run: Path) -> float:
    """Active seconds of a run, by the monotonic clock, carried on when another process goes on with it."""
    if run not in _clocks:
        before = max((float(str(record.get("elapsed", 0))) for record in read(run)), default=0.0)
        _clocks[run] = (time.monotonic(), before)
    started, before = _clocks[run]
    return before + time.monotonic() - started


def uncounted(run: Path, seconds: float) -> None:
    """Take a wait out of the active seconds: for a rate limit, say. Call it after the wait, in the process that waited."""
    elapsed(run)  # the clock runs from here on, if it did not
    started, before = _clocks[run]
    _clocks[run] = (started + seconds, before)


def read(run: Path) -> list[dict[str, object]]:
    """All whole lines written so far; a torn last line is left out."""
    path = run / FILE
    if not path.exists():
        return []
    records: list[dict[str, object]] = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records
