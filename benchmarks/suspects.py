"""How often a red gate's failures name the culprit, on real test logs.

Mutants are planted as commits among harmless ones, and the batch is run by the repository's own tests.
A planted commit counts as a culprit if the gate is red on it alone. Counted is the first red answer on
the whole batch, of which the suspects are taken, and the gate runs until everything is decided.
"""

import random
import statistics
from dataclasses import dataclass
from pathlib import Path

from adapters import beginning, verifying
from adapters.repository.chains import read_chain
from adapters.repository.opening import open_target
from adapters.repository.workspaces import run_folder, store, tracked
from adapters.repository.writing import Draft, write_commits
from benchmarks.choices import Choices
from benchmarks.mutants import Place, changed, places
from benchmarks.repositories import LONG_AGO
from benchmarks.scratch import scratch
from benchmarks.sdists import repository
from benchmarks.simulation import gates_needed, halvings
from benchmarks.tables import Row, at_most, grid, say, show
from cli.asked import new_run
from domain.admission import protected
from domain.batch import Batch
from domain.commit import Chain
from domain.proof import Proof, answered, question
from domain.site import Listing
from domain.state import State
from domain.survey import Start, Survey
from domain.target import Target, Workspace

AXIS = "planted"
COMMITS = 60
DRAWS = {"inflection": 12, "sqlparse": 12, "Pygments": 3}
PLANTED = (1, 3)
"""Mutants in a batch, in turn."""
TRIES = 12


@dataclass(frozen=True)
class Draw:
    """One batch, decided."""

    commits: int
    culprits: frozenset[str]
    blamed: frozenset[str]
    """Parked in the end."""
    named: frozenset[str]
    sure: frozenset[str]
    gates: int
    halving: int
    blind: int
    """Gate runs the same batch would take if red answers named nobody."""
    gate_seconds: float

    @property
    def leave(self) -> bool:
        """Whether the named ones are set aside: all of more than half would be no suspicion."""
        return 0 < 2 * len(self.named) <= self.commits

    @property
    def hit(self) -> int:
        return len(self.culprits & self.named)


def measure(choices: Choices) -> bool:
    drawn: dict[str, list[Draw]] = {}
    for name in DRAWS:
        with scratch() as folder:
            drawn[name] = _repository(name, choices, folder)
    every = [draw for draws in drawn.values() for draw in draws]
    columns = [_figures(draws) for draws in (*drawn.values(), every)]
    rows = [(what, *(column[what] for column in columns)) for what in columns[0]]
    grid("Suspects of the first red answer", ("", *drawn, "all"), rows)
    gates = sum(draw.gates for draw in every)
    innocents = sum(len(draw.blamed - draw.culprits) for draw in every)
    missed = sum(len(draw.culprits - draw.blamed) for draw in every)
    blind, halving = sum(draw.blind for draw in every), sum(draw.halving for draw in every)
    return show(
        "What the suspects save",
        [
            at_most("innocent commits parked", innocents, 0, "{:d}"),
            at_most("culprits landed", missed, 0, "{:d}"),
            at_most("gate runs, of those of plain halving", gates / halving, 1.0),
            Row("gate runs, of those of the same batch without names", f"{gates / blind:.2f}"),
        ],
    )


def _figures(draws: list[Draw]) -> dict[str, object]:
    culprits = sum(len(draw.culprits) for draw in draws)
    named = sum(len(draw.named) for draw in draws)
    hits = sum(draw.hit for draw in draws)
    return {
        "batches drawn": len(draws),
        "commits in one, about": round(statistics.mean(draw.commits for draw in draws)),
        "culprits planted": culprits,
        "commits named": named,
        "of them culprits": hits,
        "recall": hits / max(culprits, 1),
        "precision": hits / max(named, 1),
        "batches whose culprits were all named": sum(d.culprits <= d.named for d in draws),
        "batches where few enough were named to leave": sum(d.leave for d in draws),
        "surely named": sum(len(draw.sure) for draw in draws),
        "of them innocent": sum(len(draw.sure - draw.culprits) for draw in draws),
        "gate runs, mean": statistics.mean(draw.gates for draw in draws),
        "the batch without names, mean": statistics.mean(draw.blind for draw in draws),
        "plain halving, mean": statistics.mean(draw.halving for draw in draws),
        "gate seconds of a batch, mean": statistics.mean(draw.gate_seconds for draw in draws),
    }


def _repository(name: str, choices: Choices, folder: Path) -> list[Draw]:
    repo = repository(name, choices, folder / name)
    workspace = open_target(Target(repo=str(repo)), AXIS, new_run())
    beginning.attach(workspace)
    sources = [
        path
        for path in tracked(workspace, workspace.base)
        if path.endswith(".py")
        and protected(path) is None
        and not path.startswith(("doc", "script", "external"))
    ]
    _prove(workspace, sources)
    chance = random.Random(choices.seed)  # noqa: S311 -- draws to repeat
    found = places(repo, sorted(sources), chance)
    guilty = _Guilty(workspace, repo, found)
    return [
        _draw(workspace, repo, found, guilty.some(PLANTED[turn % len(PLANTED)], chance), chance)
        for turn in range(DRAWS[name])
    ]


def _prove(workspace: Workspace, sources: list[str]) -> None:
    """The gate and its baseline, as a run has them."""
    prepared, baseline, _ = beginning.prove_baseline(workspace, sources)
    start = Start(
        run=workspace.run,
        axis=AXIS,
        target=workspace.target.repo,
        base=workspace.base,
        branch=workspace.branch,
        plan=prepared.plan,
        baseline=baseline,
        survey=Survey(state=State(axis=AXIS), listing=Listing(), tip=workspace.base),
    )
    (run_folder(workspace) / "start.json").write_text(start.to_json())


class _Guilty:
    """Places whose mutant the tests notice: each is tried alone, once."""

    def __init__(self, workspace: Workspace, repo: Path, found: list[Place]) -> None:
        self.workspace = workspace
        self.repo = repo
        self.found = found
        self.noticed: dict[Place, bool] = {}

    def some(self, count: int, chance: random.Random) -> list[Place]:
        chosen: list[Place] = []
        for place in chance.sample(self.found, len(self.found)):
            if self._is_noticed(place):
                chosen.append(place)
            if len(chosen) == count:
                return chosen
        raise AssertionError(f"fewer than {count} mutants are noticed")

    def _is_noticed(self, place: Place) -> bool:
        if place not in self.noticed:
            chain = _chain(self.workspace, self.repo, [(place, True)])
            proof = _ask(self.workspace, chain, Batch(pending=tuple(c.sha for c in chain.commits)))
            self.noticed[place] = proof.verdict is not None and proof.verdict.kind == "red"
        return self.noticed[place]


def _draw(
    workspace: Workspace, repo: Path, found: list[Place], guilty: list[Place], chance: random.Random
) -> Draw:
    harmless = [place for place in found if place not in guilty]
    chosen = [(place, False) for place in harmless[: COMMITS - len(guilty)]]
    chosen += [(place, True) for place in guilty]
    chance.shuffle(chosen)
    chain = _chain(workspace, repo, chosen)
    order = tuple(commit.sha for commit in chain.commits)
    culprits = frozenset(sha for sha, (_, bad) in zip(order, chosen, strict=True) if bad)
    batch, first, gates, seconds = _decided(workspace, chain, order)
    blamed = frozenset(blame.commit for blame in batch.bad)
    for blame in batch.bad:
        if blame.commit not in culprits:
            place = chosen[order.index(blame.commit)][0]
            tests = ", ".join(failure.test for failure in blame.failures[:3])
            say(f"an innocent commit is parked: {place.path}:{place.line + 1}, for {tests}")
    positions = [number for number, sha in enumerate(order) if sha in culprits]
    return Draw(
        commits=len(order),
        culprits=culprits,
        blamed=blamed,
        named=frozenset(first.named),
        sure=frozenset(first.sure),
        gates=gates,
        halving=halvings(len(order), positions),
        blind=gates_needed(len(order), positions, "nothing"),
        gate_seconds=seconds,
    )


def _decided(
    workspace: Workspace, chain: Chain, order: tuple[str, ...]
) -> tuple[Batch, Proof, int, float]:
    """The batch when all is decided, the first answer, and the gate runs it took."""
    batch = Batch(pending=order)
    first: Proof | None = None
    gates, seconds = 0, 0.0
    while batch.probe:
        proof = _ask(workspace, chain, batch)
        first = first or proof
        gates += bool(proof.verdict)
        seconds += sum(proof.seconds)
        batch = answered(batch, proof)
    assert first, "there was nothing to decide"
    assert not batch.again, "a commit could not be replayed"
    return batch, first, gates, seconds


def _ask(workspace: Workspace, chain: Chain, batch: Batch) -> Proof:
    """The gate's answer to what the batch wants to know, on the good commits so far."""
    return verifying.verify(workspace, chain, question(batch, ()))


def _chain(workspace: Workspace, repo: Path, chosen: list[tuple[Place, bool]]) -> Chain:
    """One commit for each place, in order."""
    texts: dict[str, str] = {}
    drafts: list[Draft] = []
    for number, (place, mutant) in enumerate(chosen):
        text = texts.get(place.path) or (repo / place.path).read_text("utf-8", "surrogateescape")
        texts[place.path] = changed(text, place, mutant=mutant)
        content = texts[place.path].encode("utf-8", "surrogateescape")
        parent = None if drafts else workspace.base
        drafts.append(Draft(f"Change {number}\n", {place.path: content}, parent=parent))
    shas = write_commits(store(workspace), drafts, LONG_AGO)
    commits = read_chain(store(workspace), workspace.base, shas[-1])
    return Chain(number=1, base=workspace.base, commits=commits, at=LONG_AGO)
