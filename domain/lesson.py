"""A lesson: a rule that was made from commits of a model's, proved on others of them. It costs nothing to apply.

It is kept in the state of the campaign, so that no later run pays for it again.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from domain.edits import applied
from domain.report import Landed, Parked, Taught
from domain.site import Edit
from domain.value import Value

NAME_DIGITS = 12


class Lesson(Value):
    """What came of it, when so many sites were taught."""

    rule: str = ""
    """The text of an ast-grep rule; empty: none held, and `why` says why."""
    why: str = ""
    taught: int
    """Commits of the model's that had landed by then."""
    held_out: int = 0
    """Of the commits that it was proved on, those that the model was not shown."""
    run: str = ""
    """The run that paid for it."""
    usd: float = 0.0
    """What it cost."""
    usd_each: float = 0.0
    """What the campaign had spent on each of the taught sites."""
    left: tuple[str, ...] = ()
    """Keys of the sites that the rule finds and that have not landed."""

    @property
    def proven(self) -> bool:
        return bool(self.rule)

    def less(self, done: Iterable[str]) -> "Lesson":
        """Without the keys of sites that landed, each as often as it did."""
        left = list(self.left)
        for key in done:
            if key in left:
                left.remove(key)
        return self.model_copy(update={"left": tuple(left)})


def rule_name(rule: str) -> str:
    """What a rule is called in trailers and in the report: a digest of its text, nothing that a model wrote."""
    return sha256(rule.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_DIGITS]


def plain_rule(text: str) -> str:
    """A rule's text as it is kept. It ends with a line break: without one, it could be taken for a file's name."""
    return f"{text.strip()}\n" if text.strip() else ""


def reproduces(before: str, after: str, edits: Sequence[Edit]) -> bool:
    """Whether some of a rule's `edits`, each whole, make `after` of `before`, and nothing else differs.

    Some, since the file may have held other sites by then. The edits must not overlap.
    """
    at, reached = 0, {0}
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        between, old = before[at : edit.start], before[edit.start : edit.end]
        stepped = {n + len(between) for n in reached if after.startswith(between, n)}
        reached = {
            n + len(new) for n in stepped for new in {old, edit.text} if after.startswith(new, n)
        }
        at = edit.end
    rest = before[at:]
    return before != after and any(after[n:] == rest for n in reached)


def wrongly(before: str, after: str, edits: Sequence[Edit]) -> str | None:
    """What `before` becomes by those edits that touch what differs in `after`; None when none does."""
    start, end = _differing(before, after)
    touching = [edit for edit in edits if edit.start <= end and edit.end >= start]
    return applied(before, touching) if touching else None


def _differing(before: str, after: str) -> tuple[int, int]:
    """The part of `before` that is not sure to be the same: of `aa` made `a`, either may have gone."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    tail = next((n for n in range(shorter) if before[-1 - n] != after[-1 - n]), shorter)
    return min(head, shorter - tail), len(before) - min(tail, shorter - head)


def summed_up(
    lesson: Lesson | None,
    run: str,
    landed: Sequence[Landed],
    parked: Sequence[Parked],
    remaining: int,
) -> Taught | None:
    """What the report of a run says of a lesson; `landed` by that run. What is saved is an estimate."""
    if lesson is None:
        return None
    by_rule = sum(bool(commit.rule) for commit in landed)
    mine = lesson.run == run
    by_model = len(landed) - by_rule
    since = max(0, by_model - lesson.taught) if mine else by_model
    return Taught(
        rule=lesson.rule,
        name=rule_name(lesson.rule) if lesson.rule else "",
        why=lesson.why,
        taught=lesson.taught,
        held_out=lesson.held_out,
        compiled=by_rule,
        parked=sum(bool(commit.rule) and commit.run == run for commit in parked),
        left=since + remaining,
        usd=lesson.usd if mine else 0.0,
        usd_each=lesson.usd_each,
        saved_usd=by_rule * lesson.usd_each - (lesson.usd if mine else 0.0),
    )
