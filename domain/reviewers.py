"""Who reviews: two families that check each other, or one alone."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from domain.axis import Sentence
from domain.hired import Hired
from domain.sweep import Terms
from domain.target import Workspace, hire
from domain.value import Refused, Value

BOTH = 2
RULES = "rules"
"""What is asked for where no model is to be."""
Mode = Literal["dual", "mono"]


class Reviewer(Value):
    """A family that looks, and mends what it finds."""

    family: str = Field(title="Family", description="claude, gpt; or ruff, ast-grep: rules alone.")
    hired: Hired | None = Field(default=None, title="Model", description="None: rules alone.")


class Opened(Value):
    """A review that may begin: where, by whom, on which terms."""

    workspace: Workspace
    axis: Sentence
    reviewers: tuple[Reviewer, ...]
    terms: Terms
    said: str
    """Who reviews, and why."""

    def seated(self, family: str) -> Workspace:
        """The workspace of the family whose turn it is."""
        return seated(self.workspace, self.reviewers, family)


def seated(workspace: Workspace, reviewers: Sequence[Reviewer], family: str) -> Workspace:
    """The workspace of the family whose turn it is."""
    hired = next(one.hired for one in reviewers if one.family == family)
    return hire(workspace.model_copy(update={"hired": None}), hired)


def chosen(
    asked: Sequence[Hired],
    *,
    rules: Sequence[str],
    with_key: Sequence[str],
    only_rules: bool,
    mode: Mode,
) -> tuple[tuple[Reviewer, ...], str]:
    """Who is to review, and in words why: the models asked for, else those with a key, else rules."""
    if only_rules or not (asked or with_key):
        why = "as asked" if only_rules else "no key of a model family is set"
        found = tuple(Reviewer(family=name) for name in rules)
    elif asked:
        why, found = "as asked", tuple(Reviewer(family=one.family, hired=one) for one in asked)
    else:
        why = "by the keys that are set"
        hired = (Hired.model_validate({"family": name}) for name in with_key)
        found = tuple(Reviewer(family=one.family, hired=one) for one in hired)
    families = [one.family for one in found]
    if len(set(families)) < len(families):
        raise Refused(f"{', '.join(families)}: one family was named twice. Two check each other.")
    if len(found) > BOTH:
        raise Refused(f"{', '.join(families)} are {len(found)} families; one or two can review.")
    if mode == "mono":
        found = found[:1]
    said = " and ".join(one.family for one in found)
    alone = "" if len(found) == BOTH else ", alone: nobody checks it"
    return found, f"reviewed by {said}{alone} ({why})"
