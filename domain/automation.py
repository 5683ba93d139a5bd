"""The automations of a pool: a run whose process is gone is told so, and a run that crashed goes on, a few times.

Prefect's own words, as data. A run is its deployment's: heartbeats name no pool.
"""

from collections.abc import Sequence
from typing import Any

from domain.pool import SECONDS_BETWEEN_HEARTBEATS

SECONDS_UNTIL_DEAD = 3 * SECONDS_BETWEEN_HEARTBEATS
MOST_STARTS = 4
"""Of one run: the first, and three after a crash. The flow counts; an automation would go on for ever."""

SECONDS_OF_SILENCE = 15
"""After a crash, before the run goes on. A worker tells of a crash twice, a second or two apart: a run that was scheduled again
between the two was started twice, and the second start found the target held by the first."""

HEARTBEAT = "prefect.flow-run.heartbeat"
TAKEN_UP = ("AwaitingRetry", "Cancelled", "Cancelling", "Late", "Pending", "Running", "Scheduled")
"""Names of states that say that somebody went on with a run already."""


_GO_ON: dict[str, Any] = {
    "type": "change-flow-run-state",
    "name": "AwaitingRetry",
    "state": "SCHEDULED",
    "message": "It crashed, and goes on where it stopped.",
}


def automations(pool: str, deployments: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """For the runs of `deployments`, by their ids."""
    related = {
        "prefect.resource.role": "deployment",
        "prefect.resource.id": sorted(f"prefect.deployment.{one}" for one in deployments),
    }
    return (_dead(pool, related), _resumed(pool, related))


def _dead(pool: str, related: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{pool}: a run without a heartbeat has crashed",
        "description": "The machine or its worker is gone, and nobody is left to say so.",
        "trigger": {
            "type": "event",
            "posture": "Proactive",
            "match": {"prefect.resource.id": "prefect.flow-run.*"},
            "match_related": related,
            "for_each": ["prefect.resource.id"],
            "after": [HEARTBEAT],
            # Any word of the run will do: it ends under its ending's own name, as `Nothing to do`.
            "expect": ["prefect.flow-run.*"],
            "threshold": 1,
            "within": SECONDS_UNTIL_DEAD,
        },
        "actions": [
            {
                "type": "change-flow-run-state",
                "state": "CRASHED",
                "message": f"No heartbeat for {SECONDS_UNTIL_DEAD} s: the process is gone.",
            },
            # At once. The other automation would hear of the crash, too; but a server that has just been started
            # holds an event back for 15 minutes when it has not seen the one before it.
            _GO_ON,
        ],
    }


def _resumed(pool: str, related: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{pool}: a run that crashed goes on",
        "description": f"It goes on where it stopped; it refuses to start for the {MOST_STARTS + 1}th time.",
        "trigger": {
            "type": "event",
            "posture": "Proactive",
            "match": {"prefect.resource.id": "prefect.flow-run.*"},
            "match_related": related,
            "for_each": ["prefect.resource.id"],
            "after": ["prefect.flow-run.Crashed"],
            "expect": [f"prefect.flow-run.{name}" for name in TAKEN_UP],
            "threshold": 1,
            "within": SECONDS_OF_SILENCE,
        },
        "actions": [_GO_ON],
    }
