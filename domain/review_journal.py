"""The fold over a run of the review loop: what is looked at next, what was said, may it go on, why did it end."""

from typing import Literal, Self

from domain.assignment import Checked, Heard
from domain.batch import Batch
from domain.commit import ChainOnShelf, Halt
from domain.journal import Journal
from domain.proof import Proof
from domain.red_rate import RedRate
from domain.report import Ending, Report
from domain.review_state import Look
from domain.site import Listing
from domain.standing import Standing
from domain.survey import Survey
from domain.value import Value
from domain.words import counted, tallied

MAX_REVIEW_PASSES = 15


class PassLine(Value):
    """One pass, for the record."""

    look: Look
    kind: Literal["clean", "blocked", "unsure", "void"]
    reason: str = ""
    blockers: int = 0
    repeated: int = 0
    not_shown: tuple[str, ...] = ()


class ReviewJournal(Value):
    """A run, as far as it went. Its campaign counts what fixes cost: gates, commits, time and money."""

    campaign: Journal
    begun: Standing
    standing: Standing
    max_review_passes: int = MAX_REVIEW_PASSES
    log: tuple[PassLine, ...] = ()
    halt: Halt = ""
    halted: str = ""
    said: str = ""
    """Who reviews, and why."""

    @classmethod
    def begin(
        cls,
        campaign: Journal,
        standing: Standing,
        max_review_passes: int = MAX_REVIEW_PASSES,
        said: str = "",
    ) -> "ReviewJournal":
        return cls(
            campaign=campaign,
            begun=standing,
            standing=standing,
            max_review_passes=max_review_passes,
            said=said,
        )

    @property
    def passes(self) -> int:
        """Reviews made by this run; void ones were paid for, too."""
        return len(self.log)

    @property
    def survey(self) -> Survey:
        return self.campaign.survey

    @property
    def look(self) -> Look | None:
        """What is due, if the run may go on."""
        return None if self.ending else self.standing.look

    @property
    def may_mend(self) -> bool:
        """Whether a fixer may be sent for what the last pass found: it is part of that pass."""
        return self.ending in (None, "passes", "enough")

    @property
    def tip(self) -> str:
        return self.survey.tip

    @property
    def rate(self) -> RedRate:
        return self.campaign.rate

    @property
    def flaky(self) -> tuple[str, ...]:
        return self.campaign.flaky

    @property
    def stopped(self) -> str:
        return self.campaign.stopped

    def count(self, proof: Proof) -> Self:
        """Fold in one answer of the gate."""
        return self._with(campaign=self.campaign.count(proof))

    def record(self, look: Look, heard: Heard, checked: Checked) -> Self:
        """Fold in one review, after its verdict was written."""
        halted = self._stands(checked)._spent(heard.seconds)
        if heard.halt:
            return halted.halted_by(heard.halt, heard.why)
        count = heard.count
        line = PassLine(
            look=look,
            kind=count.kind,
            reason=count.reason,
            blockers=len(count.blockers),
            repeated=len(count.repeated),
            not_shown=count.not_shown,
        )
        return halted._with(log=(*self.log, line))

    def fixed(self, chain: ChainOnShelf, batch: Batch, checked: Checked) -> Self:
        """Fold in what a fixer did, after the gate."""
        campaign = self.campaign.model_copy(
            update={
                "flaky": tuple(sorted({*self.flaky, *batch.flaky})),
                "fixed": batch.fixed or self.campaign.fixed,
                "notes": tuple(dict.fromkeys((*self.campaign.notes, *chain.notes))),
            }
        )
        mended = self._with(campaign=campaign)._stands(checked)._spent(chain.seconds)
        return mended.halted_by(chain.halt, chain.why) if chain.halt else mended

    def halted_by(self, halt: Halt, why: str) -> Self:
        """Nobody can be asked any more: money, a pause, a precondition."""
        return self._with(halt=halt, halted=why)

    def _spent(self, seconds: float) -> Self:
        campaign = self.campaign
        return self._with(
            campaign=campaign.model_copy(update={"agent_seconds": campaign.agent_seconds + seconds})
        )

    def _stands(self, checked: Checked) -> Self:
        listing = Listing(sites=checked.standing.sites)
        survey = checked.survey.model_copy(update={"listing": listing})
        return self._with(
            standing=checked.standing,
            campaign=self.campaign.model_copy(update={"survey": survey}),
        )

    @property
    def ending(self) -> Ending | None:
        """Why the run stops here, or None while it goes on."""
        return next((ending for reached, ending in self._endings() if reached), None)

    def _endings(self) -> tuple[tuple[bool, Ending], ...]:
        standing, campaign = self.standing, self.campaign
        return (
            (bool(campaign.stopped) and not campaign.spent, "red"),
            (not standing.chunks, "refused"),
            (standing.converged and not self.passes, "nothing-to-do"),
            (standing.converged and bool(standing.left), "exhausted"),
            (standing.converged, "complete"),
            (standing.stuck and standing.red and not self.survey.landed, "red"),
            (standing.stuck and standing.red, "exhausted"),
            (standing.stuck, "stalled"),
            (self.survey.enough, "enough"),
            (campaign.spent or self.halt == "budget", "budget"),
            (self.halt == "paused", "paused"),
            (self.halt == "refused", "refused"),
            (self.passes >= self._most, "passes"),
        )

    @property
    def why(self) -> str:
        """The ending in one sentence, with its value."""
        passes, left = counted(self.passes, "pass", "passes"), self._left
        reasons: dict[Ending | None, str] = {
            "nothing-to-do": f"{self._chunks} reviewed before, and nothing has changed since.",
            "complete": f"{self._chunks} clean after {passes} ({self._rule}).",
            "exhausted": f"{self._chunks} reviewed, {passes}; {self._unmended}.",
            "refused": self.halted if self.standing.chunks else self._nothing,
            "red": self.campaign.stopped or f"the gate is red on every fix that was tried; {left}.",
            "stalled": f"no further look can decide anything; {left}. `--retry` tries them again.",
            "enough": f"you said enough; the pass was finished first. {left}.",
            "budget": f"{self.halted or self._late}; {left}.",
            "paused": self.halted,
            "passes": f"{passes} were allowed and made; {left}. The next run goes on from there.",
        }
        return reasons.get(self.ending, "")

    @property
    def _chunks(self) -> str:
        chunks = self.standing.chunks
        return f"{counted(chunks, 'chunk')} {'is' if chunks == 1 else 'are'}"

    @property
    def _rule(self) -> str:
        standing = self.standing
        if standing.stop_when == "streak":
            return f"a streak of {standing.streak}, and {standing.needed} are needed"
        return (
            "every file by both families"
            if standing.stop_when == "covered_by_both"
            else "every file"
        )

    @property
    def _nothing(self) -> str:
        skipped = ", ".join(f"{count} {reason}" for reason, count in self.standing.skipped.items())
        return (
            f"there is no file to review ({f'skipped: {skipped}' if skipped else 'none is in the scope'}). "
            "Look at `swathe plan`, and at the globs of the scope."
        )

    @property
    def _unmended(self) -> str:
        left = counted(len(self.standing.left) + len(self.standing.blockers), "finding")
        return f"{left} could not be mended, and {'is' if left.startswith('1 ') else 'are'} named below"

    @property
    def _most(self) -> int:
        return max(self.max_review_passes, self.survey.raised.max_passes or 0)

    @property
    def _late(self) -> str:
        minutes = self.campaign.allowed.max_minutes
        return f"{self.survey.elapsed / 60:.1f} of {minutes} minutes are spent"

    @property
    def _left(self) -> str:
        """In the order in which a person would ask."""
        standing = self.standing
        found = [
            (len(standing.blockers), counted(len(standing.blockers), "open blocker")),
            (
                len(standing.unseen),
                f"{counted(len(standing.unseen), 'chunk')} without a clean verdict",
            ),
        ]
        if standing.stop_when == "streak":
            found = [*found[:1], (1, f"a streak of {standing.streak} of {standing.needed}")]
        said = ", ".join(text for count, text in found if count)
        return f"{said or 'a look by another family'} left"

    def report(self, take: str, ui: str = "") -> Report:
        """The closing record; of a campaign, with the review's ending and what it leaves."""
        said = tallied(line.kind for line in self.log)
        cut = tuple(dict.fromkeys(place for line in self.log for place in line.not_shown))
        notes = (
            *([self.said] if self.said else []),
            *([f"verdicts: {said}"] if said else []),
            *([f"not shown to a reviewer: {', '.join(cut)}"] if cut else []),
        )
        report = self.campaign.report(take, ui)
        return report.model_copy(
            update={
                "ending": self.ending or "stalled",
                "why": self.why,
                "passes": self.passes,
                "remaining": self.standing.remaining,
                "skipped": self.standing.skipped,
                "notes": (*report.notes, *notes),
            }
        )

    def _with(self, **changes: object) -> Self:
        return self.model_copy(update=changes)
