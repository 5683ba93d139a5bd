"""A proof: what the gate said about some commits of a chain, put on the commits that landed before them."""

from domain.batch import Batch
from domain.gate import Failure, Verdict
from domain.value import Value
from domain.word import Raise


class Question(Value):
    """What is to be verified."""

    good: tuple[str, ...]
    """Commits of the chain that are on the tip already, in their order."""
    probe: tuple[str, ...]
    nth: int = 1
    """Which answer on their tree is wanted; what was red is asked again."""
    flaky: tuple[str, ...] = ()
    """Tests that are known to answer both ways."""


class Proof(Value):
    """The answer."""

    probe: tuple[str, ...]
    """The commits that were verified: those that could be put on the tip."""
    conflicts: tuple[str, ...] = ()
    verdict: Verdict | None = None
    """None: none of them could be put on the tip, and no gate was run."""
    named: dict[str, tuple[Failure, ...]] = {}
    """By commit, the failures that point at it."""

    sure: tuple[str, ...] = ()
    """Commits with a failure that points at them alone."""
    flaky: tuple[str, ...] = ()
    """Tests that answered both ways on this very tree."""
    nobody: bool = False
    """The tip without them gets no answer either: it is not the commits' doing."""
    seconds: tuple[float, ...] = ()
    """Of the gate runs that were made: none when the answer was kept, two when it was pinned."""
    elapsed: float = 0.0
    """Active seconds of the run, after it."""
    raised: Raise = Raise()
    """What the operator had said of the budget by then."""

    @property
    def stops(self) -> str:
        """Why no gate can run any more, and nobody is to blame."""
        if self.verdict and (
            self.nobody or self.verdict.kind in ("setup-failed", "sandbox-failed")
        ):
            return f"{self.verdict.kind}: " + "; ".join(f.message for f in self.verdict.failures)
        return ""


def question(batch: Batch, flaky: tuple[str, ...]) -> Question:
    return Question(
        good=batch.good,
        probe=batch.probe,
        nth=batch.nth,
        flaky=tuple(sorted({*flaky, *batch.flaky})),
    )


def answered(batch: Batch, proof: Proof) -> Batch:
    """Fold a proof into its batch."""
    if proof.conflicts:
        batch = batch.drop(proof.conflicts)
    if proof.verdict is None or proof.stops:
        return batch
    return batch.learn(proof.verdict, proof.named, proof.probe, proof.sure)
