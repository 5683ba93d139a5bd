"""The modes of the harness by name, and how an undisturbed run goes."""

import json
import time
from collections.abc import Callable
from typing import Literal

import engine
import kills
import tampering
from ground import Ground
from hand import ENDED_WELL, MOST_SECONDS, Blow, Hand, ended

Deal = Callable[[Hand], Blow]

MODES: dict[str, Deal] = {
    "failpoint": kills.at_failpoint,
    "time": kills.at_some_time,
    "group": kills.on_the_group,
    "planted": tampering.among_planted_locks,
    "torn": tampering.in_a_transaction,
    "orphan": tampering.leaving_an_orphan,
    "in-gate": tampering.in_the_gate,
    "gate": tampering.of_the_gate,
    "sigterm": kills.by_sigterm,
    "error": kills.with_error,
    "disk": tampering.on_a_full_disk,
    "clock": kills.under_a_jumping_clock,
    "prefect": kills.with_prefect,
    "review": kills.of_a_flow,
    "sweep": kills.of_a_flow,
    "units": kills.of_a_flow,
}
FLOWS: dict[str, Literal["review", "sweep", "units"]] = {
    "review": "review",
    "sweep": "sweep",
    "units": "units",
}
"""Modes that are of another flow than `campaign`."""


def profile(ground: Ground) -> tuple[float, dict[str, int]]:
    """Seconds and arrivals of an undisturbed run."""
    began = time.monotonic()
    status = ended(engine.start(ground, "nowhere:0"), MOST_SECONDS)
    seconds = time.monotonic() - began
    if status not in ENDED_WELL:
        raise RuntimeError(f"the undisturbed run ended in {status}: {ground.said()}")
    return seconds, json.loads((ground.tools / "arrivals").read_text())
