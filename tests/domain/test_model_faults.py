"""Each fault has its own answer, and no answer goes on for ever."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.model_faults import PASSING, Kind, ModelFault, Patience, next_step

PATIENCE = Patience()


def step(kind, *, attempt=1, same=1, elapsed=0.0, retry_after=None, draw=0.5, said="words"):
    fault = ModelFault(kind=kind, said=said, retry_after=retry_after)
    return next_step(
        fault, attempt=attempt, same=same, elapsed=elapsed, patience=PATIENCE, draw=draw
    )


@pytest.mark.parametrize("kind", sorted(PASSING))
def test_what_may_pass_is_tried_five_times_and_then_left_for_later(kind):
    assert [step(kind, attempt=n, same=n).kind for n in range(1, 6)] == ["retry"] * 4 + ["pause"]


def test_waits_double_with_jitter_up_to_a_minute():
    waits = [step("overloaded", attempt=n, draw=0.0).seconds for n in range(1, 5)]
    longest = [step("overloaded", attempt=n, draw=0.999).seconds for n in range(1, 5)]

    assert waits == [0.5, 1, 2, 4]
    assert longest == pytest.approx([1, 2, 4, 8], rel=0.01)


def test_a_provider_that_says_when_is_waited_for():
    assert step("rate-limit", retry_after=7.0).seconds == 7.0
    assert step("rate-limit", retry_after=0.1, draw=0.0).seconds == 0.5


def test_a_long_wait_is_a_pause_with_its_time():
    asked = step("rate-limit", retry_after=3600.0)
    assert (asked.kind, asked.seconds) == ("pause", 3600.0)
    assert "1 h" in asked.why
    assert step("rate-limit", retry_after=300.0).kind == "retry"


def test_no_retry_reaches_beyond_the_wall():
    assert step("timeout", elapsed=1799.9).kind == "pause"
    assert step("timeout", elapsed=1700.0).kind == "retry"


def test_a_used_up_account_pauses_at_once():
    assert step("quota").kind == "pause"


@pytest.mark.parametrize("kind", ["credentials", "no-model", "bad-request"])
def test_what_somebody_has_to_change_is_fatal_and_says_so(kind):
    assert step(kind).kind == "fatal"
    assert "words" in step(kind).why


def test_a_conversation_that_is_too_long_is_shortened_once():
    assert [step("context", same=n).kind for n in (1, 2)] == ["compact", "end"]


@pytest.mark.parametrize("kind", ["refusal", "length"])
def test_some_answers_are_asked_for_once_more_without_waiting(kind):
    assert (step(kind).kind, step(kind).seconds) == ("retry", 0.0)
    assert step(kind, same=2, attempt=4).kind == "end"


@pytest.mark.parametrize(
    "said",
    [
        "You exceeded your current quota",
        "insufficient_quota",
        "enforced_spend_limit_reached",
        "Your credit balance is too low",
    ],
)
def test_a_rate_limit_that_is_about_money_is_a_quota(said):
    assert ModelFault.from_status("rate-limit", said).kind == "quota"
    assert ModelFault.from_status("rate-limit", "slow down").kind == "rate-limit"


def test_a_status_before_the_answer_is_not_billed_and_an_error_within_it_may_be():
    assert not ModelFault.from_status("overloaded", "").billable
    assert ModelFault.from_status("overloaded", "", in_stream=True).billable
    assert ModelFault(kind="connection").billable


@given(
    kinds=st.lists(st.sampled_from(get_args(Kind)), min_size=30, max_size=30),
    draws=st.lists(st.floats(0, 1, exclude_max=True), min_size=30, max_size=30),
    asked=st.one_of(st.none(), st.floats(0, 10_000)),
)
def test_every_call_comes_to_an_end_within_its_wall(kinds, draws, asked):
    elapsed, seen = 0.0, list[str]()
    for number, (kind, draw) in enumerate(zip(kinds, draws, strict=True), start=1):
        seen.append(kind)
        done = next_step(
            ModelFault(kind=kind, retry_after=asked),
            attempt=number,
            same=seen.count(kind),
            elapsed=elapsed,
            patience=PATIENCE,
            draw=draw,
        )
        if done.kind not in {"retry", "compact"}:
            break
        elapsed += done.seconds
    else:
        pytest.fail("it never ends")
    assert elapsed <= PATIENCE.wall_seconds
