"""Taking over: what a killed run leaves to the next one of its axis, and what of it may be gone on with."""

from domain.brief import PassBrief
from domain.commit import Chain
from domain.state import State
from domain.value import Value


class Task(Value):
    """What a pass was told to do. Work that was done under another task is another work."""

    axis: str
    paths: tuple[str, ...] = ()
    branch: str = ""
    allow: tuple[str, ...] = ()
    gate: tuple[str, ...] = ()
    executor: str = ""
    teach: int = 0
    """Sites, and then it ends."""
    item: str = ""

    @classmethod
    def of(cls, brief: PassBrief, executor: str) -> "Task":
        return cls(
            axis=brief.axis,
            paths=brief.paths,
            branch=brief.branch,
            allow=brief.allow,
            gate=brief.gate,
            executor=executor,
            teach=brief.teach,
            item=brief.item,
        )

    def same_work(self, other: "Task") -> bool:
        """Whether what was made under one of them is of use under the other."""
        return self.others(other) in ("", "teach")

    def others(self, other: "Task") -> str:
        """What differs, by name; empty when nothing does."""
        mine, theirs = self.model_dump(), other.model_dump()
        return ", ".join(name for name in mine if mine[name] != theirs[name])


class Begun(Value):
    """A pass that was begun, as its run wrote it down before it asked anything."""

    task: Task
    tip: str
    """What the clone stood on."""
    by: str
    """The run that works on it, and the number of the pass there."""
    number: int
    run: str
    """The run that began the conversation, and its name there. Whoever goes on with it keeps both: the provider's
    cache and the calls in the ledger are named by them."""
    name: str
    note: str = ""

    @classmethod
    def anew(cls, task: Task, tip: str, run: str, number: int, note: str = "") -> "Begun":
        return cls(
            task=task, tip=tip, by=run, number=number, run=run, name=f"pass-{number}", note=note
        )

    @property
    def talk(self) -> str:
        """The file of its conversation."""
        return f"talk-{self.run}-{self.name}.jsonl"

    @property
    def mark(self) -> str:
        """What the clone says of who works in it."""
        return f"{self.run} {self.name} {self.tip}\n"

    def gone_on(self, run: str, number: int) -> "Begun":
        """The same pass, in the hands of another run."""
        note = f"goes on with pass {self.number} of run {self.by}, which was killed"
        return self.model_copy(update={"by": run, "number": number, "note": note})


class Inherited(Value):
    """What a run took over when it set out."""

    axis: str
    """Its slug: each campaign takes over from its own runs."""
    runs: tuple[str, ...] = ()
    """Killed runs, with those that they had taken over from; the latest first. Their money is in our ledger."""
    left: Begun | None = None
    """The pass that was under way."""


def settles(chain: Chain, tip: str, state: State) -> bool:
    """Whether a chain that a killed run had made can be settled on `tip` as if nothing had happened.

    It stands on its base, or on what landed of it; and something of it is left: a commit, or the claim that no
    site is.
    """
    made = {commit.sha for commit in chain.commits}
    landed = {commit.sha: commit.made_from for commit in state.landed}
    done = {*landed.values(), *(commit.made_from for commit in state.parked)}
    stands = tip == chain.base or landed.get(tip, "") in made
    return stands and (bool(made - done) or (chain.claimed and not chain.halt))


def objection(left: Begun, task: Task, tip: str) -> str:
    """Why the conversation of a pass that was left cannot be gone on with; empty when it can."""
    if others := task.others(left.task):
        return f"it was told something else ({others})"
    if tip != left.tip:
        return f"the work stands on {tip[:12]} by now, and it stood on {left.tip[:12]}"
    return ""
