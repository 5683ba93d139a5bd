"""A campaign under fire: blows, a check after each, and a last run that has to come to the same end."""

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Self

from checker import SECONDS_TO_GO, Checker, Fate, processes_of
from ground import Ground, Kind
from hand import BUSY, ENDED_WELL, Hand
from modes import FLOWS, MODES, Deal, profile
from tampering import mounted, unmount

MOST_BLOWS = 8
ONCE = ("environment-made",)
"""The first run of a campaign begins at each failpoint in its turn, so that none is left to luck; at these
in two turns, since no later run comes there."""
PATIENCE_SECONDS = 30.0
"""For how long a run may be told that another one is still there."""


@dataclass
class Tally:
    """What came of the campaigns of a mode."""

    campaigns: int = 0
    kills: int = 0
    """Runs that did not end by themselves, or not well."""
    wrong: list[str] = field(default_factory=list[str])
    """Each violation, with the words that replay it."""
    points: Counter[str] = field(default_factory=Counter[str])
    """Kills by failpoint."""
    recoveries: list[float] = field(default_factory=list[float])
    """Seconds in which a run that followed a kill took the lock, mended the clones and settled the refs."""
    silences: list[float] = field(default_factory=list[float])
    """Seconds from a kill until no process of the run was left."""
    garbage: int = 0
    """Half-written packs in the owner's repository, which git's own `gc` removes."""

    def add(self, other: Self) -> None:
        self.campaigns += other.campaigns
        self.kills += other.kills
        self.wrong += other.wrong
        self.points += other.points
        self.recoveries += other.recoveries
        self.silences += other.silences
        self.garbage += other.garbage

    def plain(self) -> dict[str, object]:
        """As JSON can tell it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, plain: dict[str, object]) -> Self:
        made = cls(**plain)  # type: ignore[arg-type]
        made.points = Counter(made.points)
        return made


@dataclass
class Field:
    """Where campaigns are fought: a folder, and what each kind of them comes to in peace."""

    folder: Path
    peace: dict[Kind, tuple[float, dict[str, int], Fate]] = field(default_factory=dict)

    def ground(self, name: str, kind: Kind) -> Ground:
        return Ground.laid(self.folder / name, kind)

    def undisturbed(self, kind: Kind) -> tuple[float, dict[str, int], Fate]:
        if kind not in self.peace:
            ground = self.ground("calm", kind)
            seconds, arrivals = profile(ground)
            checker = Checker(ground)
            wrong = checker.at_end()
            if wrong:
                raise RuntimeError(f"wrong without a kill: {wrong}")
            self.peace[kind] = (seconds, arrivals, checker.fate())
            shutil.rmtree(ground.room)
        return self.peace[kind]


class NoDisk(Exception):
    """The mode that needs one is left out."""


def fight(
    where: Field, mode: str, seed: int, *, mutant: str = "", first: str = "", most: int = MOST_BLOWS
) -> Tally:
    """One campaign: some blows of a mode, `most` of them, each checked; then the run that has to come through."""
    draw = random.Random(f"{mode} {seed}")
    kind = replace(Kind.drawn(draw), flow=FLOWS.get(mode, "campaign"))
    seconds, arrivals, calm = where.undisturbed(kind)
    with _laid(where, f"{mutant or mode}-{seed}", kind, small=mode == "disk") as ground:
        turns = (*sorted(arrivals), *ONCE)
        first = first or turns[seed % len(turns)]
        hand = Hand(ground, draw, seconds, arrivals, mutant=mutant, first=first)
        checker = Checker(ground, calm)
        tally = Tally(campaigns=1)
        story: list[str] = []
        # As many as are drawn, so that a campaign of fewer begins like the one that replays it.
        blows = [MODES[mode]] * min(most, draw.randint(1, MOST_BLOWS))
        wrong = _under_fire(hand, checker, blows, tally, story) or _to_the_end(hand, checker)
        tally.recoveries = _recoveries(ground)
        tally.garbage = sum(1 for _ in ground.target.glob(".git/objects/pack/tmp_*"))
    if wrong:
        words = f"--mode {mode} --seed {seed}" + (f" --mutant {mutant}" if mutant else "")
        told = f"[{words}] {kind.words}; {'; '.join(story)}: {'; '.join(wrong[:3])}"
        tally.wrong.append(told)
    return tally


@contextmanager
def _laid(where: Field, name: str, kind: Kind, *, small: bool) -> Generator[Ground]:
    """The ground of a campaign, on a small disk of its own when asked for; all of it gone afterwards."""
    disk = where.folder / name / "disk"
    disk.mkdir(parents=True)
    if small and (trouble := mounted(disk)):
        raise NoDisk(f"no small disk can be mounted here: {trouble}")
    ground = where.ground(name, kind)
    try:
        yield ground
    finally:
        clear(ground)
        if small:
            unmount(disk)
        shutil.rmtree(ground.room, ignore_errors=True)


def _under_fire(
    hand: Hand, checker: Checker, blows: Sequence[Deal], tally: Tally, story: list[str]
) -> list[str]:
    for deal in blows:
        try:
            blow = deal(hand)
        except TimeoutError as late:
            return [f"{late}: {hand.ground.said()[-300:]}"]
        hand.dealt += 1
        story.append(f"{blow.what} -> {blow.status}")
        began = time.monotonic()
        left = checker.wait_for_silence()
        tally.silences.append(time.monotonic() - began)
        wrong = [*blow.wrong, *(f"{one} is left after {SECONDS_TO_GO:g} s" for one in left)]
        if not blow.survived and blow.status not in blow.meant:
            wrong.append(f"ended in {blow.status}: {hand.ground.said()[-5000:]}")
        if "Traceback" in hand.ground.said():
            wrong.append(f"a traceback is shown: {hand.ground.said()[-1000:]}")
        if not blow.survived or blow.counts:
            tally.kills += 1
            tally.points[blow.what.partition(":")[0]] += 1
        wrong += checker.after_kill()
        if wrong:
            return wrong
        if blow.survived:
            break
    return []


def _to_the_end(hand: Hand, checker: Checker) -> list[str]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    status = BUSY
    try:
        while status == BUSY and time.monotonic() < deadline:
            status = hand.run()
    except TimeoutError as late:
        return [str(late)]
    if status not in ENDED_WELL:
        return [f"cannot go on, ended in {status}: {hand.ground.said()[-500:]}"]
    return checker.at_end()


def clear(ground: Ground) -> None:
    """End what a seeded bug left running, so that the next campaign is not blamed for it."""
    for one in processes_of(ground):
        with suppress(ProcessLookupError):
            os.kill(int(one.split()[0]), signal.SIGKILL)


def _recoveries(ground: Ground) -> list[float]:
    """Of the runs after the first."""
    path = ground.tools / "recovered"
    lines = path.read_text().split() if path.exists() else []
    return [float(line) for line in lines[1:]]
