"""The durable state of a review: cursor, streak, clean set and findings in one document.

A verdict and the cursor move in one fold, so that one write takes both: a crash leaves the cursor
on the chunk that has no verdict.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from domain.blocker import MOST_TIMES, Blocker, OpenBlocker, Pushback
from domain.coverage import Mark, marked, revoked
from domain.streak import Streak
from domain.sweep import Sweep
from domain.value import Value
from domain.verdict import Count

MOST_CURSOR = 2**53
KEPT_CONTENTS = 8
"""Of a file: contents that had blockers. Coming back to one of them is an oscillation."""
KEPT_AREAS = 200
KEPT_STALE = 200
"""Blockers and pushbacks on contents that are not in the plan now: an edit may be taken back."""

Number = Annotated[int, Field(ge=0, le=MOST_CURSOR)]


class Look(Value):
    """One pass that is due: who is to look at which chunk of which plan."""

    turn: Number
    """The pass, counted over all runs: its verdict counts once."""
    chunk: Number
    """Index in the plan."""
    family: str
    binding: str
    """Of the sweep it belongs to."""


class Fruitless(Value):
    """A look that decided nothing: not asked again, as long as the chunk stays as it is."""

    content: str
    family: str
    kind: Literal["unsure", "void"]
    why: str


class ReviewState(Value):
    """What the next pass must know, in whatever run, on whatever machine."""

    turn: Number = 0
    """Passes with an answer so far."""
    cursor: Number = 0
    """The chunk that is next, modulo the number of chunks; it has no verdict yet."""
    streak: Streak = Streak()
    clean: dict[str, tuple[Mark, ...]] = {}
    open: tuple[OpenBlocker, ...] = ()
    pushbacks: tuple[Pushback, ...] = ()
    contents: dict[str, tuple[str, ...]] = {}
    """By path: contents in which blockers were raised, in their order."""
    fruitless: tuple[Fruitless, ...] = ()
    areas: tuple[str, ...] = ()
    """What was looked at before, in the reviewers' words: told to the next one."""

    @property
    def answered(self) -> dict[str, Pushback]:
        return {pushback.id: pushback for pushback in self.pushbacks}

    def unresolved(self, sweep: Sweep) -> tuple[OpenBlocker, ...]:
        """Blockers on contents that are in the plan."""
        return tuple(one for one in self.open if sweep.blob(one.blocker.path) == one.blob)

    def left(self, sweep: Sweep) -> tuple[Pushback, ...]:
        """What fixers left to a person, on contents that are in the plan."""
        return tuple(
            one for one in self.pushbacks if one.left and sweep.blob(one.blocker.path) == one.blob
        )

    def to_fix(self, sweep: Sweep, chunk: int) -> tuple[OpenBlocker, ...]:
        """What a fixer is sent for after this chunk was blocked."""
        return tuple(
            one
            for one in self.unresolved(sweep)
            if not one.stuck and sweep.home(one.blocker.path, one.blocker.line) == chunk
        )

    def untried(self, sweep: Sweep) -> tuple[int, str] | None:
        """The chunk with the first blocker that nobody was sent for, and a family that raised it."""
        for one in self.unresolved(sweep):
            chunk = sweep.home(one.blocker.path, one.blocker.line)
            if chunk is not None and not one.tried and not one.stuck:
                mine = [family for family in sweep.terms.families if family in one.raised_by]
                return chunk, (*mine, *sweep.terms.families)[0]
        return None

    def due(self, look: Look, sweep: Sweep) -> bool:
        """Whether the verdict of this look is still to be counted: not a replay, not of another plan."""
        return (look.turn, look.binding) == (self.turn, sweep.binding)

    def record(self, sweep: Sweep, look: Look, count: Count) -> "ReviewState":
        """Fold in one pass: verdict and cursor together. What is not due changes nothing."""
        if not self.due(look, sweep):
            return self
        after = self.model_copy(
            update={
                "turn": self.turn + 1,
                "cursor": self.cursor if count.kind == "void" else look.chunk + 1,
                "streak": self.streak.counted(sweep, count.kind, look.family),
                "areas": tuple(dict.fromkeys((*self.areas, *count.areas)))[-KEPT_AREAS:],
            }
        )
        if count.kind == "clean":
            return after._cleared(sweep, look)
        if count.kind == "blocked":
            return after._raised(sweep, look, count.blockers)
        known = {sweep.content(index) for index in range(sweep.size)}
        nothing = Fruitless(
            content=sweep.content(look.chunk), family=look.family, kind=count.kind, why=count.reason
        )
        kept = (one for one in after.fruitless if one.content in known)
        return after._with(fruitless=(*kept, nothing))

    def settle(
        self,
        sweep: Sweep,
        tried: Mapping[str, str],
        pushbacks: Mapping[str, str],
        left: Collection[str] = (),
    ) -> "ReviewState":
        """Fold in what a fixer did, by ids of open blockers: the outcome of each attempt, and its reasons against.

        `left`: those of `pushbacks` that dispute nothing.
        A file whose blocker was answered has to be found clean again, with the answer at hand.
        """
        answered = tuple(
            Pushback(
                blocker=one.blocker,
                blob=one.blob,
                why=pushbacks[one.id],
                left=one.id in left,
                times=one.times,
            )
            for one in self.open
            if one.id in pushbacks
        )
        ids = {pushback.id for pushback in answered}
        still = (
            one.model_copy(update={"tried": tried[one.id]}) if one.id in tried else one
            for one in self.open
            if one.id not in ids
        )
        return self._with(
            open=tuple(still),
            pushbacks=(*(old for old in self.pushbacks if old.id not in ids), *answered),
            clean=revoked(self.clean, {pushback.blocker.path for pushback in answered}),
        )._trimmed(sweep)

    def adrift(self, sweep: Sweep) -> tuple[tuple[Pushback, str], ...]:
        """Answers on contents that their files had before, each with the content that is in the plan."""
        now = ((one, sweep.blob(one.blocker.path)) for one in self.pushbacks)
        return tuple((one, blob) for one, blob in now if blob and blob != one.blob)

    def carried(self, sweep: Sweep, lines: Mapping[str, int]) -> "ReviewState":
        """Answers go with their lines, by id, to the contents that are in the plan: what they are about is unchanged."""
        return self._with(
            pushbacks=tuple(
                one.model_copy(
                    update={
                        "blocker": one.blocker.model_copy(update={"line": lines[one.id]}),
                        "blob": sweep.blob(one.blocker.path),
                    }
                )
                if one.id in lines
                else one
                for one in self.pushbacks
            )
        )

    def asked_anew(self) -> "ReviewState":
        """At the beginning of a run: whoever gave no verdict may be asked again; doubts stay doubts."""
        return self._with(fruitless=tuple(one for one in self.fruitless if one.kind != "void"))

    def retried(self) -> "ReviewState":
        """What is stuck is tried again (`--retry`)."""
        freed = (one.model_copy(update={"stuck": "", "tried": ""}) for one in self.open)
        return self._with(open=tuple(freed), fruitless=(), contents={})

    def _cleared(self, sweep: Sweep, look: Look) -> "ReviewState":
        """A clean pass marks the chunk; its family withdraws what it had raised there, or what nobody else can."""
        asked, left = frozenset(sweep.terms.families), list[OpenBlocker]()
        current = {one.id for one in self.unresolved(sweep)}
        for one in self.open:
            here = (
                one.id in current and sweep.home(one.blocker.path, one.blocker.line) == look.chunk
            )
            if here:
                still = tuple(family for family in one.raised_by if family in asked - {look.family})
                if still:
                    left.append(one.model_copy(update={"raised_by": still}))
            else:
                left.append(one)
        clean = marked(self.clean, sweep, look.chunk, look.family)
        return self._with(clean=clean, open=tuple(left))

    def _raised(self, sweep: Sweep, look: Look, blockers: tuple[Blocker, ...]) -> "ReviewState":
        opened, answered = {one.id: one for one in self.open}, self.answered
        contents = dict(self.contents)
        for blocker in _by_place(blockers):
            blob, before = sweep.blob(blocker.path), contents.get(blocker.path, ())
            found = OpenBlocker(blocker=blocker, blob=blob, raised_by=(look.family,))
            back = blob in before[:-1] and before[-1] != blob
            opened[found.id] = _again(
                found, opened.get(found.id), answered.pop(found.id, None), back=back
            )
            if before[-1:] != (blob,):
                contents[blocker.path] = (*before, blob)[-KEPT_CONTENTS:]
        return self._with(
            open=tuple(opened.values()),
            pushbacks=tuple(answered.values()),
            contents=contents,
            clean=revoked(self.clean, {blocker.path for blocker in blockers}),
        )._trimmed(sweep)

    def _trimmed(self, sweep: Sweep) -> "ReviewState":
        return self._with(open=_kept(self.open, sweep), pushbacks=_kept(self.pushbacks, sweep))

    def _with(self, **changes: object) -> "ReviewState":
        return self.model_copy(update=changes)


def _by_place(blockers: Iterable[Blocker]) -> tuple[Blocker, ...]:
    """What one pass says of one line is one blocker, with every reason."""
    found: dict[tuple[str, int], Blocker] = {}
    for blocker in blockers:
        first = found.get((blocker.path, blocker.line))
        if first:
            blocker = first.model_copy(update={"why": f"{first.why}\n{blocker.why}"})  # noqa: PLW2901
        found[blocker.path, blocker.line] = blocker
    return tuple(found.values())


def _again(
    found: OpenBlocker, before: OpenBlocker | None, pushback: Pushback | None, *, back: bool
) -> OpenBlocker:
    """A blocker with what is known of its place: raised before on this content, answered, tried."""
    times = before.times if before else pushback.times + 1 if pushback else 1
    stuck = before.stuck if before else ""
    if not stuck and before and before.tried:
        stuck = f"raised again on unchanged content after an attempt that ended: {before.tried}"
    elif not stuck and times > MOST_TIMES:
        stuck = f"raised {times} times on unchanged content, and answered every time before"
    elif not stuck and back:
        stuck = "an oscillation: the file is back at a content that it was changed from"
    families = {*found.raised_by, *(before.raised_by if before else ())}
    return found.model_copy(
        update={
            "raised_by": tuple(sorted(families)),
            "times": times,
            "tried": before.tried if before else "",
            "stuck": stuck,
        }
    )


Finding = TypeVar("Finding", OpenBlocker, Pushback)


def _kept(findings: tuple[Finding, ...], sweep: Sweep) -> tuple[Finding, ...]:
    """All on contents of the plan, and the latest of the others."""
    stale = [one.id for one in findings if sweep.blob(one.blocker.path) != one.blob]
    gone = frozenset(stale[:-KEPT_STALE])
    return tuple(one for one in findings if one.id not in gone)
