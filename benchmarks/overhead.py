"""What landing costs beyond the gates, per commit, as the repository grows.

Landing is what the engine does between the executor's last edit and the moved branch: admission,
candidates, moving the gate's clone, writing commits, state and refs. Against `git add && git commit`
in one shell, for the same changes.
"""

import statistics
from dataclasses import dataclass
from dataclasses import field as holding
from pathlib import Path

from benchmarks.checks import landed_all_but_the_bad
from benchmarks.choices import Choices
from benchmarks.fields import AXIS, Field, made
from benchmarks.naive import SLICE, cloned, commits_alone
from benchmarks.plainly import Carried, carry
from benchmarks.repositories import without_campaigns
from benchmarks.scratch import home, scratch
from benchmarks.tables import TIMES, Row, at_most, grid, show

SIZES = (1_000, 7_000, 100_000)
SITES, BAD = 400, 5
MILLISECONDS, GROWTH = 1.5, 2.0


@dataclass
class Size:
    """One repository: rounds of landing and of the loop."""

    field: Field
    folder: Path
    clone: Path
    """Where the loop commits."""
    carried: list[Carried] = holding(default_factory=list[Carried])
    loop: list[float] = holding(default_factory=list[float])

    @property
    def files(self) -> int:
        return self.field.files

    def round(self, turn: int) -> None:
        self.carried.append(_landed(self.field, self.folder / "home"))
        changes = self.field.landing[turn * SLICE :][:SLICE]
        self.loop.append(commits_alone(self.clone, changes, self.folder / f"loop-{turn}"))

    def of(self, *steps: str) -> float:
        """Milliseconds per commit of some steps."""
        return 1000 * statistics.median(done.spent(*steps) for done in self.carried) / SITES

    @property
    def landing(self) -> float:
        """Milliseconds per commit."""
        return 1000 * statistics.median(done.landing for done in self.carried) / SITES

    @property
    def commit(self) -> float:
        """Milliseconds of `git add && git commit`."""
        return 1000 * statistics.median(self.loop)


def measure(choices: Choices) -> bool:
    met = [_grown(bad, choices) for bad in (0, BAD)]
    return all(met)


def _grown(bad: int, choices: Choices) -> bool:
    with scratch() as folder:
        sizes = [_made(folder / str(files), files, bad, choices.seed) for files in SIZES]
        for turn in range(choices.rounds):
            for size in sizes:
                size.round(turn)
    gates = sizes[0].carried[0].gates
    grid(
        f"{SITES} commits, {bad} of them bad, {gates} gate runs (milliseconds per commit)",
        ("files", "landing", "of it: writing and refs", "executor", "git add + commit"),
        [(s.files, s.landing, s.of("land"), s.of("agent_pass"), s.commit) for s in sizes],
    )
    small, usual, large = sizes
    rows = [
        at_most("landing at 7,000 files", usual.landing, MILLISECONDS, "{:.2f} ms"),
        at_most("growth, 1,000 to 100,000 files", large.landing / small.landing, GROWTH),
        Row("growth of writing and refs alone", f"{large.of('land') / small.of('land'):.2f}"),
        *(
            Row(f"git add + commit at {s.files:,} files", TIMES.format(s.commit / s.landing))
            for s in sizes
        ),
    ]
    return show(f"Landing beyond {gates} gate runs", rows)


def _made(folder: Path, files: int, bad: int, seed: int) -> Size:
    folder.mkdir()
    made_up = made(folder, files=files, sites=SITES, bad=bad, seed=seed)
    return Size(made_up, folder, cloned(made_up.repo, folder / "loop"))


def _landed(made_up: Field, folder: Path) -> Carried:
    """One campaign. The clones of the last one serve again; its verdicts do not."""
    without_campaigns(made_up.repo)
    for verdict in folder.glob("targets/*/verdicts/*"):
        verdict.unlink()
    with home(folder):
        done = carry(made_up.target("tests", 0), AXIS)
    landed_all_but_the_bad(made_up, done.report)
    return done
