"""A unit of a backlog: reviewed, mended and reviewed again until two reviews in a row find it clean (ADR-055)."""

from collections.abc import Mapping, Sequence

from domain.assignment import LANDED, Heard
from domain.blocker import OpenBlocker
from domain.chunk import Chunk, Part, Plan
from domain.commit import Commit, Halt
from domain.review_state import ReviewState
from domain.standing import Standing
from domain.sweep import Sweep, Terms
from domain.value import Value
from domain.words import counted
from domain.worklist import Found, Item, Span

LOOKS = 1_000
"""More than a unit can have: the number of a look is its order's and its own."""
MOST_SUBJECTS = 20


class UnitTalk(Value):
    """What was said and done about a unit so far. Kept after every step, so that a kill costs the step under way."""

    base: str
    tip: str
    """The unit's own line of commits, on the base; nothing of it was put to the gate yet."""
    review: ReviewState
    name: str
    looks: int = 0
    mended: int = 0
    """Findings that a fixer was sent for."""
    usd: float = 0.0
    seconds: float = 0.0
    halt: Halt = ""
    why: str = ""

    @classmethod
    def begin(cls, tip: str, name: str, number: int) -> "UnitTalk":
        return cls(base=tip, tip=tip, name=name, review=ReviewState(turn=number * LOOKS))

    def reviewed(self, sweep: Sweep, standing: Standing, heard: Heard) -> "UnitTalk":
        look = standing.look
        paid = {"usd": self.usd + heard.usd, "seconds": self.seconds + heard.seconds}
        if heard.halt or look is None:
            return self.model_copy(update={**paid, "halt": heard.halt, "why": heard.why})
        review = self.review.record(sweep, look, heard.count)
        return self.model_copy(update={**paid, "review": review, "looks": self.looks + 1})

    def fixed(
        self,
        sweep: Sweep,
        blockers: Sequence[OpenBlocker],
        commits: Sequence[Commit],
        pushbacks: Mapping[str, str],
        *,
        by_rules: bool,
    ) -> "UnitTalk":
        """With a fixer's commits and its reasons against. A rule that knows no fix leaves the finding to a person."""
        touched = {path for commit in commits for path in commit.paths}
        answers, left = dict(pushbacks), set[str]()
        tried: dict[str, str] = {}
        for one in blockers:
            if one.id in answers:
                continue
            if one.blocker.path in touched:
                tried[one.id] = LANDED
            elif by_rules:
                answers[one.id] = "no safe fix is known for it; it is left to a person"
                left.add(one.id)
            else:
                tried[one.id] = "no edit"
        return self.model_copy(
            update={
                "review": self.review.settle(sweep, tried, answers, left),
                "tip": commits[-1].sha if commits else self.tip,
                "mended": self.mended + len(tried),
            }
        )

    def stubborn(self, standing: Standing, most_looks: int) -> str:
        """Why no further look is made at a unit that is not clean; empty: one is due, or none is needed."""
        if standing.converged:
            return ""
        left = counted(len(standing.blockers), "open finding")
        if self.looks >= most_looks:
            return f"stubborn: not clean after {counted(self.looks, 'review')}, {left}"
        if standing.look is None:
            doubts = "; ".join(said for doubt in standing.doubts for said in doubt.said)
            return f"stubborn: no further review can decide anything, {left}{f' ({doubts})' if doubts else ''}"
        return ""

    def message(self, commits: Sequence[Commit]) -> str:
        """Of the one commit that the unit comes to."""
        subjects = [f"- {commit.subject}" for commit in commits[:MOST_SUBJECTS]]
        more = len(commits) - len(subjects)
        rest = [f"- and {more} more"] if more > 0 else []
        head = f"Mend {self.name}: {counted(self.mended, 'finding')}"
        return "\n".join([head, "", *subjects, *rest, ""])


def alone(chunk: Chunk, terms: Terms) -> Sweep:
    """A plan of one chunk: with it the stop rule `streak` asks for two clean reviews, one of each family."""
    plan = Plan(chunks=(chunk,), skipped={}, digest=chunk.digest)
    return Sweep(plan, terms.model_copy(update={"stop_when": "streak"}))


def content(chunk: Chunk, terms: Terms) -> str:
    """Names a unit as it is: another content, another axis, other instructions make it another one."""
    return alone(chunk, terms).content(0)


def later(chunk: Chunk, blobs: Mapping[str, str], lines: Mapping[str, int]) -> Chunk:
    """The chunk after edits: `blobs` are the contents of its files now, `lines` how many each has gained."""
    parts = tuple(
        part._replace(
            blob=blobs[part.path],
            last_line=part.last_line and max(part.first_line, part.last_line + lines[part.path]),
        )
        if blobs[part.path] != part.blob
        else part
        for part in chunk.parts
        if part.path in blobs
    )
    return Chunk(name=chunk.name, parts=parts)


def unit_of(chunks: Sequence[Chunk], terms: Terms, item: Item) -> Chunk | None:
    """The chunk that an item names, as it is now: by its content, else by its name."""
    named = [chunk for chunk in chunks if chunk.name == item.title]
    same = [chunk for chunk in named if content(chunk, terms) == item.name]
    return (*same, *named, None)[0]


def listed(
    chunks: Sequence[Chunk], terms: Terms, findings: Mapping[str, int], clean: frozenset[str]
) -> tuple[Found, ...]:
    """The units that are not known to be clean, by severity: findings of rules in it, and then its size."""
    found = [
        Found(
            sites=(name,),
            targets=tuple(_span(part) for part in chunk.parts),
            title=chunk.name,
            change=f"{counted(chunk.tokens, 'token')}, {counted(severity, 'finding')} of rules",
            severity=severity,
        )
        for chunk in chunks
        if (name := content(chunk, terms)) not in clean
        for severity in [_severity(chunk, findings)]
    ]
    sizes = {one.name: -sum(span.end_line for span in one.targets) for one in found}
    return tuple(sorted(found, key=lambda one: (-one.severity, sizes[one.name])))


def _severity(chunk: Chunk, findings: Mapping[str, int]) -> int:
    return sum(findings.get(path, 0) for path in {part.path for part in chunk.parts})


def _span(part: Part) -> Span:
    return Span(path=part.path, line=max(part.first_line, 1), end_line=max(part.last_line, 1))
