"""The durable state of a campaign: one JSON document, kept in git beside the branch it describes.

Its history is the audit log, and a run can go on from it on another machine.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, cast

from pydantic import ConfigDict, Field, ValidationError

from domain.gate_script import GateScript
from domain.lesson import Lesson
from domain.red_rate import RedRate
from domain.report import PINNED_RED, RED, Ending, Landed, Parked, Remaining
from domain.review_document import written as written_review
from domain.review_state import ReviewState
from domain.site import Site
from domain.value import Refused, Value
from domain.worklist import Worklist

VERSION = 1
KEPT_RUNS = 50

ObjectId = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")]


class RunSummary(Value):
    """One line about a run that ended."""

    run: str
    ending: Ending
    why: str
    at: str
    landed: int = 0
    seconds: float = 0.0


class State(Value):
    """What the next run, on whatever machine, must know."""

    model_config = ConfigDict(allow_inf_nan=False)

    version: int = VERSION
    axis: str
    """The axis in the words of the command line."""
    base: ObjectId = ""
    """The commit that the landing branch set out from."""
    tip: ObjectId = ""
    """The landed tip; the branch is rolled forward to it after a crash between two ref updates."""
    landed: tuple[Landed, ...] = ()
    parked: tuple[Parked, ...] = ()
    remaining: tuple[Remaining, ...] = ()
    declined: tuple[str, ...] = ()
    """Ids of sites that the operator reverted: not done again."""
    attempts: dict[str, int] = {}
    """Failed attempts by site id."""
    gate: GateScript | None = None
    """The commands that prove a commit, where a model had to find them."""
    lesson: Lesson | None = None
    """The rule that was made from the model's first sites, or why there is none."""
    rate: RedRate = RedRate()
    flaky: tuple[str, ...] = ()
    spend_usd: float = 0.0
    open_usd: dict[str, float] = {}
    """Of that, by runs that have not ended: whoever takes over from one that was killed counts it once."""
    active_seconds: float = 0.0
    passes: int = 0
    runs: tuple[RunSummary, ...] = ()
    review: ReviewState | None = None
    """Of a review, chunk by chunk; None for a campaign of sites."""
    worklist: Worklist | None = None
    """Of a sweep or of units, item by item."""

    @property
    def red(self) -> bool:
        """Some commit is parked because the gate was red on it."""
        return any(commit.reason in (RED, PINNED_RED) for commit in self.parked)

    @property
    def settled(self) -> frozenset[str]:
        """Ids of sites that are not to be worked on: parked or declined."""
        parked = {site for commit in self.parked for site in commit.sites}
        listed = self.worklist.settled if self.worklist else frozenset[str]()
        return frozenset(self.declined) | parked | listed

    @property
    def disputed(self) -> frozenset[str]:
        """Files in which a reader spoke against the work twice: they are the operator's to decide."""
        doubts = Counter(file_of(parked.site) for parked in self.parked if parked.doubted_by)
        return frozenset(path for path, count in doubts.items() if count > 1)

    def land(self, tip: str, landed: Sequence[Landed], rate: RedRate) -> "State":
        done = _keys(landed)
        return self.model_copy(
            update={
                "tip": tip,
                "landed": (*self.landed, *landed),
                "remaining": _less(self.remaining, done),
                "lesson": self.lesson and self.lesson.less(done.elements()),
                "worklist": self.worklist
                and self.worklist.landed([commit.item for commit in landed]).paid(_cost(landed)),
                "rate": rate,
            }
        )

    def park(self, parked: Iterable[Parked], rate: RedRate) -> "State":
        new = tuple(parked)
        attempts = dict(self.attempts)
        for site in {site for commit in new for site in commit.sites}:
            attempts[site] = attempts.get(site, 0) + 1
        listed = self.worklist and self.worklist.turned_down(
            {commit.item: commit.reason for commit in new if commit.item}
        ).paid(_cost(new))
        return self.model_copy(
            update={
                "parked": (*self.parked, *new),
                "attempts": attempts,
                "rate": rate,
                "worklist": listed,
            }
        )

    def decline(self, sites: Iterable[Site]) -> "State":
        """Note the sites that were landed and are there again: somebody took them back on purpose.

        Equal lines share a key, so counts decide: more sites of a key than were left over, and
        at most as many as had been landed, are reverts.
        """
        landed, left = _keys(self.landed), Counter(site.key for site in self.remaining)
        left.update(self.lesson.left if self.lesson else ())
        declined = Counter(_key(site) for site in self.declined)
        by_key: dict[str, list[str]] = {}
        for site in sites:
            by_key.setdefault(site.key, []).append(site.id)
        back: list[str] = []
        for key, ids in by_key.items():
            more = min(landed[key], len(ids) - left[key]) - declined[key]
            back += ids[len(ids) - max(more, 0) :]
        return self.model_copy(update={"declined": (*self.declined, *back)}) if back else self

    def retried(self) -> "State":
        """Parked and declined sites are open again, and a rule may be looked for again (`--retry`)."""
        lesson = self.lesson if self.lesson and self.lesson.proven else None
        return self.model_copy(
            update={
                "parked": (),
                "declined": (),
                "attempts": {},
                "landed": (),
                "lesson": lesson,
                "review": self.review.retried() if self.review else None,
                "worklist": self.worklist and self.worklist.reopened(),
            }
        )

    def spend(self, run: str, usd: float, killed: Sequence[str] = ()) -> "State":
        """All that a run has spent so far, with what the killed ones had spent that it took over from."""
        known = {name: self.open_usd[name] for name in (run, *killed) if name in self.open_usd}
        ended = any(one.run == run for one in self.runs)
        if ended or known == ({run: usd} if usd else {}):
            return self
        others = {name: spent for name, spent in self.open_usd.items() if name not in known}
        return self.model_copy(
            update={
                "spend_usd": self.spend_usd + usd - sum(known.values()),
                "open_usd": {**others, run: usd},
            }
        )

    def close(self, run: RunSummary) -> "State":
        left = {name: usd for name, usd in self.open_usd.items() if name != run.run}
        return self.model_copy(update={"runs": (*self.runs, run)[-KEPT_RUNS:], "open_usd": left})


def _cost(commits: Iterable[Landed | Parked]) -> dict[str, float]:
    return {commit.item: commit.usd for commit in commits if commit.item}


def _key(site: str) -> str:
    return site.partition("#")[0]


def file_of(place: str) -> str:
    """Of `path:line`."""
    return place.rpartition(":")[0] or place


def _keys(landed: Iterable[Landed]) -> Counter[str]:
    return Counter(_key(site) for commit in landed for site in commit.sites)


def _less(remaining: tuple[Remaining, ...], done: Counter[str]) -> tuple[Remaining, ...]:
    left = Counter(done)
    kept: list[Remaining] = []
    for site in remaining:
        if left[site.key] > 0:
            left[site.key] -= 1
        else:
            kept.append(site)
    return tuple(kept)


def written(state: State) -> str:
    """The document, one line for each commit and site, so that a diff of two states can be read."""
    fields: dict[str, object] = state.model_dump(mode="json")
    parts: list[str] = []
    for name, value in fields.items():
        text = json.dumps(value)
        if name == "review" and state.review:
            text = written_review(state.review).strip()
        elif isinstance(value, list) and value:
            items = cast("list[object]", value)
            text = "[\n  " + ",\n  ".join(json.dumps(item) for item in items) + "\n ]"
        parts.append(f' "{name}": {text}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def way_out(ref: str) -> str:
    return f"To start this axis anew: git update-ref -d {ref}"


def read(text: bytes, ref: str) -> State:
    """The state in `text`, or `Refused` with what to do: a damaged state is never guessed at."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the state at {ref} is not JSON ({error}). {way_out(ref)}") from None
    fields = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    found = fields.get("version")
    if isinstance(found, int) and found > VERSION:
        raise Refused(
            f"the state at {ref} was written by a newer Swathe (version {found}, this one knows {VERSION}). Upgrade Swathe."
        )
    try:
        return State.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "document"
        raise Refused(
            f"the state at {ref} is damaged: {place}: {first['msg']}. {way_out(ref)}"
        ) from None
