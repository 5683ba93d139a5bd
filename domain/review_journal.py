"""The fold over a run of the review loop: what is looked at next, what was said, may it go on, why did it end."""

from typing import Literal

from domain.commit import Halt
from domain.journal import Journal, Survey
from domain.report import Ending, Report
from domain.review_state import Look
from domain.site import Listing
from domain.standing import Standing
from domain.value import Value
from domain.verdict import Count
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

    @classmethod
    def begin(
        cls,
        campaign: Journal,
        standing: Standing,
        max_review_passes: int = MAX_REVIEW_PASSES,
    ) -> "ReviewJournal":
        return cls(
            campaign=campaign,
            begun=standing,
            standing=standing,
            max_review_passes=max_review_passes,
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

    def record(
        self, look: Look, count: Count, standing: Standing, survey: Survey
    ) -> "ReviewJournal":
        """Fold in one review, after its verdict was written."""
        line = PassLine(
            look=look,
            kind=count.kind,
            reason=count.reason,
            blockers=len(count.blockers),
            repeated=len(count.repeated),
            not_shown=count.not_shown,
        )
        return self._stands(standing, survey)._with(log=(*self.log, line))

    def fixed(self, campaign: Journal, standing: Standing, survey: Survey) -> "ReviewJournal":
        """Fold in what a fixer did, after the gate."""
        return self._with(campaign=campaign)._stands(standing, survey)

    def halted_by(self, halt: Halt, why: str) -> "ReviewJournal":
        """Nobody can be asked any more: money, a pause, a precondition."""
        return self._with(halt=halt, halted=why)

    def _stands(self, standing: Standing, survey: Survey) -> "ReviewJournal":
        here = survey.model_copy(update={"listing": Listing(sites=standing.sites)})
        return self._with(
            standing=standing, campaign=self.campaign.model_copy(update={"survey": here})
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
            (standing.converged, "complete"),
            (standing.stuck and standing.red and not self.survey.landed, "red"),
            (standing.stuck, "stalled"),
            (self.survey.enough, "enough"),
            (campaign.spent or self.halt == "budget", "budget"),
            (self.halt == "paused", "paused"),
            (self.halt == "refused", "refused"),
            (self.passes >= self.max_review_passes, "passes"),
        )

    @property
    def why(self) -> str:
        """The ending in one sentence, with its value."""
        passes, left = counted(self.passes, "pass", "passes"), self._left
        reasons: dict[Ending | None, str] = {
            "nothing-to-do": f"{self._chunks} reviewed before, and nothing has changed since.",
            "complete": f"{self._chunks} clean after {passes} ({self._rule}).",
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
    def _late(self) -> str:
        minutes = self.campaign.budget.max_minutes
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

    def _with(self, **changes: object) -> "ReviewJournal":
        return self.model_copy(update=changes)
