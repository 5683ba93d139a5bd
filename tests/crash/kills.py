"""Kills, and what else comes from outside: signals, errors of the disk, a wall clock that jumps."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace

from hand import INTERRUPTED, MOST_SECONDS, REFUSED, Blow, Hand, ended, kill_family, waits

TERM_SECONDS = 10.0
"""From SIGTERM to the end of a run (cases.md, R6)."""


def at_failpoint(hand: Hand) -> Blow:
    """SIGKILL of itself at the k-th arrival at a named point."""
    asked = _point(hand)
    return Blow(asked, hand.run(asked))


def with_error(hand: Hand) -> Blow:
    """An error of the disk at a named point, which the run has to report and to leave the work kept."""
    asked = f"{_point(hand)}:{hand.draw.choice(('EIO', 'ENOSPC'))}"
    return Blow(asked, hand.run(asked), meant=(REFUSED,))


def _point(hand: Hand) -> str:
    """The first run of a campaign goes like the undisturbed one; a later one has less to do."""
    if not hand.dealt and hand.first:
        return f"{hand.first}:{hand.draw.randint(1, hand.arrivals[hand.first])}"
    point = hand.draw.choice(sorted(hand.arrivals))
    return f"{point}:{hand.draw.randint(1, max(1, hand.arrivals[point] // 2))}"


def at_some_time(hand: Hand) -> Blow:
    """SIGKILL of the engine alone. Its children find out by themselves."""
    return _interrupted(hand, "SIGKILL", lambda pid: os.kill(pid, signal.SIGKILL))


def on_the_group(hand: Hand) -> Blow:
    """SIGKILL of the engine and all its descendants at once, git in the middle of its writing."""
    return _interrupted(hand, "SIGKILL of all", kill_family)


def by_sigterm(hand: Hand) -> Blow:
    """SIGTERM, as from a scheduler."""
    pid = hand.start()
    delay = hand.draw.uniform(0, hand.seconds)
    if not waits(pid, delay):
        return Blow("SIGTERM, too late", ended(pid, 0))
    os.kill(pid, signal.SIGTERM)
    status = ended(pid, TERM_SECONDS)
    # Before the command line has said what to do with it, SIGTERM ends any process.
    return Blow(f"SIGTERM after {delay:.3f} s", status, meant=(INTERRUPTED, -signal.SIGTERM))


def _interrupted(hand: Hand, what: str, strike: Callable[[int], None]) -> Blow:
    pid = hand.start()
    delay = hand.draw.uniform(0, hand.seconds)
    if waits(pid, delay):
        strike(pid)
    return Blow(f"{what} after {delay:.3f} s", ended(pid, MOST_SECONDS))


def under_a_jumping_clock(hand: Hand) -> Blow:
    """SIGKILL of the engine, whose wall clock jumps by ten hours each time it is looked at (cases.md, R9)."""
    hand.how = replace(hand.how, clock_jumps=True)
    before = hand.ground.events()
    blow = at_some_time(hand)
    most = time.monotonic() - hand.began
    for file in hand.ground.events().keys() - before:
        told = [event["elapsed"] for event in hand.ground.events()[file]]
        if told != sorted(told) or any(not 0 <= seconds <= most for seconds in told):
            blow.wrong.append(f"a run of {most:.1f} s tells of {told} active seconds")
    return blow


def of_a_flow(hand: Hand) -> Blow:
    """SIGKILL of a review or a sweep: at a named point, at some time, or of all at once."""
    if hand.first and not hand.dealt:
        return at_failpoint(hand)
    return hand.draw.choice((at_failpoint, at_failpoint, at_some_time, on_the_group))(hand)


def with_prefect(hand: Hand) -> Blow:
    """The installed command with a real server: a kill at a named point, or at some time."""
    hand.how = replace(hand.how, server=os.environ["PREFECT_API_URL"])
    if hand.draw.random() < 0.5:
        return at_failpoint(hand)
    undisturbed = hand.seconds
    hand.seconds = START_OF_PREFECT + 2 * undisturbed
    try:
        return at_some_time(hand)
    finally:
        hand.seconds = undisturbed


START_OF_PREFECT = 4.0
"""Seconds."""
