"""The durable state: blockers, answers, no progress, and documents of every kind (T09, T14, T15, C8)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import CLEAN, REF, all_clean, blocked, chunks, kept, part, passed, path, sweep

from domain.review_document import from_earlier
from domain.review_state import Look, ReviewState
from domain.standing import stand
from domain.state import read
from domain.sweep import Sweep
from domain.turns import converged, next_look
from domain.value import Refused
from domain.verdict import Count

PLACE = f"{path(0)}:3"


def on(size: int = 2, **more: Any) -> Sweep:
    blobs = {name: more.pop(name) for name in list(more) if name.startswith("p")}
    return sweep(*chunks(size, **blobs), **more)


def always(look: Look) -> Count:
    return blocked(PLACE) if look.chunk == 0 else CLEAN


def raised(state: ReviewState, where: Sweep) -> ReviewState:
    """Passes until the blocker is raised (again)."""
    for _ in range(6):
        look = next_look(state, where)
        assert look
        state = passed(state, where, always)
        if look.chunk == 0:
            return state
    raise AssertionError


def tried(state: ReviewState, where: Sweep, outcome: str) -> ReviewState:
    ids = [one.id for one in state.unresolved(where)]
    return kept(state.settle(where, dict.fromkeys(ids, outcome), {}))


def answered(state: ReviewState, where: Sweep) -> ReviewState:
    ids = [one.id for one in state.unresolved(where)]
    return kept(state.settle(where, {}, dict.fromkeys(ids, "it cannot happen")))


class TestNoProgress:
    @pytest.mark.parametrize("stop_when", ["streak", "covered", "covered_by_both"])
    def test_t14_the_same_blocker_after_an_attempt_on_unchanged_content_is_stuck(
        self, stop_when: str
    ):
        where = on(stop_when=stop_when)
        state = tried(raised(ReviewState(), where), where, "red")
        assert not state.unresolved(where)[0].stuck

        state = raised(state, where)

        (one,) = state.unresolved(where)
        assert "red" in one.stuck
        assert not state.to_fix(where, 0)

    def test_t14_when_only_what_is_stuck_is_left_no_look_is_due(self):
        where = on()
        state = raised(tried(raised(ReviewState(), where), where, "red"), where)
        for _ in range(9):
            if next_look(state, where):
                state = passed(state, where, always)

        assert stand(state, where).stuck
        assert set(state.clean) == {path(1)}
        assert next_look(kept(state), where) is None, "the next run pays for it again"

    def test_a_crash_before_the_fixer_was_sent_is_no_attempt(self):
        """C2: found, killed, found again: then a fixer is sent."""
        where = on()
        state = raised(raised(ReviewState(), where), where)

        assert state.to_fix(where, 0)

    def test_on_other_content_the_same_finding_is_another_one(self):
        state = tried(raised(ReviewState(), on()), on(), "landed")

        state = raised(state, on(p0="2"))

        assert state.to_fix(on(p0="2"), 0)

    def test_coming_back_to_a_content_that_was_changed_for_a_blocker_is_an_oscillation(self):
        state = ReviewState()
        for content in ("1", "2"):
            where = on(p0=content)
            state = tried(raised(state, where), where, "landed")
        elsewhere = f"{path(0)}:9"

        look = next_look(state, on())
        assert look
        if look.chunk:
            state = passed(state, on())
        state = passed(state, on(), lambda _: blocked(elsewhere))

        stuck = [one for one in state.unresolved(on()) if one.blocker.line == 9]
        assert "oscillation" in stuck[0].stuck

    def test_a_new_content_every_time_is_none(self):
        state = ReviewState()
        for content in ("1", "2", "3", "4"):
            where = on(p0=content)
            state = tried(raised(state, where), where, "landed")
            assert not any(one.stuck for one in state.open)

    def test_t15_a_family_that_doubts_is_not_asked_again_about_the_same_content(self):
        where = on(1)
        unsure = Count(kind="unsure", reason="a rejection of low confidence")
        state = passed(ReviewState(), where, lambda _: unsure)

        asked: list[str] = []
        while (look := next_look(state, where)) and len(asked) < 9:
            asked.append(look.family)
            state = passed(state, where, lambda _: unsure)

        assert asked == ["gpt"]
        assert stand(state, where).stuck
        assert next_look(state.asked_anew(), where) is None
        assert next_look(state, on(1, p0="2")) is not None

    def test_a_family_that_gave_no_verdict_is_asked_once_more_and_anew_in_the_next_run(self):
        where = on(1, families=("gpt",))
        state, asked = ReviewState(), 0
        while next_look(state, where) and asked < 9:
            state, asked = passed(state, where, lambda _: Count(kind="void")), asked + 1

        assert asked == 2
        assert next_look(state.asked_anew(), where) is not None

    def test_looks_in_vain_at_contents_that_are_gone_are_forgotten(self):
        state = ReviewState()
        for content in range(9):
            where = on(1, p0=str(content))
            state = passed(state, where, lambda _: Count(kind="unsure"))

        assert len(state.fruitless) == 1

    def test_the_operator_can_have_it_tried_again(self):
        where = on(1)
        state = raised(tried(raised(ReviewState(), where), where, "red"), where)
        assert next_look(state, where) is None

        state = kept(state.retried())

        assert next_look(state, where) is not None
        assert state.to_fix(where, 0)

    def test_one_that_is_stuck_does_not_keep_the_others_from_a_fixer(self):
        where = on()
        state = tried(raised(ReviewState(), where), where, "red")
        while (look := next_look(state, where)) and look.chunk:
            state = passed(state, where)

        state = passed(state, where, lambda _: blocked(PLACE, f"{path(0)}:8"))

        assert [one.blocker.line for one in state.to_fix(where, 0)] == [8]


class TestAnswers:
    def test_an_answered_blocker_is_open_no_more_and_its_file_is_looked_at_again(self):
        where = on(1)
        state = answered(raised(ReviewState(), where), where)

        assert not state.unresolved(where)
        assert not converged(state, where)
        assert next(iter(state.answered.values())).why == "it cannot happen"

    def test_an_answer_that_comes_late_asks_for_another_look(self):
        """The other family was clean in between: it had not heard the answer."""
        where = on(1)
        state = passed(raised(ReviewState(), where), where, all_clean)
        assert state.clean

        assert not answered(state, where).clean

    def test_on_new_evidence_it_is_opened_once_more_and_then_it_is_stuck(self):
        where = on(1)
        state = answered(raised(ReviewState(), where), where)
        state = passed(state, where, lambda _: blocked(PLACE, evidence="here"))
        assert state.to_fix(where, 0)
        state = answered(state, where)

        state = passed(state, where, lambda _: blocked(PLACE, evidence="and here"))

        assert state.unresolved(where)[0].stuck
        assert next_look(state, where) is None

    def test_settling_twice_is_settling_once(self):
        where = on(1)
        before = raised(ReviewState(), where)
        ids = [one.id for one in before.open]
        once = before.settle(where, {}, dict.fromkeys(ids, "no"))

        assert once.settle(where, {}, dict.fromkeys(ids, "no")) == once

    def test_what_is_said_of_unknown_blockers_changes_nothing(self):
        state = raised(ReviewState(), on())

        assert state.settle(on(), {"x": "landed"}, {"y": "no"}) == state


def test_what_both_families_raised_both_have_to_withdraw():
    where, state = on(1), ReviewState()
    for turn, (family, count) in enumerate(
        [("claude", blocked(PLACE)), ("gpt", blocked(PLACE)), ("gpt", CLEAN)]
    ):
        look = Look(turn=turn, chunk=0, family=family, binding=where.binding)
        state = state.record(where, look, count)

    (one,) = state.unresolved(where)
    assert one.raised_by == ("claude",)


def test_what_one_pass_says_of_one_line_is_one_blocker_with_both_reasons():
    state = passed(ReviewState(), on(1), lambda _: blocked(PLACE, PLACE))

    (one,) = state.open
    assert one.blocker.why == "it is wrong\nit is wrong"


def test_what_is_remembered_of_contents_that_are_gone_is_bounded_and_what_is_there_is_not():
    state, last = ReviewState(), on(1)
    for content in range(30):
        last = on(1, p0=str(content))
        places = [f"{path(0)}:{line}" for line in range(1, 21)]
        state = passed(state, last, lambda _, places=places: blocked(*places))

    assert len(state.unresolved(last)) == 20
    assert len(state.open) == 220


def test_the_home_of_a_blocker_is_the_part_that_shows_its_line():
    where = sweep([part("a/x", first=1, last=5)], [part("a/x", first=6)])

    assert [where.home("a/x", line) for line in (1, 5, 6, 99)] == [0, 0, 1, 1]
    assert where.home("b/z", 1) is None


def inside(text: str | bytes) -> bytes:
    """The state of a campaign that holds this as its review."""
    review = text if isinstance(text, bytes) else text.encode()
    return b'{"version": 1, "axis": "review", "review": ' + review + b"}"


class TestDocuments:
    @given(
        st.lists(st.sampled_from(["clean", "blocked", "unsure", "void"]), max_size=8),
        st.sampled_from(["\udcff", "é", "a b"]),
    )
    def test_what_was_written_is_read(self, kinds: list[str], name: str):
        where, state = sweep([part(f"{name}.py")], [part("b/y.py")]), ReviewState()
        for kind in kinds:
            if not (look := next_look(state, where)):
                break
            place = f"{where.chunk(look.chunk).parts[0].path}:1"
            count = blocked(place) if kind == "blocked" else Count.model_validate({"kind": kind})
            state = state.record(where, look, count)

            assert kept(state) == state

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "7",
            '"x"',
            '{"cursor": 1',
            '{"cursor": -1}',
            '{"cursor": 1.5}',
            '{"cursor": "many"}',
            f'{{"cursor": {10**30}}}',
            f'{{"turn": {"9" * 5000}}}',
            '{"streak": {"clean": -3}}',
            '{"streak": []}',
            '{"clean": []}',
            '{"clean": {"a": null}}',
            '{"open": [{}]}',
            '{"unheard_of": 1}',
            "[" * 100_000,
            b"\xff\xfe\x00",
        ],
    )
    def test_t09_c8_a_damaged_state_is_refused_with_the_way_out(self, text: str | bytes):
        with pytest.raises(Refused, match=f"git update-ref -d {REF}"):
            read(inside(text), REF)

    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["version", "cursor", "turn", "streak", "clean", "open", "x"]), inner, max_size=5), max_leaves=10))  # fmt: skip
    def test_c8_no_document_breaks_the_reading_or_stops_a_review(self, given_: object):
        for reader in (lambda text: read(inside(text), REF).review, from_earlier):
            try:
                state = reader(json.dumps(given_))
            except Refused:
                continue
            if state is None:
                continue
            assert not converged(state, on())
            assert next_look(state, on()) is not None


class TestEarlierFormat:
    def test_it_is_a_cursor_and_no_more(self):
        state = from_earlier('{"cursor": 7, "clean_streak": 40, "num_chunks": 3}')

        assert state == ReviewState(cursor=7)
        look = next_look(state, on(3, stop_when="streak"))
        assert look
        assert look.chunk == 1

    def test_its_streak_is_not_believed(self):
        state = from_earlier('{"cursor": 30, "clean_streak": 30, "num_chunks": 5}')
        where = on(5, stop_when="streak")

        state = passed(state, where)

        assert not converged(state, where)
        assert state.streak.clean == 1

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[1, 2]",
            "null",
            "6",
            '"6"',
            '{"cursor": "x"}',
            '{"cursor": -4}',
            '{"cursor": true}',
            '{"cursor": null}',
            f'{{"cursor": {10**40}}}',
            f'{{"cursor": {"9" * 5000}}}',
            '{"cursor": 3',
            "[" * 100_000,
            b"\xff\xfe",
        ],
    )
    def test_t09_c8_what_cannot_be_read_is_a_fresh_start(self, text: str | bytes):
        assert from_earlier(text) == ReviewState()
