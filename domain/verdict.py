"""A verdict of a review pass, what its reviewer really read, and what both together count for."""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictBool, ValidationError

from domain.blocker import Blocker, Pushback, place
from domain.chunk import Chunk, Part
from domain.shown import Shown, whole
from domain.sweep import Terms
from domain.value import Value

ASKED = 2
"""How often a reviewer is asked in one pass before the pass counts for nothing."""
LOW, HIGH = 0.5, 0.8
MOST_NAMED = 5


def _in_words(confidence: object) -> object:
    """A share of one, as some models give it, in the words of the others."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return confidence.strip().lower() if isinstance(confidence, str) else confidence
    if not math.isfinite(confidence) or not 0 <= confidence <= 1:
        return confidence
    return "low" if confidence < LOW else "medium" if confidence < HIGH else "high"


Confidence = Annotated[Literal["low", "medium", "high"], BeforeValidator(_in_words)]


class Note(Value):
    """An observation that need not be acted on, unless it is what the axis is about."""

    path: str = ""
    line: int = Field(default=1, ge=1)
    what: str
    on_axis: bool = Field(default=False, description="It is an instance of what the axis names.")


class Review(Value):
    """What a reviewer says of one chunk."""

    approved: StrictBool
    confidence: Confidence = "high"
    blockers: tuple[Blocker, ...] = Field(default=(), description="What has to change.")
    notes: tuple[Note, ...] = ()
    scanned_areas: tuple[str, ...] = Field(default=(), description="What you looked for, where.")
    files_reviewed: tuple[str, ...] = Field(default=(), description="Those you opened.")


class Verdict(Review):
    """A review, and who gave it."""

    family: str


class Unreadable(Value):
    """An answer that is no verdict."""

    why: str


def read_verdict(answer: object) -> Verdict | Unreadable:
    """Of a model's answer, as JSON or as the arguments of its tool call."""
    if isinstance(answer, str | bytes):
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError) as error:
            return Unreadable(why=f"the answer is not JSON: {error}")
    try:
        return Verdict.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        return Unreadable(why=f"{where}: {first['msg']}")


class Engagement(Value):
    """From the tool log, or from the prompt that was sent: never from the model's word."""

    seen: tuple[Shown, ...] = ()
    """Lines that were put before the reviewer; of long ones, some characters."""
    cut: tuple[str, ...] = ()
    """Places that a cap kept from the reviewer, in words: `a.py:120-400`."""

    @classmethod
    def of_all(cls, chunk: Chunk) -> "Engagement":
        """Of whoever was given every byte of a chunk."""
        return cls(
            seen=tuple(
                Shown(
                    path=part.path,
                    first=max(part.first_line, 1),
                    last=part.last_line,
                    ends=not part.last_line,
                )
                for part in chunk.parts
            )
        )

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(shown.path for shown in self.seen)

    def gap(self, part: Part) -> str:
        """The first lines of a part that were not shown, as `path:first-last`; empty: all of it was."""
        if not part.bytes:
            return ""
        wanted = part.first_line
        mine = whole(shown for shown in self.seen if shown.path == part.path)
        for shown in sorted(mine, key=lambda one: one.first):
            if shown.first > wanted:
                break
            if shown.ends:
                return ""
            wanted = max(wanted, shown.last + 1)
        reached = part.last_line and wanted > part.last_line
        return "" if reached else f"{part.path}:{wanted}-{part.last_line or ''}"


class Count(Value):
    """What a pass counts for.

    `clean`: nothing is wrong with the chunk. `blocked`: a fixer is sent. `unsure`: an opinion
    that is neither. `void`: as if nobody had looked.
    """

    kind: Literal["clean", "blocked", "unsure", "void"]
    reason: str = ""
    blockers: tuple[Blocker, ...] = ()
    """Raised by this pass; of `unsure`: doubts that nobody acts on."""
    repeated: tuple[Blocker, ...] = ()
    """Answered before, and raised again without new evidence."""
    not_shown: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()


def weigh(
    verdict: Verdict | Unreadable,
    engagement: Engagement,
    chunk: Chunk,
    *,
    family: str,
    terms: Terms,
    answered: Mapping[str, Pushback],
) -> Count:
    """What the answer of `family` to this chunk counts for, given what it read and what was answered before."""
    if isinstance(verdict, Unreadable):
        return Count(kind="void", reason=f"no verdict: {verdict.why}")
    if void := _void(verdict, engagement, chunk, family, terms):
        return Count(kind="void", reason=void, areas=verdict.scanned_areas)
    blobs = {part.path: part.blob for part in chunk.parts}
    raised, repeated = list[Blocker](), list[Blocker]()
    for blocker in _blockers(verdict, chunk, terms):
        pushback = answered.get(place(blocker.path, blocker.line, blobs[blocker.path]))
        (repeated if pushback and pushback.settles(blocker) else raised).append(blocker)
    not_shown = _not_shown(engagement, chunk, terms)
    kind, reason = _kind(verdict, raised, repeated, not_shown)
    return Count(
        kind=kind,
        reason=reason,
        blockers=tuple(raised),
        repeated=tuple(repeated),
        not_shown=not_shown,
        areas=verdict.scanned_areas,
    )


def _void(verdict: Verdict, engagement: Engagement, chunk: Chunk, family: str, terms: Terms) -> str:
    """Why the answer counts for nothing; empty: it counts."""
    if verdict.family != family or family not in terms.families:
        return f"the verdict is of family {verdict.family!r}, and {family!r} was asked"
    here = frozenset(part.path for part in chunk.parts)
    cited = {*(one.path for one in verdict.blockers), *(one.path for one in verdict.notes)}
    strange = sorted((cited | set(verdict.files_reviewed)) - here - {""})
    if strange:
        return f"it cites what is not in the chunk: {_few(strange)}"
    if terms.context_mode == "inline":
        return ""
    if not here & engagement.paths:
        return "it opened no file of the chunk"
    claimed = sorted(set(verdict.files_reviewed) - engagement.paths)
    return f"it claims files that it never opened: {_few(claimed)}" if claimed else ""


def _blockers(verdict: Verdict, chunk: Chunk, terms: Terms) -> tuple[Blocker, ...]:
    """On an axis of the operator's own, whatever lies on it is work, however politely it was put."""
    noted = tuple(
        Blocker(path=note.path or chunk.parts[0].path, line=note.line, why=note.what)
        for note in verdict.notes
        if terms.axis and note.on_axis
    )
    return (*verdict.blockers, *noted)


def _not_shown(engagement: Engagement, chunk: Chunk, terms: Terms) -> tuple[str, ...]:
    """Every byte has to be shown inline, and under full coverage; what a cap cut always counts."""
    if terms.context_mode == "explore" and terms.coverage == "any":
        return engagement.cut
    gaps = (engagement.gap(part) for part in chunk.parts)
    return (*engagement.cut, *(gap for gap in gaps if gap))


def _kind(
    verdict: Verdict, raised: list[Blocker], repeated: list[Blocker], not_shown: tuple[str, ...]
) -> tuple[Literal["clean", "blocked", "unsure"], str]:
    rejected = bool(raised) or not (verdict.approved or repeated)
    if rejected and verdict.confidence == "low":
        return "unsure", "a rejection of low confidence"
    if raised:
        return "blocked", "approved, with blockers: the blockers count" if verdict.approved else ""
    if rejected:
        return "unsure", "a rejection that names no blocker"
    if not_shown:
        return "unsure", f"not shown to the reviewer: {_few(not_shown)}"
    return "clean", ""


def _few(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
