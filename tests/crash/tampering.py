"""Blows that are dealt with the help of a file: planted locks, a git of the test's own, a hook in the gate, a full disk."""

import os
import signal
import subprocess
import time
from pathlib import Path

from checker import lock_is_held, processes_of
from ground import GIT, Ground
from hand import MOST_SECONDS, REFUSED, Blow, Hand, ended, send, waits
from kills import on_the_group


def among_planted_locks(hand: Hand) -> Blow:
    """A kill of all, and on top of what it left: locks, drafts and half-made clones of a kill elsewhere."""
    blow = on_the_group(hand)
    if blow.survived:
        return blow
    planted = [_plant(place) for place in _places(hand.ground) if hand.draw.random() < 0.5]
    blow.what += f", planted {' '.join(planted) or 'nothing'}"
    return blow


def _plant(place: Path) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"")
    return place.name


def _places(ground: Ground) -> list[Path]:
    refs = ground.target / ".git" / "refs"
    found = [
        refs / "heads/swathe/ruff-up.lock",
        refs / "swathe/ruff-up/state.lock",
        refs / "swathe/ruff-up/parked/0123456789ab.lock",
    ]
    if home := ground.campaign_home:
        run = max(home.glob("runs/*"), default=home / "runs" / "r", key=lambda path: path.name)
        found += [
            home / "gate.index.lock",
            home / "gate.keep.draft",
            home / "agent.git/index.lock",
            home / "agent.git/HEAD.lock",
            home / "store.git/HEAD.lock",
            home / "store.git/packed-refs.lock",
            home / "store.git/refs/swathe-work/1.lock",
            home / "store.git/objects/pack/tmp_pack_Ab3xYz",
            home / "agent/.git/index.lock",
            home / "gate/.git/index.lock",
            home / "verdicts/0123.json.draft",
            run / "start.json.draft",
            run / "report.json.draft",
        ]
    return found


TORN = """#!/bin/sh
case " $* " in
*" update-ref "*" --stdin "*)
  read -r call kept < "{tools}/torn" || exec {git} "$@"
  call=$((call - 1))
  echo "$call $kept" > "{tools}/torn"
  [ "$call" = 0 ] || exec {git} "$@"
  rm "{tools}/torn"
  grep -E "^(update|create) " > "{tools}/lines"
  kept=$((kept % $(wc -l < "{tools}/lines")))
  {{ echo start; head -n "$kept" "{tools}/lines"; echo prepare; echo commit; }} | {git} "$@" > /dev/null
  tail -n +$((kept + 1)) "{tools}/lines" | while read -r verb ref new old; do
    mkdir -p "$GIT_DIR/${{ref%/*}}"
    echo "$new" > "$GIT_DIR/$ref.lock"
  done
  kill -KILL $PPID $$
esac
exec {git} "$@"
"""
"""git as its files backend works: all refs are locked, then renamed one by one. It dies between two of them."""


def in_a_transaction(hand: Hand) -> Blow:
    """Git and the engine die when some refs of a transaction are moved and the others are locked."""
    _install(hand.ground, TORN)
    calls = max(1, hand.arrivals["refs-moving"] // (1 + hand.dealt))
    word = f"{hand.draw.randint(1, calls)} {hand.draw.randint(0, 3)}"
    (hand.ground.tools / "torn").write_text(word + "\n")
    try:
        return Blow(f"a torn transaction ({word})", hand.run())
    finally:
        (hand.ground.programs / "git").unlink()
        (hand.ground.tools / "torn").unlink(missing_ok=True)


SLOW = """#!/bin/sh
case " $* " in
*" {command} "*)
  if mkdir "{tools}/asleep" 2> /dev/null; then sleep 0.4; fi
esac
exec {git} "$@"
"""
WRITING = ("fast-import", "index-pack", "update-ref", "read-tree")


def leaving_an_orphan(hand: Hand) -> Blow:
    """SIGKILL of the engine alone, while a git of its own is about to write; and at once the next run."""
    command = hand.draw.choice(WRITING)
    _install(hand.ground, SLOW, command=command)
    pid = hand.start()
    asleep = hand.ground.tools / "asleep"
    deadline = time.monotonic() + MOST_SECONDS
    while not asleep.exists() and waits(pid, 0.005):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {command} within {MOST_SECONDS:g} s")
    send(pid, signal.SIGKILL)
    blow = Blow(f"an orphan in {command}", ended(pid, MOST_SECONDS))
    (hand.ground.programs / "git").unlink()
    home = hand.ground.campaign_home
    if not blow.survived and home:
        left = [one for one in processes_of(hand.ground) if "git" in one]
        free = not lock_is_held(home / "lock")
        # Asked again: it may have ended between the two questions.
        if free and set(left) & set(processes_of(hand.ground)):
            blow.wrong.append(f"the lock is free while {left} is about to write")
    if asleep.exists():
        asleep.rmdir()
    return blow


def _install(ground: Ground, shim: str, **more: str) -> None:
    path = ground.programs / "git"
    path.write_text(shim.format(tools=ground.tools, git=GIT, **more))
    path.chmod(0o755)


IN_GATE = """
if [ "$call" = {call} ]; then
  setsid sleep 100 &
  sleep 100 &
  kill -KILL {whom}
  wait
fi
"""


def in_the_gate(hand: Hand) -> Blow:
    """SIGKILL of the engine by its own gate, which goes on, with a daemon beside it."""
    return _in_gate(hand, "$engine", "the engine killed in gate run {call}")


def of_the_gate(hand: Hand) -> Blow:
    """SIGKILL of the gate alone: a red that nobody is to blame for."""
    return _in_gate(hand, "$$", "gate run {call} killed")


def _in_gate(hand: Hand, whom: str, what: str) -> Blow:
    calls = hand.ground.tools / "calls"
    done = int(calls.read_text() or 0) if calls.exists() else 0
    call = done + hand.draw.randint(1, max(1, hand.arrivals["gate-starting"] - done))
    hook = hand.ground.tools / "at-gate"
    hook.write_text(IN_GATE.format(call=call, whom=whom))
    try:
        status = hand.run()
        return Blow(what.format(call=call), status, counts=int(calls.read_text()) >= call)
    finally:
        hook.unlink()


WITH_NO_ROOM = (1, REFUSED)
"""How a run may end on a full disk."""


def on_a_full_disk(hand: Hand) -> Blow:
    """The disk of target and home runs full at some time, to a few kilobytes, and has room again after the run."""
    pid = hand.start()
    delay = hand.draw.uniform(0, hand.seconds)
    filler = hand.ground.disk / "filler"
    room = 4096 * hand.draw.randint(0, 16)
    if waits(pid, delay):
        _fill(filler, room)
    try:
        status = ended(pid, MOST_SECONDS)
    finally:
        filler.unlink(missing_ok=True)
    return Blow(f"{room} bytes free after {delay:.3f} s", status, meant=WITH_NO_ROOM)


def _fill(filler: Path, room: int) -> None:
    """Take all there is, and give `room` bytes back."""
    step, size = DISK_BYTES, 0
    with filler.open("wb") as file:
        while step >= 4096:
            try:
                os.posix_fallocate(file.fileno(), size, step)
                size += step
            except OSError:
                step //= 2
        file.truncate(max(0, size - room))


def mounted(ground_disk: Path) -> str:
    """Mount a small disk; why it cannot be, or nothing."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(ground_disk)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr.strip()


def unmount(ground_disk: Path) -> None:
    subprocess.run(["umount", str(ground_disk)], check=True)


DISK_BYTES = 260_000_000
"""The gate wants 200 MB to be free."""
