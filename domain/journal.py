"""The journal: the fold over a run. What happened, may it go on, why did it end (design.md §6)."""

from typing import Self

from domain.approval import Approval
from domain.batch import Batch
from domain.brief import Allowance
from domain.budget import Budget, kept_back
from domain.closing import standing
from domain.commit import ChainOnShelf, Halt
from domain.lesson import summed_up
from domain.proof import Proof
from domain.question import Question
from domain.reading import Confirm
from domain.red_rate import RedRate
from domain.report import Ending, Remaining, Report, Seconds
from domain.role import Finding
from domain.site import Site
from domain.survey import Brief, Start, Survey, free, open_sites, remaining
from domain.teaching import Lecture, lesson_due, still_to_teach
from domain.value import Value
from domain.word import Raise
from domain.words import counted

OUT_OF_TIME = "out of time"

STALLED_AFTER = 2
"""Passes without a landed commit."""


class Journal(Value):
    """A run, as far as it went."""

    start: Start
    budget: Budget
    survey: Survey
    grain: str = "finding"
    confirm: Confirm = "off"
    teach: int = 0
    """Sites that a model does before a rule is made from them; 0: it does all."""
    asked: bool = False
    """For a rule, in this run."""
    idle: bool = False
    """The rule had a pass, and landed nothing: it gets no other one."""
    passes: int = 0
    gate_runs: int = 0
    gate_seconds: float = 0.0
    agent_seconds: float = 0.0
    halt: Halt = ""
    halted: str = ""
    """Why."""
    still: int = 0
    """Passes in a row without a landed commit."""
    flaky: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: dict[str, int] = {}
    doubted: tuple[str, ...] = ()
    """Commits of the last pass that a reader spoke against."""
    question: Question | None = None
    """Of the last pass."""

    stopped: str = ""
    """Why no further gate can run: the environment is broken, or no time is left."""

    @classmethod
    def begin(
        cls, start: Start, budget: Budget, grain: str, confirm: Confirm = "off", teach: int = 0
    ) -> "Journal":
        return cls(
            start=start,
            budget=budget,
            survey=start.survey,
            grain=grain,
            confirm=confirm,
            teach=teach,
        )

    @property
    def number(self) -> int:
        """Of the pass under way, from 1."""
        return self.passes + 1

    @property
    def allowed(self) -> Budget:
        """The budget, as far as it was raised by the end of the last pass."""
        return self.survey.raised.budget(self.budget)

    @property
    def rate(self) -> RedRate:
        return self.survey.state.rate

    @property
    def open_sites(self) -> tuple[Site, ...]:
        return open_sites(self.survey)

    @property
    def brief(self) -> Brief:
        state = self.survey.state
        brief = Brief(
            number=self.number,
            tip=self.survey.tip,
            settled=tuple(sorted(state.settled)),
            grain=self.grain,
            paths=tuple(dict.fromkeys(site.path for site in self.open_sites)),
        )
        if not self.start.hired:
            return brief
        if sweep := self._sweep:
            paths = tuple(dict.fromkeys(site.path for site in sweep))
            rule = state.lesson.rule if state.lesson else ""
            return brief.model_copy(update={"rule": rule, "paths": paths})
        named = tuple(
            Finding(path=site.path, line=site.line, what=f"{site.rule} {site.message}".strip())
            for site in self.open_sites
        )
        return brief.model_copy(
            update={
                "sites": named,
                "left": self._left(),
                "caps": self.allowed.for_work(self.confirm),
                "kept_back": kept_back(self.confirm),
                "doubted": self.doubted,
                "teach": still_to_teach(self.teach, state),
                "swept": sum(bool(commit.rule) for commit in state.landed),
            }
        )

    @property
    def _sweep(self) -> tuple[Site, ...]:
        """The sites that the taught rule is to do in the pass under way."""
        wanted = self.teach and not self.idle
        return free(self.survey, self.survey.by_rule.sites) if wanted else ()

    @property
    def lesson_due(self) -> bool:
        """The model has done so many sites that a rule may be made from them."""
        return not self.asked and lesson_due(self.teach, self.survey.state)

    def learn(self, lecture: Lecture) -> "Journal":
        """Fold in what came of asking for a rule."""
        survey = self.survey.model_copy(update={"state": lecture.state, "by_rule": lecture.listing})
        notes = (*self.notes, lecture.note) if lecture.note else self.notes
        return self.model_copy(update={"asked": True, "survey": survey, "notes": notes})

    def _left(self) -> Allowance:
        budget, survey = self.allowed, self.survey
        usd = budget.for_work(self.confirm).max_usd
        return Allowance(
            usd=None if usd is None else max(0.0, usd - survey.spend_usd),
            minutes=None
            if budget.max_minutes is None
            else max(0.0, budget.max_minutes - survey.elapsed / 60),
            passes=None if budget.max_passes is None else budget.max_passes - self.number,
        )

    def count(self, proof: Proof) -> Self:
        """Fold in one answer of the gate."""
        return self.model_copy(
            update={
                "gate_runs": self.gate_runs + len(proof.seconds),
                "gate_seconds": self.gate_seconds + sum(proof.seconds),
                "flaky": tuple(sorted({*self.flaky, *proof.flaky})),
                "stopped": proof.stops or self._late(proof.elapsed, proof.raised),
            }
        )

    def _late(self, elapsed: float, raised: Raise) -> str:
        minutes = raised.budget(self.budget).max_minutes
        return OUT_OF_TIME if minutes is not None and elapsed >= 60 * minutes else ""

    def record(self, chain: ChainOnShelf, batch: Batch, survey: Survey) -> "Journal":
        """Fold in one pass: what was made, what was decided, and what is left."""
        landed, swept = survey.landed > self.survey.landed, bool(chain.rule)
        return self.model_copy(
            update={
                "passes": self.passes + 1,
                "survey": survey,
                "agent_seconds": self.agent_seconds + chain.seconds + batch.reading_seconds,
                "still": 0 if landed else self.still + (not swept),
                "idle": self.idle or (swept and not landed),
                "halt": chain.halt or batch.halt,
                "halted": chain.why if chain.halt else batch.halted,
                "doubted": (
                    *(self.doubted if swept else ()),  # a rule can't be told
                    *(c for c, said in batch.read.items() if said.verdict == "breaks"),
                ),
                "flaky": tuple(sorted({*self.flaky, *batch.flaky})),
                "fixed": batch.fixed or self.fixed,
                "notes": self._noted(chain, survey),
                "question": chain.question,
                "skipped": survey.listing.skipped or self.skipped,
            }
        )

    def approved(self, approval: Approval | None) -> "Journal":
        """With a person's word on the list, if it was asked for: without a yes nothing is begun."""
        if approval is None or approval.go:
            return self
        return self.model_copy(update={"halt": "declined", "halted": approval.why})

    @property
    def asks(self) -> Question | None:
        """What is to be asked before the next pass; a run that ends otherwise leaves it in its report."""
        return self.question if self.ending in (None, "stalled") else None

    def answered(self) -> "Journal":
        """A person decided, or left it to the model: it goes on, and has its passes before it anew."""
        return self.model_copy(update={"question": None, "still": 0})

    def _noted(self, chain: ChainOnShelf, survey: Survey) -> tuple[str, ...]:
        """What a model asked, assumed and left to a person stays to the end, whatever later passes have to say."""
        if not self.start.hired:
            return survey.listing.notes or chain.notes
        return tuple(dict.fromkeys((*self.notes, *chain.notes, *survey.listing.notes)))

    @property
    def spent(self) -> bool:
        """No time is left: what was not verified stays for the next run."""
        return (
            bool(self._late(self.survey.elapsed, self.survey.raised)) or self.stopped == OUT_OF_TIME
        )

    @property
    def ending(self) -> Ending | None:
        """Why the run stops here, or None while it goes on."""
        for reached, ending in self._endings():
            if reached:
                return ending
        return None

    def _endings(self) -> tuple[tuple[bool, Ending], ...]:
        survey, began = self.survey, self.passes > 0
        nothing_left = survey.known and not self.open_sites
        all_gone = survey.known and not survey.listing.sites
        return (
            (self.halt == "declined", "declined"),
            (bool(self.stopped) and not self.spent, "red"),
            (nothing_left and not began, "nothing-to-do"),
            (all_gone, "complete"),
            (nothing_left and not survey.state.landed and survey.state.red, "red"),
            (nothing_left, "exhausted"),
            (survey.enough, "enough"),
            (self.spent or self.halt == "budget", "budget"),
            (self.halt == "paused", "paused"),
            (self.halt == "refused", "refused"),
            (self.passes >= (self.allowed.max_passes or self.passes + 1), "passes"),
            (self.still >= STALLED_AFTER, "stalled"),
        )

    @property
    def why(self) -> str:
        """The ending in one sentence, with its value."""
        known = self.survey.known
        left = counted(len(self.open_sites), "site") if known else "nobody has looked what is"
        settled = len(self.survey.listing.sites) - len(self.open_sites)
        passes = counted(self.passes, "pass", "passes")
        reasons: dict[Ending | None, str] = {
            "complete": f"no site is left after {passes}, and the gate is green.",
            "exhausted": f"every site was worked on; {counted(settled, 'site')} stay, parked or declined.",
            "nothing-to-do": self._nothing(settled),
            "budget": f"{self.halted}; {left} left."
            if self.halt == "budget"
            else f"{self.survey.elapsed / 60:.1f} of {self.allowed.max_minutes} minutes are spent; {left} left.",
            "paused": self.halted,
            "refused": self.halted,
            "declined": self.halted,
            "passes": f"{passes} were allowed and made; {left} left.",
            "enough": f"you said enough; the pass was finished first. {left} left.",
            "stalled": f"{STALLED_AFTER} passes landed nothing; {left} left.",
            "red": self.stopped
            or f"the gate is red on all that is left: {counted(settled, 'site')} parked.",
        }
        return reasons.get(self.ending, "")

    def _nothing(self, settled: int) -> str:
        if settled:
            return f"the only {counted(settled, 'site')} left are parked or declined. `--retry` opens them again."
        before = len(self.survey.state.landed)
        return "no site is left" + (
            f"; {counted(before, 'commit')} landed earlier." if before else "."
        )

    def report(self, take: str, ui: str = "") -> Report:
        """The closing record."""
        start, survey = self.start, self.survey
        known = standing(start, survey, self.ending or "stalled", self.why)
        notes = (*start.notes, *(self.notes or survey.listing.notes), *known.notes)
        return known.model_copy(
            update={
                "remaining": self._remaining(),
                "flaky": self.flaky,
                "fixed": self.fixed,
                "gate_runs": self.gate_runs + start.gate_runs,
                "passes": self.passes,
                "seconds": self._seconds(),
                "skipped": self.skipped or survey.listing.skipped,
                "notes": tuple(dict.fromkeys(notes)),
                "taught": summed_up(
                    survey.state.lesson if self.teach else None,
                    start.run,
                    known.landed,
                    known.parked,
                    len(survey.listing.sites),
                ),
                "take": take if survey.state.landed else "",
                "ui": ui,
            }
        )

    def _seconds(self) -> Seconds:
        active, agent = self.survey.elapsed, self.agent_seconds
        gate = self.gate_seconds + self.start.gate_seconds
        return Seconds(
            agent=round(agent, 3),
            gate=round(gate, 3),
            engine=round(max(0.0, active - gate - agent), 3),
            active=round(active, 3),
        )

    def _remaining(self) -> tuple[Remaining, ...]:
        otherwise = "no edit" if self.ending == "stalled" else "not reached"
        return remaining(self.survey.listing.sites, self.survey.state, otherwise)
