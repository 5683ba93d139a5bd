"""The batch: which commits to verify together, and whom to blame when the gate is red.

A batch of n commits costs one gate run when it is green. When it is red and names files or
tests, the suspects leave at once (`Batch.learn`); when it says only red or green, the batch is
split where the answer is worth most (`domain/red_rate.py`), so that k culprits among n cost
about log2 C(n, k) runs instead of n.

Nobody is blamed for one red: a commit is parked only after two red runs that held it, and with
everybody else of one of them cleared, or after its own failure came back among the suspects.
"""

from collections.abc import Collection, Mapping

from domain.blame import Blame, RedRun, worth_leaving
from domain.commit import Halt
from domain.gate import Failure, Verdict
from domain.reading import Confirm, Reading
from domain.red_rate import RedRate
from domain.report import UNFIT
from domain.value import Value

SMALL = 16
"""Up to here plain halving is as good, and its worst case is k·(log2 n + 1) + 1 (cases.md, V8)."""

THREE_REDS = 3
"""So many reds that each named one commit show a gate that stops at its first failure."""

NOBODY: Mapping[str, tuple[Failure, ...]] = {}


class Outcome(Value):
    """What is decided so far: to be landed, and to be parked."""

    good: tuple[str, ...] = ()
    """In the order in which they were found green: the order they land in."""
    verified: dict[str, int] = {}
    pinned: tuple[str, ...] = ()
    """The good ones that were verified with the protected files of the base, too."""
    bad: tuple[Blame, ...] = ()
    refused: dict[str, str] = {}
    """The reason by commit that was not admitted, or that a reader spoke against."""
    read: dict[str, Reading] = {}
    """What a reader of another family said, by commit."""
    rate: RedRate = RedRate()


class Batch(Value):
    """A fold over gate verdicts. `probe` says what to verify next; empty means decided."""

    pending: tuple[str, ...]
    """Undecided commits, in the chain's order."""
    group: tuple[str, ...] = ()
    """The head of `pending` that is known to hold a culprit on the present tip."""
    suspects: tuple[str, ...] = ()
    """Set aside because a red run named them."""
    waiting: tuple[str, ...] = ()
    """By a model, and did not replay: they may stand on a commit that is not decided yet."""
    waited_on: tuple[str, ...] = ()
    """What was good when those that wait were tried last."""
    good: tuple[str, ...] = ()
    bad: tuple[Blame, ...] = ()
    refused: dict[str, str] = {}
    """Not admitted, or green and spoken against by a reader: the reason by commit."""
    confirm: Confirm = "off"
    to_read: frozenset[str] = frozenset()
    """Commits that a reader of another family is asked about once they are green."""
    read: dict[str, Reading] = {}
    """What it said."""
    reading_seconds: float = 0.0
    halt: Halt = ""
    """Why no commit can be read any more, where each has to be."""
    halted: str = ""
    before: int = 0
    """How many were good before the last green answer: with them the gate saw the tree as it stands."""
    written: bool = False
    """By a model: nobody makes its commits a second time."""
    again: tuple[str, ...] = ()
    """Could not be replayed on the tip: to be made anew by the next scan."""
    reds: tuple[RedRun, ...] = ()
    rate: RedRate = RedRate()
    verified: dict[str, int] = {}
    """How many commits were in the green probe, by good commit."""
    pinned: tuple[str, ...] = ()
    """Good commits whose probe was green with the protected files of the base, too."""
    fixed: tuple[str, ...] = ()
    """Known failures that the last green probe passed."""
    each: bool = False
    """Verify every commit alone."""
    fresh: bool = False
    """The last verdict was green."""

    @property
    def probe(self) -> tuple[str, ...]:
        """The commits to replay on the tip and to run the gate on."""
        if self.group:
            return self.group[: self._cut(self.group)]
        if self.pending:
            return self.pending[: self._size()]
        return self.suspects

    @property
    def ripe(self) -> bool:
        """Time to settle what is decided so far: at a green verdict outside of a split, with more to come.

        In the middle of a split it can wait: verdicts are kept by tree, so that a kill there costs
        no gate run, while each landing is a step of its own in the UI.
        """
        return self.fresh and not self.group and bool(self.probe)

    @property
    def outcome(self) -> Outcome:
        return Outcome(
            good=self.good,
            verified=self.verified,
            pinned=self.pinned,
            bad=self.bad,
            refused=self.refused,
            read=self.read,
            rate=self.rate,
        )

    @property
    def nth(self) -> int:
        """Which answer on the tree of `probe` is wanted: it is asked anew for each red it gave."""
        tree = {*self.good, *self.probe}
        return 1 + sum({*self.good[: red.on], *red.commits} == tree for red in self.reds)

    @property
    def flaky(self) -> tuple[str, ...]:
        """Tests that failed in a red run whose commits all turned out good."""
        good = set(self.good)
        return tuple(
            sorted(
                {f.test for red in self.reds if good.issuperset(red.commits) for f in red.failures}
            )
        )

    def drop(self, commits: tuple[str, ...]) -> "Batch":
        """Take out what does not replay on the tip: a rule's next look makes it anew.

        What a model wrote waits until all others are decided, and is parked when it does not fit on them either.
        """
        gone = set(commits)
        # Whatever made the group red may be among them, so nothing is known of the rest.
        if not self.written:
            return self._without(gone, again=self.again + commits, group=())
        return self._without(gone, waiting=self.waiting + commits, group=())

    def learn(
        self,
        verdict: Verdict,
        named: Mapping[str, tuple[Failure, ...]] = NOBODY,
        probe: tuple[str, ...] | None = None,
        sure: Collection[str] = (),
    ) -> "Batch":
        """Fold in the verdict on `probe` (all of `self.probe`, but for what did not replay).

        `named` has the failures that point at a commit in it; those of the `sure` ones point at no other.
        """
        probe = self.probe if probe is None else probe
        if verdict.green:
            return self._cleared(probe, verdict)
        telling = {commit: named[commit] for commit in probe if commit in named}
        run = RedRun(
            commits=probe,
            on=len(self.good),
            failures=verdict.failures,
            pinned=verdict.pinned,
            named=telling,
        )
        seen = self.model_copy(update={"reds": (*self.reds, run), "fresh": False})
        if set(probe) <= set(self.suspects):
            return seen._red_suspects(probe, tuple(c for c in telling if c in sure))
        if len(probe) == 1:
            return seen._red_alone(probe[0])
        if worth_leaving(telling, sure, probe):
            return seen._set_aside(tuple(telling))
        return seen.model_copy(update={"group": probe})._inferred()

    def _cleared(self, probe: tuple[str, ...], verdict: Verdict) -> "Batch":
        cleared = self._without(
            set(probe),
            good=self.good + probe,
            before=len(self.good),
            verified=self.verified | dict.fromkeys(probe, len(probe)),
            fixed=verdict.fixed,
            pinned=self.pinned + (probe if verdict.pinned else ()),
            rate=self.rate.cleared(len(probe)),
            fresh=True,
        )
        return cleared._inferred()

    def _inferred(self) -> "Batch":
        """A group of one that two red runs held is the culprit: the last red run tested its very tree."""
        if len(self.group) == 1 and self._held(self.group[0]) > 1:
            return self._blame(self.group[0])
        return self

    def _red_alone(self, commit: str) -> "Batch":
        if self._held(commit) > 1:
            return self._blame(commit)
        return self.model_copy(update={"group": (commit,)})

    def _set_aside(self, named: tuple[str, ...]) -> "Batch":
        return self._without(set(named), suspects=self.suspects + named, group=())

    def _red_suspects(self, probe: tuple[str, ...], sure: tuple[str, ...]) -> "Batch":
        """The suspects are red among themselves: for the second time, so that some are to blame.

        All of them, when each has a failure that points at it alone, or when the gate stops at its
        first failure: that one names one per run, and to ask it about each would cost k runs more
        for what the first round showed already, one red each whose failure was gone once it had left.
        Otherwise those without a failure of their own are asked first, without the others.
        """
        naming = [red for red in self.reds if red.named]
        one_each = len(naming) >= THREE_REDS and all(len(red.named) == 1 for red in naming)
        if len(probe) == 1 or one_each or len(sure) == len(probe):
            batch = self
            for commit in probe:
                batch = batch._blame(commit)
            return batch
        rest = tuple(c for c in probe if c not in sure)
        group = () if sure else rest
        return self.model_copy(update={"suspects": sure, "pending": rest, "group": group})

    def _blame(self, commit: str) -> "Batch":
        run = self._telling(commit)
        failures = run.named.get(commit, run.failures)
        blame = Blame(commit=commit, failures=failures, pinned=run.pinned)
        return self._without({commit}, bad=(*self.bad, blame), rate=self.rate.found(), group=())

    def _telling(self, commit: str) -> RedRun:
        """The last run that named the commit, else the smallest one that held it."""
        held = [red for red in self.reds if commit in red.commits]
        naming = [red for red in held if commit in red.named]
        return naming[-1] if naming else min(held, key=lambda red: len(red.commits))

    def _held(self, commit: str) -> int:
        return sum(commit in red.commits for red in self.reds)

    def _without(self, gone: set[str], **update: object) -> "Batch":
        kept: dict[str, object] = {
            name: tuple(c for c in commits if c not in gone)
            for name, commits in (
                ("pending", self.pending),
                ("group", self.group),
                ("suspects", self.suspects),
            )
        }
        return self.model_copy(update=kept | update)._tried_again()

    def _tried_again(self) -> "Batch":
        """Once nothing else is undecided: those that wait are pending again, or parked if no more is good than before."""
        if not self.waiting or self.pending or self.suspects:
            return self
        if self.good == self.waited_on:
            unfit = self.refused | dict.fromkeys(self.waiting, UNFIT)
            return self.model_copy(update={"waiting": (), "refused": unfit})
        again: dict[str, object] = {"pending": self.waiting, "waiting": (), "waited_on": self.good}
        return self.model_copy(update=again)

    def _cut(self, group: tuple[str, ...]) -> int:
        if len(group) == 1:
            return 1
        half = len(group) // 2
        return half if len(group) <= SMALL else self.rate.split(len(group))

    def _size(self) -> int:
        if self.each:
            return 1
        return self.rate.size(len(self.pending), small=SMALL)
