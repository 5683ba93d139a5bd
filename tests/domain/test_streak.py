"""The stop rule `streak` (ADR-011), and what was wrong with it: T01 to T04."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import CLEAN, all_clean, blocked, chunks, kept, passed, path, sweep, until_converged

from domain.review_state import Look, ReviewState
from domain.standing import stand
from domain.sweep import Sweep
from domain.turns import converged, next_look
from domain.verdict import Count


def on(size: int, **terms: Any) -> Sweep:
    return sweep(*chunks(size), stop_when="streak", **terms)


@given(st.integers(2, 9))
def test_a_clean_repository_converges_in_one_pass_more_than_it_has_chunks(size: int):
    _, looks = until_converged(ReviewState(), on(size))

    assert [look.chunk for look in looks] == [*range(size), 0]
    assert [look.family for look in looks] == [("claude", "gpt")[n % 2] for n in range(size + 1)]


def test_a_single_chunk_needs_two_approvals_of_different_families():
    _, looks = until_converged(ReviewState(), on(1))

    assert [look.family for look in looks] == ["claude", "gpt"]


def test_two_approvals_of_one_family_are_not_enough():
    before = ReviewState()
    one = Count(kind="void")
    for count in (CLEAN, one, CLEAN):
        look = next_look(before, on(1))
        assert look
        before = before.record(on(1), look, count)

    assert before.streak.clean == 2
    assert not converged(before, on(1))
    assert converged(passed(before, on(1)), on(1))


def test_with_one_family_asked_its_own_round_and_one_more_pass_are_enough():
    _, looks = until_converged(ReviewState(), on(2, families=("gpt",)))

    assert [look.family for look in looks] == ["gpt"] * 3


def test_t01_c1_a_streak_longer_than_a_run_is_finished_by_the_next_ones():
    """The streak lives in the state, so that a run's bound cannot make the end unreachable."""
    state = ReviewState()
    for _ in range(7):
        state = passed(state, on(12))
    assert not converged(state, on(12))

    state, looks = until_converged(kept(state), on(12))

    assert converged(state, on(12))
    assert len(looks) == 6


@pytest.mark.parametrize("lost", range(5))
def test_t02_a_verdict_that_was_not_written_leaves_the_cursor_on_its_chunk(lost: int):
    state = ReviewState()
    for _ in range(lost):
        state = passed(state, on(4))
    before = kept(state)
    look = next_look(state, on(4))
    if look is None:
        return
    state.record(on(4), look, blocked(f"p{look.chunk}/f.py:1"))  # and the process is killed

    assert next_look(before, on(4)) == look


def test_t02_c2_a_crash_between_a_blocker_and_its_fix_never_ends_in_a_false_stop():
    """clean, clean, blocker, crash: the chunk is looked at again, and nothing stops before."""
    state = passed(passed(ReviewState(), on(3)), on(3))
    state = passed(state, on(3), lambda look: blocked(f"p{look.chunk}/f.py:1"))
    assert state.streak.clean == 0

    seen: list[int] = []
    while not converged(state, on(3)) and len(seen) < 9:
        look = next_look(state, on(3))
        assert look
        seen.append(look.chunk)
        state = passed(state, on(3))

    assert seen == [0, 1, 2, 0]


@pytest.mark.parametrize(
    "changed",
    [
        on(5),
        sweep(*chunks(4, p2="2"), stop_when="streak"),
        sweep(chunks(2)[0] + chunks(2)[1], *chunks(4)[2:], stop_when="streak"),
        on(4, scope=("p0/", "p1/", "p2/", "p3/")),
        on(4, axis="retries"),
        on(4, chunk_tokens=16_000),
        on(4, instructions="v2"),
        on(4, context_mode="inline"),
        on(4, coverage="full"),
        on(4, families=("gpt", "claude")),
    ],
)
def test_t03_c3_a_streak_is_worth_nothing_on_another_plan_or_other_terms(changed: Sweep):
    state, _ = until_converged(ReviewState(), on(4))
    assert converged(state, on(4))
    assert not converged(state, changed)

    _, looks = until_converged(state, changed)

    assert len(looks) == changed.size + 1


def test_t03_a_long_streak_does_not_end_a_shorter_plan():
    state = ReviewState()
    for _ in range(20):
        state = passed(state, on(30))

    state = passed(state, on(5))

    assert state.streak.clean == 1
    assert not converged(state, on(5))


def test_t03_a_streak_on_another_plan_is_not_told_as_one():
    state, _ = until_converged(ReviewState(), on(4))

    assert [stand(state, where).streak for where in (on(4), on(5))] == [5, 0]


def test_t04_a_second_run_on_the_same_content_has_nothing_to_do():
    state, _ = until_converged(ReviewState(), on(3))

    assert next_look(kept(state), on(3)) is None
    assert converged(kept(state), on(3))


def test_t04_the_run_after_a_converged_one_does_not_stop_after_one_pass():
    state, _ = until_converged(ReviewState(), on(3))

    _, looks = until_converged(state, sweep(*chunks(3, p1="2"), stop_when="streak"))

    assert len(looks) == 4


def test_t07_an_empty_plan_does_not_converge():
    empty = sweep(stop_when="streak")

    assert next_look(ReviewState(), empty) is None
    assert not converged(ReviewState(), empty)


@pytest.mark.parametrize("kind", ["blocked", "unsure"])
def test_any_opinion_but_a_clean_one_begins_the_streak_anew(kind: str):
    state = passed(passed(ReviewState(), on(3)), on(3))

    state = passed(state, on(3), lambda look: Count.model_validate({"kind": kind}))

    assert (state.streak.clean, state.cursor) == (0, 3)


def test_a_void_pass_neither_counts_nor_moves_but_the_turn_passes_on():
    state = passed(ReviewState(), on(3))

    after = passed(state, on(3), lambda look: Count(kind="void"))

    assert (after.streak.clean, after.cursor, after.turn) == (1, 1, 2)
    assert next_look(after, on(3)) == Look(turn=2, chunk=1, family="claude", binding=on(3).binding)


def test_a_verdict_delivered_twice_counts_once():
    look = next_look(ReviewState(), on(3))
    assert look
    once = ReviewState().record(on(3), look, CLEAN)

    assert once.record(on(3), look, CLEAN) == once
    assert once.streak.clean == 1


def test_a_verdict_on_another_plan_than_the_present_one_counts_for_nothing():
    look = next_look(ReviewState(), on(3))
    assert look

    assert ReviewState().record(on(4), look, CLEAN) == ReviewState()


def test_a_blocker_on_present_content_is_in_the_way_of_a_streak():
    """With three chunks the other family closes the round: only the one that raised it can withdraw it."""
    state = passed(ReviewState(), on(3), lambda look: blocked(path(look.chunk) + ":1"))

    state, looks = until_converged(state, on(3), all_clean)

    assert converged(state, on(3))
    assert ("claude", 0) in [(look.family, look.chunk) for look in looks]


def test_a_family_whose_turn_never_comes_where_it_can_judge_is_asked_out_of_turn():
    """With two chunks gpt is always due at the second one, which it doubts; it has to be heard on the first."""

    def doubtful(look: Look) -> Count:
        doubts = (look.family, look.chunk) == ("gpt", 1)
        return Count(kind="unsure") if doubts else CLEAN

    state, looks = until_converged(ReviewState(), on(2), doubtful, most=20)

    assert converged(state, on(2))
    assert (looks[-1].family, looks[-1].chunk) == ("gpt", 0)
