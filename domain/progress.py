"""How far a run is: a fold over its events. `telling` has the words for it."""

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from domain.value import Value
from domain.words import counted

Changed = dict[str, object]


class CommitSeen(BaseModel):
    """A landed commit, as the event names it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sha: str = ""
    subject: str = ""
    site: str = ""


class Event(BaseModel):
    """One line of `events.jsonl`. Fields it does not know are left to newer readers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: str
    elapsed: float = 0.0
    run: str = ""
    axis: str = ""
    target: str = ""
    base: str = ""
    branch: str = ""
    url: str = ""
    what: str = ""
    tests: int | None = None
    failed: tuple[str, ...] = ()
    count: int = 0
    known: bool = True
    """Of sites: somebody has looked."""
    commits: int | tuple[CommitSeen, ...] = 0
    kind: str = ""
    seconds: float = 0.0
    kept: bool = False
    pinned: bool = False
    failures: tuple[str, ...] = ()
    site: str = ""
    reason: str = ""
    ending: str = ""
    why: str = ""

    @property
    def landed(self) -> tuple[CommitSeen, ...]:
        return self.commits if isinstance(self.commits, tuple) else ()

    @property
    def size(self) -> int:
        return self.commits if isinstance(self.commits, int) else len(self.commits)


class Progress(Value):
    """What is known of a run so far."""

    run: str = ""
    axis: str = ""
    target: str = ""
    branch: str = ""
    ui: str = ""
    step: str = ""
    stage: Literal["preparing", "working", "ended"] = "preparing"
    total: int = 0
    """Sites settled so far and sites still listed."""
    gate_runs: int = 0
    landed: int = 0
    parked: int = 0
    tip: str = ""
    first_commit: float | None = None
    """Active seconds until the first commit landed."""
    last_commit: float | None = None
    working_since: float = 0.0
    elapsed: float = 0.0

    @property
    def settled(self) -> int:
        return self.landed + self.parked

    def after(self, event: Event) -> "Progress":
        """The progress once `event` has happened. An unknown event changes only the clock."""
        change = _CHANGES.get(event.event)
        changed = change(self, event) if change else {}
        return self.model_copy(update=changed | {"elapsed": max(self.elapsed, event.elapsed)})

    def quiet_seconds(self, now: float) -> float:
        """How long nothing has landed, at `now` active seconds."""
        return max(
            0.0, now - (self.working_since if self.last_commit is None else self.last_commit)
        )


def _sites_listed(progress: Progress, event: Event) -> Changed:
    since = progress.working_since if progress.stage == "working" else event.elapsed
    return {
        "total": progress.settled + event.count,
        "stage": "working",
        "working_since": since,
        "step": "",
    }


def _landing(progress: Progress, event: Event) -> Changed:
    if not event.landed:
        return {}
    first = progress.first_commit
    return {
        "landed": progress.landed + len(event.landed),
        "tip": event.landed[-1].sha,
        "first_commit": event.elapsed if first is None else first,
        "last_commit": event.elapsed,
    }


_CHANGES: dict[str, Callable[[Progress, Event], Changed]] = {
    "begun": lambda _, event: event.model_dump(include={"run", "axis", "target", "branch"}),
    "ui": lambda _, event: {"ui": event.url},
    "step": lambda _, event: {"step": event.what},
    "baseline": lambda _, event: {"step": ""},
    "sites": _sites_listed,
    "executed": lambda _, event: {"step": f"{counted(event.size, 'commit')} made"},
    "gate-started": lambda _, event: {"step": f"the gate runs on {counted(event.size, 'commit')}"},
    "gate": lambda progress, event: {
        "gate_runs": progress.gate_runs + (not event.kept),
        "step": "",
    },
    "landed": _landing,
    "parked": lambda progress, _: {"parked": progress.parked + 1},
    "ended": lambda _, event: {"stage": "ended", "step": ""},
}
