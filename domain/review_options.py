"""What a review is asked for, and the terms that it comes to."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from pydantic import Field

from domain.axis import Sentence, slug
from domain.budget import Budget
from domain.chunk import MAX_TOKENS, MAX_TOKENS_INLINE, WINDOW_PERCENT, most_tokens
from domain.hired import Hired
from domain.order import UnitTerms
from domain.reviewers import Mode, Reviewer
from domain.sweep import ContextMode, Coverage, StopWhen, Terms
from domain.target import Target
from domain.value import Value

ANYTHING = Sentence(text="find and mend what is wrong")
"""The axis of a review that was given none, as reports and trailers name it."""
MAX_REVIEW_PASSES = 15
"""Of a run whose passes cost money."""
FREE_PASSES = 1_000_000
"""Of a run of rules: it ends by itself, since what was looked at in vain is not looked at again."""


class ReviewSettings(Value):
    """How a review is made. The form of the UI shows these."""

    review: Mode = Field(
        default="dual",
        title="Families",
        description="dual: two families take turns and check each other; mono: one alone.",
    )
    stop_when: StopWhen | None = Field(
        default=None,
        title="Done when",
        description="covered: every file has a clean verdict on the content it has now, and both families took part; "
        "covered_by_both: every file by each; streak: a whole round of clean passes in a row, and one more. "
        "Empty: covered, and covered_by_both where rules review, since each knows what the other does not.",
    )
    context_mode: ContextMode = Field(
        default="explore",
        title="Context",
        description="explore: the reviewer opens the files itself; inline: they stand in the prompt.",
    )
    coverage: Coverage = Field(
        default="any",
        title="Coverage",
        description="any: a reviewer has to open a file of the chunk at least; full: every line of it.",
    )
    max_review_chunk_tokens: int | None = Field(
        default=None,
        gt=0,
        title="Tokens in a chunk",
        description=f"Empty: {MAX_TOKENS:,}, and {MAX_TOKENS_INLINE:,} where it stands in the prompt.",
    )
    reviewer_window_tokens: int = Field(
        default=0,
        ge=0,
        title="The reviewer's window",
        description="In tokens; a chunk takes no more than a share of it. 0: not asked.",
    )
    reviewer_window_percent: int = Field(
        default=WINDOW_PERCENT,
        ge=1,
        le=100,
        title="Share of the window, in percent",
        description="What a chunk may take of the reviewer's window, where that is given.",
    )
    max_review_passes: int | None = Field(
        default=None,
        gt=0,
        title="Passes",
        description=f"Reviews in one run. Empty: {MAX_REVIEW_PASSES}; as many as it takes where rules review.",
    )

    def passes(self, reviewers: Sequence[Reviewer]) -> int:
        """How many reviews a run may make."""
        if self.max_review_passes is not None:
            return self.max_review_passes
        return MAX_REVIEW_PASSES if any(one.hired for one in reviewers) else FREE_PASSES

    def terms(
        self,
        axis: Sentence | None,
        scope: Sequence[str],
        reviewers: Sequence[Reviewer],
        instructions: str,
    ) -> Terms:
        """The terms on which verdicts count. `instructions`: what rules depend on."""
        usual = MAX_TOKENS if self.context_mode == "explore" else MAX_TOKENS_INLINE
        return Terms(
            axis=axis.text if axis else "",
            scope=tuple(scope),
            families=tuple(one.family for one in reviewers),
            stop_when=self.stop_when or usual_stop(reviewers),
            context_mode=self.context_mode,
            coverage=self.coverage,
            chunk_tokens=most_tokens(
                self.max_review_chunk_tokens or usual,
                self.reviewer_window_tokens,
                self.reviewer_window_percent,
            ),
            instructions=sha256(instructions.encode()).hexdigest()[:16] if instructions else "",
        )


def usual_stop(reviewers: Sequence[Reviewer]) -> StopWhen:
    """When nobody said: a second look of a model costs money, one of rules does not."""
    return "covered" if any(one.hired for one in reviewers) else "covered_by_both"


ReviewFlow = Literal["review", "units"]


def review_slug(axis: Sentence | None, flow: ReviewFlow = "review") -> str:
    """A review's name in branches and refs: its own, so that a campaign of the same axis is another one."""
    return f"{flow}-{slug(axis)}" if axis else flow


class ReviewOptions(Value):
    """One request for a review, from the command line."""

    target: Target
    axis: Sentence | None = None
    settings: ReviewSettings = ReviewSettings()
    budget: Budget = Budget()
    hired: tuple[Hired, ...] = ()
    """Models, one of a family; empty: those with a key, else rules."""
    units: UnitTerms | None = None
    """How units are carried out; None: the request is for a review."""
    only_rules: bool = False
    retry: bool = False
