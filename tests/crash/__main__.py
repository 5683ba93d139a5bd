"""`just crash`: kill runs of the engine in every way, check what is left, and print what was found.

just crash                                  every mode, the numbers of the README
just crash --mode failpoint --seed 7        one campaign again
just crash --mutants                        see the harness catch each seeded bug
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import engine
from campaigns import MOST_BLOWS, Field, NoDisk, Tally, fight
from modes import MODES
from mutants import MUTANTS
from summary import table

LONG = {
    "failpoint": 1000,
    "time": 1000,
    "group": 300,
    "planted": 100,
    "torn": 100,
    "orphan": 50,
    "in-gate": 50,
    "gate": 20,
    "sigterm": 50,
    "error": 100,
    "disk": 30,
    "clock": 50,
    "prefect": 30,
    "review": 100,
    "sweep": 100,
    "units": 100,
}
"""Kills by mode."""
MANY = 20
"""Worth sharing: fewer are one or two campaigns."""


def main() -> int:
    asked = _asked()
    began = time.monotonic()
    engine.warm()
    # Not a `TemporaryDirectory`: a forked engine that ends in order would remove it.
    folder = Path(tempfile.mkdtemp(prefix="swathe-crash-", dir=asked.folder))
    try:
        if asked.mutants:
            return _see_them_caught(Field(folder), asked.only or list(MUTANTS), asked.campaigns)
        with _server(folder) if "prefect" in _kills(asked) else nullcontext():
            tallies = _shared(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table(tallies, time.monotonic() - began))
    if asked.report:
        plain = {mode: tally.plain() for mode, tally in tallies.items()}
        asked.report.write_text(json.dumps(plain))
    return 1 if any(tally.wrong for tally in tallies.values()) else 0


def _see_them_caught(where: Field, names: list[str], most: int) -> int:
    """Each bug in the mode that is made for it, until it is caught."""
    escaped: list[str] = []
    for name in names:
        mutant, kills = MUTANTS[name], 0
        for seed in range(1, most + 1):
            fought = fight(where, mutant.mode, seed, mutant=name, first=mutant.first)
            kills += fought.kills
            if fought.wrong:
                print(
                    f"caught  {name:<28} after {seed} campaigns, {kills} kills: {fought.wrong[0][:200]}",
                    flush=True,
                )
                break
        else:
            print(f"ESCAPED {name:<28} from {most} campaigns, {kills} kills", flush=True)
            escaped.append(name)
    print(f"{len(names) - len(escaped)} of {len(names)} seeded bugs caught")
    return 1 if escaped else 0


def _asked() -> argparse.Namespace:
    words = argparse.ArgumentParser(
        prog="just crash",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words.add_argument("--mode", choices=[*MODES], action="append")
    words.add_argument("--kills", type=int, help="of each mode")
    words.add_argument(
        "--share", action="append", help="MODE=KILLS; the modes that are not named are left out"
    )
    words.add_argument("--report", type=Path, help="where the numbers go, as JSON")
    words.add_argument("--seed", type=int, help="of one campaign, to see it again")
    words.add_argument("--first-seed", type=int, default=1)
    words.add_argument("--workers", type=int, default=1)
    words.add_argument("--mutant", default="", choices=["", *MUTANTS])
    words.add_argument("--mutants", action="store_true", help="see each seeded bug caught")
    words.add_argument("--only", action="append", choices=[*MUTANTS], help="of the seeded bugs")
    words.add_argument("--campaigns", type=int, default=40, help="that a bug may escape from")
    words.add_argument("--folder", help="where the campaigns are laid")
    return words.parse_args()


def _shared(asked: argparse.Namespace, folder: Path) -> dict[str, Tally]:
    """The work, shared among processes, each with seeds of its own."""
    children: list[tuple[int, Path]] = []
    for number in range(asked.workers):
        room = folder / f"worker-{number}"
        room.mkdir()
        pid = os.fork()
        if not pid:
            code = 1
            try:
                found = _worked(asked, room, number)
                plain = {mode: tally.plain() for mode, tally in found.items()}
                (room / "tallies.json").write_text(json.dumps(plain))
                code = 0
            except Exception:  # noqa: BLE001 -- told here, since nothing may get back into the parent's code
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        children.append((pid, room / "tallies.json"))
    total: dict[str, Tally] = {}
    for pid, path in children:
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            raise SystemExit("a worker did not come through; see above")
        for mode, plain in json.loads(path.read_text()).items():
            total.setdefault(mode, Tally()).add(Tally.of(plain))
    return total


@contextmanager
def _server(folder: Path) -> Generator[None]:
    """A Prefect server for the runs that want one."""
    from adapters.service import server

    home = folder / "server"
    home.mkdir()
    server.start(home)
    try:
        url = server.ready(home, timeout=180)
        assert url, server.log_file(home).read_text()
        os.environ["PREFECT_API_URL"] = url
        yield
    finally:
        server.stop(home)


def _kills(asked: argparse.Namespace) -> dict[str, int]:
    """By mode."""
    if asked.share:
        return {
            mode: int(kills) for mode, _, kills in (word.partition("=") for word in asked.share)
        }
    return {mode: asked.kills or LONG[mode] for mode in asked.mode or MODES}


def _worked(asked: argparse.Namespace, room: Path, number: int) -> dict[str, Tally]:
    where = Field(room)
    found: dict[str, Tally] = {}
    for place, (mode, kills) in enumerate(_kills(asked).items()):
        tally = found[mode] = Tally()
        if asked.seed is not None:
            if number == 0:
                tally.add(_fought(where, mode, asked.seed, asked.mutant))
            continue
        seed = asked.first_seed + number
        try:
            while (left := _part(kills, place, number, asked.workers) - tally.kills) > 0:
                tally.add(_fought(where, mode, seed, asked.mutant, most=left))
                seed += asked.workers
        except NoDisk as without:
            print(f"{mode} is left out: {without}", flush=True)
    return found


def _part(kills: int, place: int, number: int, workers: int) -> int:
    """The kills of a mode that a worker makes: its share, or of a few all or none."""
    if kills >= MANY:
        return kills // workers + (number < kills % workers)
    return kills if place % workers == number else 0


def _fought(where: Field, mode: str, seed: int, mutant: str, most: int = MOST_BLOWS) -> Tally:
    first = MUTANTS[mutant].first if mutant else ""
    fought = fight(where, mode, seed, mutant=mutant, first=first, most=most)
    for wrong in fought.wrong:
        print(wrong, flush=True)
    return fought


if __name__ == "__main__":
    raise SystemExit(main())
