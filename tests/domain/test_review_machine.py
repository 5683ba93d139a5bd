"""The guarantee of ADR-011, against every order of reviews, crashes, edits, plans and settings.

No state says converged while a chunk of the present content has an unresolved blocker, or was
never reviewed. The history that judges is kept beside the state, and knows nothing of its rules.
"""

from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sweeps import DUAL, kept, planned

from domain.blocker import Blocker
from domain.chunk import Part
from domain.review_state import Look, ReviewState
from domain.sweep import Sweep, Terms
from domain.turns import converged, next_look
from domain.verdict import Count

PATHS = ("a/x", "a/y", "b/x", "b/y", "c/x")
LONG = "b/y"
"""A file in two parts, of which the first ends with this line:"""
CUT = 5
RULES = ("streak", "covered", "covered_by_both")
FATES = st.lists(
    st.sampled_from(["clean", "clean", "clean", "clean", "blocked", "unsure", "void", "crash"]),
    min_size=4,
    max_size=12,
)


class Spot(NamedTuple):
    """A part as a reviewer saw it: its content, its package, and what it was looked at for."""

    path: str
    blob: str
    first: int
    last: int
    listing: tuple[str, ...]
    criterion: tuple[str, str, int]

    def shows(self, path: str, blob: str, line: int) -> bool:
        return (self.path, self.blob) == (path, blob) and (
            self.first <= line and (not self.last or line <= self.last)
        )


class Event(NamedTuple):
    """One thing that was written down."""

    kind: str
    family: str = ""
    asked: tuple[str, ...] = ()
    spots: frozenset[Spot] = frozenset()
    """Of `clean`."""
    places: frozenset[tuple[str, str, int]] = frozenset()
    """Of `blocked` and `answered`: path, content, line."""
    world: str = ""
    """The plan and the settings, spelled out."""
    chunk: int = 0


class Reviews(RuleBasedStateMachine):
    """Any reviewer, any fixer, any operator."""

    @initialize(
        paths=st.sets(st.sampled_from(PATHS), min_size=3),
        stop_when=st.sampled_from(RULES),
        per_chunk=st.sampled_from([1, 1, 2]),
    )
    def begin(self, paths: set[str], stop_when: str, per_chunk: int) -> None:
        self.files: dict[str, int] = dict.fromkeys(paths, 0)
        self.per_chunk = per_chunk
        self.terms: dict[str, Any] = {
            "families": DUAL,
            "stop_when": stop_when,
            "axis": "",
            "coverage": "any",
        }
        self.state = ReviewState()
        self.history: list[Event] = []
        self.last: tuple[Sweep, Look, Count] | None = None

    @property
    def sweep(self) -> Sweep:
        parts: list[Part] = []
        for path in sorted(self.files):
            blob = f"{path}@{self.files[path]}"
            ends = ((1, CUT), (CUT + 1, 0)) if path == LONG else ((1, 0),)
            parts += [Part(path, blob, first, last, 9, 9) for first, last in ends]
        step = self.per_chunk
        plan = planned(*(parts[at : at + step] for at in range(0, len(parts), step)))
        return Sweep(plan, Terms(chunk_tokens=step, **self.terms))

    def spots(self, chunk: int | None = None) -> frozenset[Spot]:
        criterion = (self.terms["axis"], self.terms["coverage"], self.per_chunk)
        found = self.sweep.plan.parts if chunk is None else self.sweep.chunk(chunk).parts
        return frozenset(
            Spot(
                part.path,
                part.blob,
                part.first_line,
                part.last_line,
                tuple(sorted(p for p in self.files if p[0] == part.path[0])),
                criterion,
            )
            for part in found
        )

    @property
    def world(self) -> str:
        return repr((self.sweep.plan, sorted(self.terms.items(), key=str), self.per_chunk))

    def write(self, state: ReviewState, *events: Event) -> None:
        """The document and nothing else outlives a process."""
        self.state = kept(state)
        self.history += events

    # The world

    @rule(path=st.sampled_from(PATHS), content=st.integers(0, 2))
    def edit(self, path: str, content: int) -> None:
        self.files[path] = content

    @rule(path=st.sampled_from(PATHS))
    def delete(self, path: str) -> None:
        self.files.pop(path, None)

    @rule(
        per_chunk=st.sampled_from([1, 2, 3, 9]),
        stop_when=st.sampled_from(RULES),
        families=st.sampled_from([DUAL, DUAL, ("claude",), ("gpt",), ("gpt", "ruff")]),
        axis=st.sampled_from(["", "", "retries"]),
        coverage=st.sampled_from(["any", "any", "full"]),
    )
    def ask_otherwise(self, per_chunk: int, **terms: Any) -> None:
        self.per_chunk, self.terms = per_chunk, terms

    # The loop

    @rule(data=st.data(), fates=FATES)
    def review(self, data: st.DataObject, fates: list[str]) -> None:
        """Some passes in a row. `crash`: the verdict was given, and never written."""
        for fate in fates:
            self.one_pass(data, fate)

    def one_pass(self, data: st.DataObject, fate: str) -> None:
        sweep = self.sweep
        look = next_look(self.state, sweep)
        if look is None:
            return
        kind = "blocked" if fate == "crash" else fate
        parts = sweep.chunk(look.chunk).parts
        blockers: tuple[Blocker, ...] = ()
        if kind == "blocked":
            drawn = data.draw(
                st.lists(
                    st.tuples(st.sampled_from(parts), st.integers(0, 1)), min_size=1, max_size=2
                )
            )
            blockers = tuple(
                Blocker(path=part.path, line=part.first_line + more, why="wrong")
                for part, more in drawn
            )
        count = Count.model_validate({"kind": kind, "reason": "so", "blockers": blockers})
        after = self.state.record(sweep, look, count)
        if fate == "crash":
            return
        places = frozenset((one.path, sweep.blob(one.path), one.line) for one in blockers)
        event = Event(
            kind=kind,
            family=look.family,
            asked=sweep.terms.families,
            spots=self.spots(look.chunk),
            places=places,
            world=self.world,
            chunk=look.chunk,
        )
        self.write(after, event)
        self.last = (sweep, look, count)

    @precondition(lambda self: self.last)
    @rule()
    def deliver_a_verdict_again(self) -> None:
        assert self.last
        sweep, look, count = self.last
        assert self.state.record(sweep, look, count) == self.state

    @rule(
        data=st.data(),
        outcome=st.sampled_from(["landed", "elsewhere", "red", "answer", "answer", "crash"]),
    )
    def fix(self, data: st.DataObject, outcome: str) -> None:
        sweep = self.sweep
        due = [one for one in self.state.unresolved(sweep) if not one.stuck]
        if not due or outcome == "crash":
            return
        one = data.draw(st.sampled_from(due))
        if outcome == "answer":
            place = (one.blocker.path, one.blob, one.blocker.line)
            event = Event("answered", places=frozenset([place]))
            self.write(self.state.settle(sweep, {}, {one.id: "it is not"}), event)
            return
        if outcome in {"landed", "elsewhere"}:
            path = (
                one.blocker.path
                if outcome == "landed"
                else data.draw(st.sampled_from(sorted(self.files)))
            )
            self.files[path] += 1
        self.write(self.state.settle(sweep, {one.id: outcome}, {}))

    @rule()
    def try_again(self) -> None:
        self.write(self.state.retried())

    # The guarantee

    @invariant()
    def nothing_converges_that_is_not_clean(self) -> None:
        sweep = self.sweep
        if not converged(self.state, sweep):
            return
        assert self.files, "an empty plan converged"
        for spot in self.spots():
            seen = {f for f in sweep.terms.families if self.found_clean(spot, f)}
            assert seen, f"{spot} was never found clean"
            if sweep.terms.stop_when == "covered_by_both":
                assert seen == set(sweep.terms.families), spot
        for family in sweep.terms.families:
            assert any(self.found_clean(spot, family) for spot in self.spots()), family
        for at, event in enumerate(self.history):
            for place in event.places if event.kind == "blocked" else ():
                assert self.is_resolved(place, event.family, at), place
        if sweep.terms.stop_when == "streak":
            self.a_whole_round_was_clean(sweep)

    def found_clean(self, spot: Spot, family: str) -> bool:
        """After whatever was found in this content of the file."""
        for event in reversed(self.history):
            if event.kind == "clean" and event.family == family and spot in event.spots:
                return True
            if event.kind == "blocked" and any(place[:2] == spot[:2] for place in event.places):
                return False
        return False

    def is_resolved(self, place: tuple[str, str, int], by: str, at: int) -> bool:
        path, blob, line = place
        if self.sweep.blob(path) != blob:
            return True
        for event in self.history[at + 1 :]:
            if event.kind == "answered" and place in event.places:
                return True
            entitled = event.family == by or by not in event.asked
            if (
                event.kind == "clean"
                and entitled
                and any(spot.shows(path, blob, line) for spot in event.spots)
            ):
                return True
        return False

    def a_whole_round_was_clean(self, sweep: Sweep) -> None:
        counted = [one for one in self.history if one.kind not in {"answered", "void"}]
        last = counted[-sweep.size - 1 :]
        assert len(last) == sweep.size + 1
        assert all((one.kind, one.world) == ("clean", self.world) for one in last)
        assert {one.chunk for one in last} == set(range(sweep.size))


class Honest(Reviews):
    """Both families see what is wrong: odd contents. Then no order of things lets one through."""

    def one_pass(self, data: st.DataObject, fate: str) -> None:
        sweep = self.sweep
        look = next_look(self.state, sweep)
        if look is None:
            return
        wrong = [p for p in sweep.chunk(look.chunk).parts if self.files[p.path] % 2]
        blockers = tuple(Blocker(path=p.path, line=p.first_line, why="odd") for p in wrong)
        count = Count(kind="blocked" if wrong else "clean", blockers=blockers)
        if fate in {"unsure", "void"}:
            count = Count.model_validate({"kind": fate})
        after = self.state.record(sweep, look, count)
        if fate != "crash":
            self.write(after)

    @rule(data=st.data(), outcome=st.sampled_from(["landed", "elsewhere", "red", "crash"]))
    def fix(self, data: st.DataObject, outcome: str) -> None:
        super().fix(data, outcome)

    @precondition(lambda self: False)
    @rule()
    def deliver_a_verdict_again(self) -> None:
        """Said in the other machine."""

    @invariant()
    def nothing_converges_that_is_not_clean(self) -> None:
        if converged(self.state, self.sweep):
            assert self.files
            assert not [path for path, content in self.files.items() if content % 2]


TestReviews = Reviews.TestCase
TestHonest = Honest.TestCase
TestReviews.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestHonest.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
