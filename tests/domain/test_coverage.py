"""The stop rules `covered` and `covered_by_both`: T03, T04, C3."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import (
    CLEAN,
    blocked,
    chunks,
    kept,
    part,
    passed,
    path,
    sweep,
    until_converged,
)

from domain.coverage import absent, covered, lacks, news
from domain.review_state import Look, ReviewState
from domain.sweep import Sweep, Uncut
from domain.turns import converged, next_look
from domain.verdict import Count


def on(size: int, **terms: Any) -> Sweep:
    return sweep(*chunks(size), **terms)


def reviewed(where: Sweep) -> ReviewState:
    return until_converged(ReviewState(), where)[0]


@given(st.integers(1, 9))
def test_a_clean_repository_is_covered_by_one_look_at_each_chunk_and_both_families(size: int):
    _, looks = until_converged(ReviewState(), on(size))

    assert len(looks) == max(2, size)
    assert {look.chunk for look in looks} == set(range(size))
    assert {look.family for look in looks} == {"claude", "gpt"}


@given(st.integers(1, 9))
def test_covered_by_both_takes_a_look_of_each_family_at_each_chunk(size: int):
    _, looks = until_converged(ReviewState(), on(size, stop_when="covered_by_both"))

    assert {(look.chunk, look.family) for look in looks} == {
        (chunk, family) for chunk in range(size) for family in ("claude", "gpt")
    }
    assert len(looks) == 2 * size


def test_a_reviewer_is_pointed_at_what_has_no_verdict_of_those_that_are_wanted():
    before, after = ([part("p/a.py"), part("p/b.py", content)] for content in "12")
    for stop_when, by_gpt in (("covered", {"p/b.py"}), ("covered_by_both", {"p/a.py", "p/b.py"})):
        one = sweep(before, stop_when=stop_when)
        look = Look(turn=0, chunk=0, family="claude", binding=one.binding)
        state = ReviewState().record(one, look, CLEAN)
        two = sweep(after, stop_when=stop_when)

        assert news({}, one, 0, "gpt") == {"p/a.py", "p/b.py"}
        assert news(state.clean, two, 0, "claude") == {"p/b.py"}
        assert news(state.clean, two, 0, "gpt") == by_gpt
        assert news(state.clean, one, 0, "claude") == {"p/a.py", "p/b.py"}, "asked all the same"


@pytest.mark.parametrize(
    ("terms", "marked"),
    [
        ({}, {"p/b.py"}),
        ({"stop_when": "covered_by_both"}, {"p/a.py", "p/b.py"}),
        ({"coverage": "full"}, {"p/a.py", "p/b.py"}),
        ({"stop_when": "streak"}, {"p/a.py", "p/b.py"}),
    ],
)
def test_a_clean_pass_marks_what_the_reviewer_was_pointed_at_and_no_more(terms, marked):
    before, after = ([part("p/a.py"), part("p/b.py", content)] for content in "12")
    one, two = sweep(before, **terms), sweep(after, **terms)
    look = Look(turn=0, chunk=0, family="claude", binding=one.binding)
    state = ReviewState().record(one, look, CLEAN)
    state = state.record(two, Look(turn=1, chunk=0, family="gpt", binding=two.binding), CLEAN)

    by_gpt = {
        path for path, marks in state.clean.items() if any("gpt" in mark.families for mark in marks)
    }
    assert by_gpt == marked


@pytest.mark.parametrize("stop_when", ["covered", "covered_by_both"])
@given(size=st.integers(1, 9))
def test_with_one_family_asked_one_look_at_each_chunk_is_enough(stop_when: str, size: int):
    _, looks = until_converged(ReviewState(), on(size, families=("gpt",), stop_when=stop_when))

    assert [look.chunk for look in looks] == [*range(size)]


def test_t04_c3_an_unchanged_repository_is_not_reviewed_again():
    assert next_look(kept(reviewed(on(5))), on(5)) is None


def test_t03_c3_an_edit_has_its_own_chunk_reviewed_again_and_no_other():
    broken = sweep(*chunks(5, p3="2"))
    state = reviewed(on(5))
    assert not converged(state, broken)

    _, looks = until_converged(state, broken)

    assert [look.chunk for look in looks] == [3]


def test_the_chunks_an_edit_moves_a_file_to_are_no_reason_to_look_at_it_again():
    before = sweep([part("a/x"), part("a/y")], [part("b/x")])
    after = sweep([part("a/x")], [part("a/y")], [part("b/x")])

    assert converged(reviewed(before), after)


def test_a_new_neighbour_has_its_package_reviewed_again():
    before = sweep([part("a/x"), part("a/y")], [part("b/x")])
    after = sweep([part("a/x"), part("a/y")], [part("b/x")], [part("a/z")])

    _, looks = until_converged(reviewed(before), after)

    assert sorted(look.chunk for look in looks) == [0, 2]


@pytest.mark.parametrize(
    "terms",
    [
        {"axis": "retries"},
        {"chunk_tokens": 16_000},
        {"instructions": "v2"},
        {"context_mode": "inline"},
        {"coverage": "full"},
    ],
)
def test_t03_c3_another_axis_or_other_settings_have_everything_reviewed_again(
    terms: dict[str, Any],
):
    _, looks = until_converged(reviewed(on(4)), on(4, **terms))

    assert len(looks) == 4


def test_t03_c3_a_wider_scope_has_what_it_adds_reviewed_and_no_more():
    narrow, wide = sweep(*chunks(2), scope=("p0/", "p1/")), on(4)

    _, looks = until_converged(reviewed(narrow), wide)

    assert sorted(look.chunk for look in looks) == [2, 3]


def test_a_scope_that_comes_back_finds_what_was_clean():
    narrow = sweep(*chunks(1), scope=("p0/",))
    state = reviewed(on(4))
    state, _ = until_converged(state, narrow)

    assert converged(state, on(4))


def test_the_other_ranges_of_a_long_file_are_looked_at_on_their_own():
    whole = sweep([part("a/x", first=1, last=50)], [part("a/x", first=51)])
    state = passed(ReviewState(), whole)

    assert not lacks(state.clean, whole, 0, "gpt")
    assert lacks(state.clean, whole, 1, "gpt")


def test_a_family_that_was_not_asked_before_takes_part_with_one_look():
    state = reviewed(on(4, families=("claude",)))
    assert absent(state.clean, on(4)) == ("gpt",)

    _, looks = until_converged(state, on(4))

    assert [look.family for look in looks] == ["gpt"]


def test_verdicts_of_a_family_that_is_not_asked_now_do_not_count():
    _, looks = until_converged(reviewed(on(4, families=("claude",))), on(4, families=("gpt",)))

    assert len(looks) == 4


def test_a_blocked_chunk_is_clean_only_after_another_look_at_it():
    state = passed(ReviewState(), on(2), lambda look: blocked(f"{path(look.chunk)}:1"))
    fixed = sweep(*chunks(2, p0="2"))

    _, looks = until_converged(state, fixed)

    assert sorted(look.chunk for look in looks) == [0, 1]


def test_a_blocker_takes_the_mark_of_the_other_family_from_its_file():
    both = on(1, stop_when="covered_by_both")
    state = passed(ReviewState(), both)
    assert not lacks(state.clean, both, 0, "claude")

    state = passed(state, both, lambda look: blocked(f"{path(0)}:1"))

    assert lacks(state.clean, both, 0, "claude")


def test_a_blocker_of_one_family_is_not_outvoted_by_the_other():
    state = passed(ReviewState(), on(2), lambda look: blocked(f"{path(look.chunk)}:1"))
    (first,) = state.unresolved(on(2))
    assert first.raised_by == ("claude",)

    def gpt_is_clean_and_claude_insists(look: object) -> Count:
        family = getattr(look, "family", "")
        return blocked(f"{path(0)}:1") if family == "claude" else CLEAN

    for _ in range(6):
        if next_look(state, on(2)):
            state = passed(state, on(2), gpt_is_clean_and_claude_insists)
        assert not converged(state, on(2))


def test_a_blocker_of_a_family_that_is_not_asked_any_more_can_be_withdrawn_by_one_that_is():
    state = passed(ReviewState(), on(1), lambda look: blocked(f"{path(0)}:1"))

    state, looks = until_converged(state, on(1, families=("gpt",)))

    assert len(looks) == 1
    assert not state.open


def test_t07_an_empty_plan_is_not_covered():
    assert not converged(ReviewState(), sweep())
    assert next_look(ReviewState(), sweep()) is None


def test_a_clean_set_does_not_grow_with_the_contents_of_a_file():
    state = ReviewState()
    for content in range(9):
        state, _ = until_converged(state, sweep(*chunks(2, p0=str(content))))

    assert [len(marks) for marks in state.clean.values()] == [1, 1]


def test_a_slice_whose_lines_have_no_numbers_cannot_be_reviewed():
    """Two slices of one size would share a key, and a look at the first would cover the second."""
    with pytest.raises(Uncut, match="a/x"):
        sweep([part("a/x", first=0)], [part("a/x", first=0)])


def test_one_family_is_not_outvoted_by_another_that_covers_everything():
    """Whatever look came about, by whichever rule: the blocker stands until its family withdraws it."""
    where, state = on(2), ReviewState()
    said = [(0, "claude", blocked(f"{path(0)}:1")), (0, "gpt", CLEAN), (1, "claude", CLEAN)]
    for turn, (chunk, family, count) in enumerate(said):
        look = Look(turn=turn, chunk=chunk, family=family, binding=where.binding)
        state = state.record(where, look, count)
    assert covered(state.clean, where)
    assert not converged(state, where)

    look = Look(turn=3, chunk=0, family="claude", binding=where.binding)
    assert converged(state.record(where, look, CLEAN), where)
