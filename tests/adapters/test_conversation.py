"""A conversation on disk is the conversation in memory, whenever it is read again."""

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart

from adapters.models.conversation import Conversation, Kept
from domain.outcome import Outcome
from domain.prices import Tokens

HEAD = {"family": "claude", "model": "m", "prefix": "p"}


@pytest.fixture(name="path")
def _path(tmp_path):
    return tmp_path / "talk.jsonl"


def step(conversation, number, text):
    call = ToolCallPart("bash", {"command": "x"}, tool_call_id=f"c{number}")
    response = ModelResponse(parts=[TextPart("I look."), call])
    conversation.answered(response, f"talk:{number}", 0.5, Tokens(plain=100, output=10))
    conversation.used(f"{number}/c{number}", Kept("bash", True, text))
    conversation.send(ModelRequest(parts=[ToolReturnPart("bash", text, f"c{number}")]))


def told(conversation):
    return [
        part.content
        for message in conversation.messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


def test_what_is_read_again_is_what_was_written(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "review", "PHASE: review")
    step(one, 1, "first\udce9".encode("utf-8", "replace").decode())
    one.end("a", Outcome(phase="review", ended="answered", usd=0.5))
    one.begin("b", "fix", "PHASE: fix")
    step(one, 2, "second")

    two = Conversation.open(path, HEAD)

    assert (two.messages, two.asks, two.answers, two.tools) == (
        one.messages,
        one.asks,
        one.answers,
        one.tools,
    )
    assert (two.unseen, two.total, two.lines, two.note) == (one.unseen, one.total, one.lines, "")
    assert two.begin("a", "review", "other words").usd == 0.5
    assert two.begin("b", "fix", "other words") is None
    assert len(two.messages) == len(one.messages)


def test_the_end_of_a_phase_and_the_beginning_of_the_next_are_one_turn(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "review", "PHASE: review")
    step(one, 1, "x")
    one.begin("b", "fix", "PHASE: fix")

    kinds = [type(message) for message in one.messages]
    assert kinds == [ModelRequest, ModelResponse, ModelRequest]
    assert len(one.last.parts) == 2


def test_what_is_cleared_stays_cleared_and_the_rest_stays(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "work", "PHASE: work")
    for number in range(1, 9):
        step(one, number, f"{number}" * 1000 if number != 2 else "short")

    assert one.clear(keep=3) == 4000
    assert one.clear(keep=3) == 0
    step(one, 9, "9" * 1000)

    cleared = "(cleared, 1,000 characters: run it again if you need it)"
    assert told(one)[:5] == [cleared, "short", cleared, cleared, cleared]
    assert [text[0] for text in told(one)[5:]] == ["6", "7", "8", "9"]
    assert Conversation.open(path, HEAD).messages == one.messages


def test_with_few_results_nothing_is_cleared(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "work", "PHASE: work")
    step(one, 1, "x" * 1000)
    assert one.clear(keep=2) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:2] + lines[3:],
        lambda lines: [*lines[:2], '{"n":2,"r":"song"}', *lines[3:]],
        lambda lines: [
            *lines[:2],
            lines[2].replace('"kind":"response"', '"kind":"poem"'),
            *lines[3:],
        ],
        lambda lines: [lines[0].replace('"m"', '"other"'), *lines[1:]],
        lambda lines: ["{}", *lines[1:]],
    ],
)
def test_what_cannot_be_gone_on_with_is_kept_aside_and_begun_anew(path, change):
    one = Conversation.open(path, HEAD)
    one.begin("a", "work", "PHASE: work")
    step(one, 1, "x")
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")

    for number in (1, 2):
        two = Conversation.open(path, HEAD)
        assert (two.messages, two.asks) == ([], [])
        if number == 1:
            assert "begun anew" in two.note
            assert path.with_name("talk.jsonl.unusable-1").exists()


def test_half_a_line_at_the_end_is_as_if_it_had_not_been_written(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "work", "PHASE: work")
    step(one, 1, "x")
    data = path.read_bytes()
    for cut in range(data.rindex(b"\n", 0, -1) + 2, len(data) - 1, 7):
        path.write_bytes(data[:cut])
        two = Conversation.open(path, HEAD)
        assert isinstance(two.last, ModelResponse)
        two.send(ModelRequest(parts=[ToolReturnPart("bash", "x", "c1")]))
        assert [type(m) for m in Conversation.open(path, HEAD).messages] == [
            ModelRequest,
            ModelResponse,
            ModelRequest,
        ]
        assert Conversation.open(path, HEAD).note == ""


HALF = "\ud83d and \udce9"
"""Half of a character of two, and a byte that is no UTF-8: no request can hold them."""


def test_what_could_not_be_sent_is_kept_out_whoever_said_it(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "work", f"PHASE: work {HALF}")
    response = ModelResponse(
        parts=[
            TextPart(f"I look {HALF}"),
            ToolCallPart("bash", {HALF: [HALF]}, tool_call_id="c1"),
        ]
    )
    one.answered(response, "talk:1", 0.5, Tokens(plain=100, output=10))
    one.send(ModelRequest(parts=[ToolReturnPart("bash", HALF, "c1")]))

    two = Conversation.open(path, HEAD)

    assert repr(one.messages) == repr(two.messages)
    for messages in (one.messages, two.messages):
        repr(messages).encode()
        said = messages[1].parts
        assert said[0].content == "I look ? and ?"
        str(said[1].args).encode()


def test_a_conversation_that_was_kept_with_such_words_can_be_gone_on_with(path):
    one = Conversation.open(path, HEAD)
    one.begin("a", "work", "PHASE: work HERE")
    lines = path.read_text().replace("HERE", "\\ud83d")
    path.write_text(lines)

    two = Conversation.open(path, HEAD)

    assert two.messages[0].parts[0].content == "PHASE: work ?"
