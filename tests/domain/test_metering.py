"""What an answer cost is read from the wire: whole and counted, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.metering import metered
from domain.prices import Tokens

COUNTS = st.integers(min_value=1, max_value=10**6)


def sse(*events):
    return b"".join(
        f"event: {event['type']}\r\ndata: {json.dumps(event)}\r\n\r\n".encode() for event in events
    )


def claude_usage(tokens):
    return {
        "input_tokens": tokens.plain,
        "cache_read_input_tokens": tokens.read,
        "cache_creation_input_tokens": tokens.written,
        "output_tokens": tokens.output,
    }


def claude_stream(tokens, *, whole=True):
    events = [
        {
            "type": "message_start",
            "message": {"usage": {**claude_usage(tokens), "output_tokens": 1}},
        },
        {"type": "ping"},
        {"type": "message_delta", "usage": {"output_tokens": tokens.output, "input_tokens": None}},
        {"type": "message_stop"},
    ]
    return sse(*events[: None if whole else -1])


def gpt_response(tokens, status="completed"):
    return {
        "status": status,
        "usage": {
            "input_tokens": tokens.input,
            "input_tokens_details": {
                "cached_tokens": tokens.read,
                "cache_write_tokens": tokens.written,
            },
            "output_tokens": tokens.output,
        },
    }


def gpt_stream(tokens, end="response.completed"):
    return sse({"type": "response.created"}, {"type": end, "response": gpt_response(tokens)})


@given(st.builds(Tokens, plain=COUNTS, read=COUNTS, written=COUNTS, output=COUNTS))
def test_both_families_count_the_same_streamed_or_not(tokens):
    whole = json.dumps({"stop_reason": "end_turn", "usage": claude_usage(tokens)}).encode()
    assert metered("claude", whole, streamed=False) == tokens
    assert metered("claude", claude_stream(tokens), streamed=True) == tokens
    assert metered("gpt", json.dumps(gpt_response(tokens)).encode(), streamed=False) == tokens
    assert metered("gpt", gpt_stream(tokens), streamed=True) == tokens
    assert metered("gpt", gpt_stream(tokens, "response.incomplete"), streamed=True) == tokens


@given(st.data())
def test_no_cut_of_a_stream_is_taken_for_a_whole_answer(data):
    tokens = Tokens(plain=5, read=7, written=11, output=13)
    family, body = data.draw(
        st.sampled_from([("claude", claude_stream(tokens)), ("gpt", gpt_stream(tokens))])
    )
    cut = data.draw(st.integers(min_value=0, max_value=len(body) - 1))
    assert metered(family, body[:cut], streamed=True) in {None, tokens}
    # Cut before its last event, it is not whole.
    last = body.rstrip().rindex(b"event: ")
    assert metered(family, body[: min(cut, last)], streamed=True) is None


@given(st.sampled_from(["claude", "gpt"]), st.booleans(), st.binary(max_size=300))
def test_what_is_no_answer_has_no_count(family, streamed, junk):
    assert metered(family, junk, streamed=streamed) is None
    assert metered(family, b"data: " + junk, streamed=streamed) is None


@pytest.mark.parametrize(
    ("family", "body"),
    [
        ("claude", sse({"type": "message_start"}, {"type": "message_stop"})),
        ("claude", sse({"type": "message_start", "message": {"usage": claude_usage(Tokens(plain=3, output=2))}}, {"type": "error"}, {"type": "message_stop"})),
        ("gpt", sse({"type": "response.completed", "response": {"usage": None}})),
        ("gpt", sse({"type": "response.failed", "response": gpt_response(Tokens(plain=3, output=2))})),
        ("gpt", sse({"type": "response.completed", "response": {"usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 9}, "output_tokens": 2}}})),
        ("gpt", b"<!doctype html>"),
    ],
)  # fmt: skip
def test_an_answer_that_failed_or_miscounts_has_no_count(family, body):
    assert metered(family, body, streamed=True) is None


def test_every_step_that_a_server_took_for_one_answer_is_counted():
    step = claude_usage(Tokens(plain=10, output=5))
    body = {"stop_reason": "end_turn", "usage": {**step, "iterations": [step, step, step]}}
    found = metered("claude", json.dumps(body).encode(), streamed=False)
    assert found == Tokens(plain=30, output=15)
