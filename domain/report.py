"""The closing report of a run: what landed, what did not, what it cost, how to take it home.

The JSON form is a contract (`design.md` §6, version 1): additions are free, a removal or a
change of meaning is a new version.
"""

from typing import Literal

from domain.gate import Failure
from domain.sandbox import Backend
from domain.sharing import Delivery
from domain.value import Value

Ending = Literal[
    "complete",
    "exhausted",
    "nothing-to-do",
    "budget",
    "passes",
    "enough",
    "stalled",
    "red",
    "declined",
    "busy",
    "paused",
    "refused",
]

EXIT_CODES: dict[Ending, int] = {
    "complete": 0,
    "nothing-to-do": 0,
    "stalled": 1,
    "red": 1,
    "refused": 2,
    "exhausted": 3,
    "budget": 3,
    "passes": 3,
    "enough": 3,
    "paused": 3,
    "declined": 3,
    "busy": 75,
}


RED = "red"
PINNED_RED = "green as committed, red with the protected files of the base"
"""Why a commit is parked that the gate did not find green."""
UNFIT = "does not fit without an earlier commit of its pass, which did not land with it"


class Landed(Value):
    """One commit on the landing branch."""

    sha: str
    site: str
    """`path:line` of the first site the commit settles."""
    sites: tuple[str, ...] = ()
    """Ids of all sites it settles."""
    made_from: str = ""
    """The executor's commit that it was written from."""
    run: str = ""
    """The run that landed it."""
    subject: str
    verified: str
    """`alone`, or `batch of n`."""
    pinned: bool = False
    """Verified twice: as committed, and with the tests and the other protected files of the base."""
    confirmed_by: str = ""
    """The model of another family that read it and says that it holds."""
    unconfirmed: str = ""
    """Why it is not confirmed, although somebody was to read it: `unreviewed: …`, `unsure: …`."""
    rule: str = ""
    """The name of the taught rule that made it; empty: the executor that was asked for did."""
    item: str = ""
    """Of the work-list, in a sweep."""
    usd: float = 0.0
    """Of an item of a work-list: what it cost."""


class Parked(Value):
    """A commit that did not land. It is kept under `ref`; one that holds a new secret is kept nowhere."""

    site: str
    sites: tuple[str, ...] = ()
    subject: str = ""
    reason: str
    """`red`, `scope`, `protected: tests`, `new secret`, `binary`, `oversized`, `empty`, `mode`, … in few words."""
    failures: tuple[Failure, ...] = ()
    doubted_by: str = ""
    """The model of another family that says that it breaks something, while the gate is green on it."""
    ref: str = ""
    sha: str = ""
    made_from: str = ""
    run: str = ""
    rule: str = ""
    """The name of the taught rule that made it."""
    item: str = ""
    """Of the work-list, in a sweep."""
    usd: float = 0.0
    """Of an item of a work-list: what it cost."""


class Remaining(Value):
    """A site that is still there."""

    site: str
    key: str
    rule: str = ""
    message: str = ""
    why: str = ""
    """`parked`, `declined`, `disputed`, `not reached`, `no edit`."""


class Seconds(Value):
    """Where the time went."""

    agent: float = 0.0
    gate: float = 0.0
    engine: float = 0.0
    active: float = 0.0


class BaselineSummary(Value):
    """What the base commit fails by itself."""

    failed: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    tests: int | None = None


class Taught(Value):
    """What a rule made from the first sites did for the others (`--teach`)."""

    rule: str = ""
    """Its text; empty: none held, and the model went on alone."""
    name: str = ""
    why: str = ""
    """Of no rule."""
    taught: int
    """Sites that the model did, from which the rule was made."""
    held_out: int = 0
    """Of these, sites that it was proved on without having been shown."""
    compiled: int = 0
    """Commits of the rule that landed, by this run, at no model cost."""
    parked: int = 0
    left: int = 0
    """Left to the model: what it landed after the lesson, and what remains."""
    usd: float = 0.0
    """What the lesson itself cost this run."""
    usd_each: float = 0.0
    """What a taught site cost."""
    saved_usd: float = 0.0
    """An estimate: what the compiled sites would have cost at the price of a taught one, less the lesson."""


class Report(Value):
    """The record of one run."""

    version: Literal[1] = 1
    run: str
    ending: Ending
    why: str
    """One sentence for a person: what happened, with the value; what to do next."""
    axis: str
    target: str
    base: str = ""
    branch: str = ""
    tip: str = ""
    landed: tuple[Landed, ...] = ()
    """By this run."""
    landed_before: int = 0
    """Commits that earlier runs had landed on the branch."""
    parked: tuple[Parked, ...] = ()
    remaining: tuple[Remaining, ...] = ()
    looked: bool = True
    """Whether what remains is an answer: of a probe, or of a fresh look. Of a sentence, nobody may have looked yet."""
    declined: tuple[str, ...] = ()
    baseline: BaselineSummary = BaselineSummary()
    flaky: tuple[str, ...] = ()
    """Tests that answered both ways during the run."""
    fixed: tuple[str, ...] = ()
    """Known failures of the baseline that the landed tip passes."""
    gate: tuple[str, ...] = ()
    sandbox: Backend | None = None
    """What held back the target's commands; None: no command was to be run."""
    gate_runs: int = 0
    passes: int = 0
    spend_usd: float = 0.0
    """By this run."""
    seconds: Seconds = Seconds()
    first_commit_seconds: float | None = None
    skipped: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    """What the operator should know: uncommitted work not seen, no sandbox, how far behind the base is."""
    items: dict[str, int] = {}
    """Of a work-list, how many items ended how; `open` for those that did not."""
    taught: Taught | None = None
    """With `--teach`, once so many sites had landed."""
    take: str = ""
    """The command that brings the work home."""
    delivery: Delivery | None = None
    """Whether the remote has it that the repository is shared with; None: it is shared with nobody."""
    ui: str = ""
    """Address of the run in the Prefect UI."""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.ending]
