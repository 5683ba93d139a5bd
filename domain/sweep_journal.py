"""The fold over a sweep: what is worked on next, what was made, may it go on, why did it end (ADR-057)."""

from collections.abc import Collection
from typing import Self

from domain.batch import SMALL, Batch
from domain.commit import ChainOnShelf, Halt
from domain.journal import Journal
from domain.order import UNKNOWN, Enumeration, Look, Made, Order, SweepTerms, orders
from domain.proof import Proof
from domain.red_rate import RedRate
from domain.report import Ending, Remaining, Report
from domain.survey import Survey
from domain.value import Value
from domain.words import counted
from domain.worklist import Item, Merged, Worklist

LEAST_PATIENCE = 1.0
"""Seconds, of a rule: many of its edits are made in that time."""
IDLE_LISTS = 2
"""Enumerations in a row that name something new of which nothing lands."""


class SweepJournal(Value):
    """A run, as far as it went. Its campaign counts what landing costs: gates, commits, time and money."""

    campaign: Journal
    terms: SweepTerms
    by_model: bool = False
    one_by_one: bool = False
    """Every commit is proved alone."""
    units: bool = False
    """Each is a job of its own; and the list is made once, and worked through once (ADR-055)."""
    looks: int = 0
    """Enumerations that were finished."""
    look: Look | None = None
    """The part that is due or under way."""
    look_began: float = 0.0
    """Active seconds when the enumeration did."""
    new: int = 0
    """Items that the enumeration under way has added."""
    fresh: bool = False
    """The last enumeration looked everywhere, found nothing new, and nothing has landed since."""
    landed_before: int = 0
    """Commits of this run when the last enumeration began."""
    idle: int = 0
    """Enumerations in a row after which nothing landed, although they had found something new."""
    chains: int = 0
    waiting: tuple[Made, ...] = ()
    """Made, and not delivered."""
    done: int = 0
    """Items that this run has had in hand."""
    halt: Halt = ""
    halted: str = ""

    @classmethod
    def begin(
        cls, campaign: Journal, terms: SweepTerms, *, one_by_one: bool = False
    ) -> "SweepJournal":
        hired = campaign.start.hired is not None
        return cls(campaign=campaign, terms=terms, by_model=hired, one_by_one=one_by_one)

    @classmethod
    def of_units(cls, campaign: Journal, terms: SweepTerms) -> "SweepJournal":
        hired = campaign.start.hired is not None
        return cls(campaign=campaign, terms=terms, by_model=hired, units=True)

    @property
    def together(self) -> bool:
        """A rule's items that share a file are made by one job, one on top of the other."""
        return not (self.by_model or self.units)

    @property
    def survey(self) -> Survey:
        return self.campaign.survey

    @property
    def worklist(self) -> Worklist:
        return self.survey.state.worklist or Worklist()

    @property
    def tip(self) -> str:
        return self.survey.tip

    @property
    def rate(self) -> RedRate:
        return self.survey.state.rate

    @property
    def flaky(self) -> tuple[str, ...]:
        return self.campaign.flaky

    @property
    def stopped(self) -> str:
        return self.campaign.stopped

    @property
    def passes(self) -> int:
        """Enumerations, and the work on what they named; none, where there was no work."""
        return self.looks if self.chains else 0

    @property
    def number(self) -> int:
        """Of the next chain."""
        return self.chains + 1

    @property
    def patience(self) -> float:
        """Seconds that what is made waits for others: as long as a gate run takes, which they share then."""
        runs = self.campaign.gate_runs + self.campaign.start.gate_runs
        seconds = self.campaign.gate_seconds + self.campaign.start.gate_seconds
        mean = seconds / runs if runs else 0.0
        return mean if self.by_model else max(LEAST_PATIENCE, mean)

    def orders(self, under_way: Collection[Order]) -> tuple[Order, ...]:
        """What may be begun now."""
        if self.closed:
            return ()
        running = {item for order in under_way for item in order.items}
        running |= {item for made in self.waiting for item in made.order.items}
        room = self._window() - len(running)
        if self.terms.max_items is not None:
            room = min(room, self.terms.max_items - self.done - len(running))
        due = self.worklist.due(running, max(0, room), together=self.together)
        return orders(due, together=self.together)

    def _window(self) -> int:
        """Items in hand: a job each; a rule costs nothing to apply, so that as many are as one gate run can take."""
        if self.by_model or self.one_by_one:
            return self.terms.jobs
        return max(self.terms.jobs, self.rate.size(len(self.worklist.open), small=SMALL))

    def looked_for(self, *, busy: bool) -> Self:
        """With the enumeration that is due, if one is: the first, the next part, or a fresh one when all is worked on."""
        if self.look or self.closed or self.fresh:
            return self
        if self.looks and (busy or self.waiting or self.worklist.open):
            return self
        landed = self.survey.landed
        idle = self.idle + 1 if self.looks and landed == self.landed_before else 0
        now = self._with(idle=idle, landed_before=landed, new=0)
        if now.closed:
            return now
        look = Look(number=self.looks + 1, tip=self.tip)
        return now._with(look=look, look_began=self.survey.elapsed)

    def listed(self, found: Enumeration, listed: tuple[Survey, Merged]) -> Self:
        """Fold in a part of an enumeration, after it was merged into the list."""
        survey, merged = listed
        if found == UNKNOWN:
            return self._surveyed(survey)
        now = self._surveyed(survey)._with(new=self.new + merged.new)
        if found.halt:
            return now._with(look=None, halt=found.halt, halted=found.why)
        if found.more and self.look:
            return now._with(look=self.look.model_copy(update={"part": self.look.part + 1}))
        same = not now.new and survey.landed == self.landed_before
        fresh = found.whole and (self.units or same)
        return now._with(look=None, looks=self.looks + 1, fresh=fresh)

    def made(self, made: Made) -> Self:
        """Fold in what came of an order; it waits for the queue."""
        told = self._with(waiting=(*self.waiting, made))
        return told._with(halt=made.halt, halted=made.why) if made.halt else told

    def count(self, proof: Proof) -> Self:
        return self._with(campaign=self.campaign.count(proof))

    def delivered(self, chain: ChainOnShelf, batch: Batch, survey: Survey) -> Self:
        """Fold in what became of all that waited."""
        campaign = self.campaign.model_copy(
            update={
                "agent_seconds": self.campaign.agent_seconds
                + chain.seconds
                + batch.reading_seconds,
                "flaky": tuple(sorted({*self.flaky, *batch.flaky})),
                "fixed": batch.fixed or self.campaign.fixed,
                "notes": tuple(dict.fromkeys((*self.campaign.notes, *chain.notes))),
            }
        )
        landed = survey.landed > self.survey.landed
        items = sum(len(made.order.items) for made in self.waiting)
        now = self._with(
            campaign=campaign,
            chains=self.chains + 1,
            waiting=(),
            done=self.done + items,
            fresh=self.fresh and (self.units or not landed),
        )
        halted = now._with(halt=batch.halt, halted=batch.halted) if batch.halt else now
        return halted._surveyed(survey)

    def _surveyed(self, survey: Survey) -> Self:
        return self._with(campaign=self.campaign.model_copy(update={"survey": survey}))

    @property
    def closed(self) -> bool:
        """Nothing new is begun: what is under way is finished, delivered, and then the run ends."""
        survey, campaign = self.survey, self.campaign
        return bool(
            self.halt
            or self.stopped
            or survey.enough
            or campaign.spent
            or self._rationed
            or self.idle >= IDLE_LISTS
            or (self._passed and not self.worklist.open)
        )

    @property
    def _rationed(self) -> bool:
        most = self.terms.max_items
        return most is not None and self.done >= most and bool(self.worklist.open)

    @property
    def _passed(self) -> bool:
        most = self.campaign.allowed.max_passes
        return most is not None and self.looks >= most

    @property
    def left(self) -> tuple[Item, ...]:
        """Items that are there still."""
        return tuple(
            item for item in self.worklist.items if item.ended in ("", "parked", "declined")
        )

    @property
    def ending(self) -> Ending | None:
        """Why the run ends, once nothing is under way; None: it goes on."""
        return next((ending for reached, ending in self._endings() if reached), None)

    def _endings(self) -> tuple[tuple[bool, Ending], ...]:
        survey, open_items = self.survey, self.worklist.open
        over = self.fresh and not open_items
        nothing = over and not self.left and not survey.listing.sites
        return (
            (bool(self.stopped) and not self.campaign.spent, "red"),
            (over and not self.chains and not survey.landed, "nothing-to-do"),
            (nothing, "complete"),
            (over and not survey.state.landed and survey.state.red, "red"),
            (over, "exhausted"),
            (survey.enough, "enough"),
            (self.campaign.spent or self.halt == "budget" or self._rationed, "budget"),
            (self.halt == "paused", "paused"),
            (self.halt == "refused", "refused"),
            (self._passed and not open_items, "passes"),
            (self.idle >= IDLE_LISTS, "stalled"),
        )

    @property
    def why(self) -> str:
        """The ending in one sentence, with its value."""
        counts = self.worklist.counts
        left = counted(len(self.worklist.open), "item")
        looks = counted(self.looks, "enumeration")
        ended = ", ".join(f"{counts[word]} {word}" for word in ("landed", "parked", "declined", "gone") if counts.get(word))  # fmt: skip
        listed = (
            f"{counted(len(self.worklist.items), 'item')} listed{f', {ended}' if ended else ''}"
        )
        campaign = self.campaign
        reasons: dict[Ending | None, str] = {
            "complete": f"{listed}; a fresh enumeration finds nothing more.",
            "exhausted": f"every item was worked on: {listed}.",
            "nothing-to-do": self._nothing(),
            "budget": self._spent(left),
            "paused": self.halted,
            "refused": self.halted,
            "passes": f"{looks} were allowed and made; {listed}.",
            "enough": f"you said enough; what was under way was finished first. {left} left.",
            "stalled": f"{IDLE_LISTS} enumerations in a row named something of which nothing landed: {listed}.",
            "red": campaign.stopped or f"the gate is red on all that is left: {listed}.",
        }
        return reasons.get(self.ending, "")

    def _nothing(self) -> str:
        left = len(self.left) or len(self.survey.listing.sites)
        if left:
            return f"the only {counted(left, 'item')} left are parked or declined. `--retry` opens them again."
        before = len(self.survey.state.landed)
        said = f"; {counted(before, 'commit')} landed earlier." if before else "."
        return f"no item is left{said}"

    def _spent(self, left: str) -> str:
        if self.halt == "budget":
            return f"{self.halted}; {left} left."
        if self._rationed:
            return f"{counted(self.terms.max_items or 0, 'item')} were allowed and worked on; {left} left."
        minutes = self.campaign.allowed.max_minutes
        return f"{self.survey.elapsed / 60:.1f} of {minutes} minutes are spent; {left} left."

    def report(self, take: str, ui: str = "") -> Report:
        """The closing record; of a campaign, with the sweep's ending and its list."""
        report = self.campaign.report(take, ui)
        dropped = self.worklist.dropped
        notes = (
            *report.notes,
            *([f"{dropped} named without a place that exists, and dropped"] if dropped else []),
        )
        return report.model_copy(
            update={
                "ending": self.ending or "stalled",
                "why": self.why,
                "passes": self.passes,
                "remaining": self._remaining(),
                "items": self.worklist.counts,
                "notes": notes,
            }
        )

    def _remaining(self) -> tuple[Remaining, ...]:
        return tuple(
            Remaining(
                site=item.place,
                key=item.name,
                message=item.title,
                why=item.ended or "not reached",
            )
            for item in self.left
        )

    def _with(self, **changes: object) -> Self:
        return self.model_copy(update=changes)
