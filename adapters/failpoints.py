"""Failpoints: places where a run can be made to die, for the crash harness (`just crash`).

One lies beside every step that has to survive a kill. Nothing happens there unless `SWATHE_FAILPOINT` says so:
`NAME:K` kills this process by SIGKILL at its K-th arrival at NAME, `NAME:K:EIO` raises that error of
the system instead (or another one: any name that `errno` knows).
"""

import errno
import os
import signal
from collections import Counter
from typing import Literal, get_args

VARIABLE = "SWATHE_FAILPOINT"

Point = Literal[
    "lock-taken",
    "lock-named",
    "git-dir-begun",
    "store-laid",
    "clones-laid",
    "agent-put",
    "agent-moved",
    "gate-put",
    "gate-moved",
    "locks-cleared",
    "recovered",
    "event-written",
    "file-drafted",
    "start-kept",
    "environment-made",
    "gate-starting",
    "gate-answered",
    "verdict-kept",
    "importing",
    "imported",
    "bundled",
    "crossed",
    "shelved",
    "commits-written",
    "state-written",
    "objects-packed",
    "objects-sent",
    "refs-moving",
    "refs-moved",
    "state-closed",
    "report-kept",
    "let-go",
    "money-taken",
    "pass-begun",
    "pass-stood",
    "review-stood",
    "call-reserved",
    "answer-kept",
    "tool-done",
    "tool-kept",
    "phase-ended",
    "listed",
    "made-shelved",
    "items-settled",
    "unit-kept",
]
POINTS: tuple[Point, ...] = get_args(Point)

arrivals: Counter[str] = Counter()
"""By point, while the variable is set."""


def reach(point: Point) -> None:
    """Die or fail here, when that was asked for."""
    asked = os.environ.get(VARIABLE)
    if asked:
        _arrive(asked, point)


def _arrive(asked: str, point: Point) -> None:
    arrivals[point] += 1
    name, _, rest = asked.partition(":")
    count, _, error = rest.partition(":")
    if name != point or arrivals[point] != int(count):
        return
    if not error:
        os.kill(os.getpid(), signal.SIGKILL)
    number = getattr(errno, error)
    raise OSError(number, os.strerror(number))
