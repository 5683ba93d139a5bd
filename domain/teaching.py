"""Teach once, sweep the rest: when a rule is made from a model's commits, what it is shown, and when it is proved."""

import difflib
from collections.abc import Sequence
from typing import Literal

from domain.brief import DIFF_CHARACTERS, teaching
from domain.hired import Hired
from domain.lesson import reproduces, wrongly
from domain.report import Landed
from domain.site import Edit, Listing
from domain.state import State
from domain.value import Refused, Value
from domain.words import counted

LEAST = 2
"""One site to show, and one to hold out."""
MOST_EXAMPLES = 20
"""The latest of the model's commits."""
MOST_TRIES = 3
"""Rules that are asked for, before the model goes on alone."""
ONE_IN = 3
"""Of the examples: held out."""
MOST_RULE = 20_000
"""Characters of a rule."""
MOST_TOLD = 3
"""Of what failed, told of one rule."""


class Lecture(Value):
    """What came of asking for a rule."""

    state: State
    """With the lesson in it, if there was an answer."""
    listing: Listing = Listing()
    """What the rule finds on the tip."""
    note: str = ""


class Example(Value):
    """A commit of the model's that landed: the files it changed, before and after."""

    sha: str
    place: str
    files: tuple[tuple[str, bytes, bytes], ...]


class Split(Value):
    """Examples that the model is shown, and those that its rule is proved on without."""

    shown: tuple[Example, ...]
    held: tuple[Example, ...]

    def opened(self, sha: str) -> "Split":
        """With a held-out example shown, as long as another one stays held out."""
        found = tuple(one for one in self.held if one.sha == sha)
        if len(self.held) <= len(found):
            return self
        held = tuple(one for one in self.held if one.sha != sha)
        return Split(shown=(*self.shown, *found), held=held)


class Tried(Value):
    """What a rule made of one example."""

    example: Example
    verdict: Literal["same", "nothing", "other", "again"]
    """Byte for byte what the model had made; no match there; something else; that, and it matches its own result."""
    made: str = ""
    """Of `other`: a difference between what landed and what the rule makes."""


def teachable(teach: int, hired: Hired | None) -> int:
    """What was asked for, or `Refused`."""
    if teach and hired is None:
        raise Refused(
            f"--teach {teach}: a rule is taught by a model's commits, and no model was asked for. "
            f"Add --executor claude or --executor gpt."
        )
    if teach and teach < LEAST:
        raise Refused(
            f"--teach {teach}: a rule is made from some sites and proved on another one. Give {LEAST} or more, as in --teach 5."
        )
    return teach


def landed_by_model(state: State) -> tuple[Landed, ...]:
    return tuple(commit for commit in state.landed if not commit.rule)


def still_to_teach(teach: int, state: State) -> int:
    """Sites that the model is to do before a rule is made from them; 0 when one was, or none is wanted."""
    return max(0, teach - len(landed_by_model(state))) if _open(teach, state) else 0


def lesson_due(teach: int, state: State) -> bool:
    """Whether it is time to ask for a rule. What was given up is tried again once more sites were to be taught."""
    return teach > 0 and _open(teach, state) and not still_to_teach(teach, state)


def _open(teach: int, state: State) -> bool:
    lesson = state.lesson
    return lesson is None or (not lesson.proven and lesson.taught < teach)


def split(examples: Sequence[Example]) -> Split:
    """Every third example is held out, and one at least. The same whenever it is asked."""
    held = [n for n in range(len(examples)) if n % ONE_IN == ONE_IN - 1] or [len(examples) - 1]
    return Split(
        shown=tuple(one for n, one in enumerate(examples) if n not in held),
        held=tuple(one for n, one in enumerate(examples) if n in held),
    )


def judged(
    example: Example, texts: Sequence[tuple[str, str]], edits: Sequence[Sequence[Edit]]
) -> Tried:
    """What the rule made of an example: its files as text, before and after, and the edits that it wants in each."""
    pairs = list(zip(texts, edits, strict=True))
    done = [reproduces(before, after, wanted) for (before, after), wanted in pairs]
    if all(done):
        return Tried(example=example, verdict="same")
    made = [
        after if right else wrongly(before, after, wanted)
        for right, ((before, after), wanted) in zip(done, pairs, strict=True)
    ]
    if not any(text is not None for text in made):
        return Tried(example=example, verdict="nothing")
    paths = [path for path, _, _ in example.files]
    told = [
        _difference(path, after, before if text is None else text)
        for path, (before, after), text in zip(paths, texts, made, strict=True)
    ]
    return Tried(example=example, verdict="other", made="\n".join(one for one in told if one))


def matches_itself(texts: Sequence[tuple[str, str]], edits: Sequence[Sequence[Edit]]) -> bool:
    """Whether a rule wants to change what it made of an example; `edits` are those it wants in the files after it."""
    return any(
        wrongly(after, before, wanted) is not None
        for (before, after), wanted in zip(texts, edits, strict=True)
    )


def proven(tried: Sequence[Tried], chosen: Split) -> bool:
    """Whether it never did otherwise than the model, and did half of the held-out examples as the model did.

    Where it matches nothing it does no harm: such sites stay the model's.
    """
    if any(one.verdict in ("other", "again") for one in tried):
        return False
    held = {example.sha for example in chosen.held}
    same = sum(one.verdict == "same" and one.example.sha in held for one in tried)
    return 2 * same >= len(held) > 0


def first_words(axis: str, chosen: Split) -> str:
    """What the model is told at first."""
    return teaching(axis, [_shown(example) for example in chosen.shown])


def objection(tried: Sequence[Tried], chosen: Split) -> str:
    """What is wrong with a rule. Of held-out examples only that there are some: they have to prove the next one, too."""
    shown = {example.sha for example in chosen.shown}
    mine = [one for one in tried if one.example.sha in shown]
    others = [one for one in tried if one.example.sha not in shown and one.verdict != "same"]
    said = [_fault(one) for one in mine if one.verdict not in ("same", "nothing")]
    missed = [one.example.place for one in mine if one.verdict == "nothing"]
    if missed:
        said.append(f"At {', '.join(missed[:MOST_TOLD])} it matches nothing.")
    said = said[:MOST_TOLD]
    if others:
        said.append(
            f"Of {counted(len(chosen.held), 'site')} that landed and are not shown here, it does not do "
            f"{len(others)} as they landed."
        )
    return "\n\n".join(said)


def to_open(tried: Sequence[Tried], chosen: Split) -> str:
    """The held-out example to be shown with the next question: one that was not done as it landed."""
    held = {example.sha for example in chosen.held}
    failed = [one for one in tried if one.example.sha in held and one.verdict != "same"]
    return failed[0].example.sha if failed else ""


def _fault(one: Tried) -> str:
    if one.verdict == "again":
        return f"At {one.example.place} it matches its own result."
    return f"At {one.example.place} it makes something else (- what landed, + what the rule makes):\n{one.made}"


def _shown(example: Example) -> str:
    parts = [
        _difference(path, _text(before), _text(after), context=3)
        for path, before, after in example.files
    ]
    return "\n".join(parts)[: DIFF_CHARACTERS // MOST_EXAMPLES]


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _difference(path: str, old: str, new: str, context: int = 1) -> str:
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), path, path, n=context, lineterm=""
    )
    return "\n".join(lines)[:DIFF_CHARACTERS]
