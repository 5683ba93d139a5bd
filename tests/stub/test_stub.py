"""The stub provider, met by the real SDKs."""

import anthropic
import httpx2
import openai
import pytest
from stub_bill import Rates
from stub_provider import Provider
from stub_script import Call, Fault, Turn, first, turns

READ = Call("read", {"path": "a.py"})
FAMILIES = ("claude", "gpt")
LONG = "words " * 2000


@pytest.fixture(name="serve")
def _serve(tmp_path):
    opened = []

    def serve(script, **more):
        provider = Provider(script, tmp_path, **more)
        opened.append(provider)
        return provider.__enter__()

    yield serve
    for provider in opened:
        provider.__exit__()


def claude(provider, **more):
    return anthropic.Anthropic(base_url=provider.url, api_key="k", max_retries=0, **more)


def gpt(provider, **more):
    return openai.OpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=0, **more)


def ask_claude(client, messages, *, stream, **more):
    given = {"model": "claude-opus-5-5", "max_tokens": 1000, "messages": messages, **more}
    if not stream:
        return client.messages.create(**given)
    with client.messages.stream(**given) as streamed:
        return streamed.get_final_message()


def ask_gpt(client, messages, *, stream, **more):
    given = {"model": "gpt-6.1-sol", "input": messages, **more}
    if not stream:
        return client.responses.create(**given)
    with client.responses.stream(**given) as streamed:
        for _ in streamed:
            pass
        return streamed.get_final_response()


def user(text):
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("stream", [True, False])
def test_claude_answers_with_text_thinking_and_calls(serve, stream):
    turn = Turn("Reading.", (READ,), thinking="Which file?")

    message = ask_claude(claude(serve(turns([turn]))), user("go"), stream=stream)

    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[0].signature
    assert message.content[2].input == {"path": "a.py"}
    assert message.stop_reason == "tool_use"


@pytest.mark.parametrize("stream", [True, False])
def test_gpt_answers_with_text_reasoning_and_calls(serve, stream):
    turn = Turn("Reading.", (READ,), thinking="Which file?")

    response = ask_gpt(gpt(serve(turns([turn]))), user("go"), stream=stream)

    assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
    assert response.output_text == "Reading."
    assert response.output[2].arguments == '{"path": "a.py"}'
    assert response.status == "completed"


def test_the_script_is_keyed_by_the_answers_a_conversation_holds(serve):
    provider = serve(turns([Turn("one"), Turn("two")]))
    client = claude(provider)
    answered = [*user("go"), {"role": "assistant", "content": "one"}, *user("more")]

    said = [ask_claude(client, m, stream=False).content[0].text for m in [user("go"), answered] * 2]

    assert said == ["one", "two", "one", "two"]
    assert [row["attempt"] for row in provider.bill.rows] == [0, 0, 1, 1]


def test_gpt_counts_an_answer_of_several_items_once(serve):
    client = gpt(serve(turns([Turn("Reading.", (READ,), thinking="Hm."), Turn("done")])))
    first_answer = ask_gpt(client, user("go"), stream=False)
    call = first_answer.output[-1]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "text"}

    again = ask_gpt(
        client, [*user("go"), *(i.to_dict() for i in first_answer.output), result], stream=True
    )

    assert again.output_text == "done"


def test_claude_finds_in_its_cache_what_a_breakpoint_stored(serve):
    provider = serve(lambda _: Turn("ok"))
    client, system = claude(provider), [{"type": "text", "text": LONG}]

    def ask(messages):
        return ask_claude(
            client, messages, stream=False, system=system, cache_control={"type": "ephemeral"}
        ).usage

    one = ask(user("go"))
    two = ask([*user("go"), {"role": "assistant", "content": "ok"}, *user("more")])
    other = ask_claude(
        client, user("go"), stream=False, system=[{"type": "text", "text": "x" + LONG}]
    ).usage

    assert (one.cache_read_input_tokens, one.input_tokens) == (0, 0)
    assert two.cache_read_input_tokens == one.cache_creation_input_tokens > 3000
    assert (other.cache_read_input_tokens, other.cache_creation_input_tokens) == (0, 0)


def test_gpt_finds_the_longest_prefix_of_the_same_key(serve):
    provider = serve(lambda _: Turn("ok"))
    client = gpt(provider)

    def ask(key, *more):
        return ask_gpt(
            client, [*user(LONG), *more], stream=False, prompt_cache_key=key
        ).usage.input_tokens_details.cached_tokens

    assert ask("a") == 0
    assert ask("a", *user("more")) > 2900
    assert ask("b", *user("more")) == 0


def test_the_bill_is_on_disk_and_knows_the_prices(serve, tmp_path):
    provider = serve(lambda _: Turn("y" * 4000))
    ask_claude(claude(provider), user("x" * 40_000), stream=True)

    [row] = provider.bill.rows
    assert (tmp_path / "bill.jsonl").read_text().count("\n") == 1
    assert row["usd"] == pytest.approx((row["plain"] * 4 + row["output"] * 20) / 1e6)
    assert row["plain"] > 10_000
    assert row["output"] > 1000


FAULTS = [
    ("rate-limit", anthropic.RateLimitError, openai.RateLimitError),
    ("quota", anthropic.BadRequestError, openai.RateLimitError),
    ("overloaded", anthropic.APIStatusError, openai.InternalServerError),
    ("unavailable", anthropic.InternalServerError, openai.InternalServerError),
    ("server", anthropic.InternalServerError, openai.InternalServerError),
    ("context", anthropic.BadRequestError, openai.BadRequestError),
    ("auth", anthropic.AuthenticationError, openai.AuthenticationError),
    ("not-found", anthropic.NotFoundError, openai.NotFoundError),
    ("bad-gateway", anthropic.InternalServerError, openai.InternalServerError),
    ("drop", anthropic.APIConnectionError, openai.APIConnectionError),
]


@pytest.mark.parametrize(("kind", "theirs", "others"), FAULTS)
def test_a_fault_is_what_the_sdk_takes_it_for_and_costs_nothing(serve, kind, theirs, others):
    provider = serve(first([Fault(kind)] * 2, lambda _: Turn("ok")))

    with pytest.raises(theirs):
        ask_claude(claude(provider), user("go"), stream=False)
    with pytest.raises(others):
        ask_gpt(gpt(provider), user("go"), stream=False)
    assert provider.bill.usd == 0


def test_a_rate_limit_says_when_to_come_back(serve):
    provider = serve(lambda _: Fault("rate-limit", retry_after=3600))
    with pytest.raises(anthropic.RateLimitError) as caught:
        ask_claude(claude(provider), user("go"), stream=False)
    assert caught.value.response.headers["retry-after"] == "3600"


def test_a_hang_lasts_and_may_be_billed(serve):
    provider = serve(lambda _: Fault("hang", billed=True), rates=Rates(1e6, 0, 0, 0))
    with pytest.raises(anthropic.APITimeoutError):
        ask_claude(claude(provider, timeout=0.2), user("go"), stream=False)
    [row] = provider.bill.rows
    assert provider.bill.usd == row["plain"] > 0


@pytest.mark.parametrize("ending", ["cut", "reset", "garbage", "error"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_broken_stream_is_an_error_and_billed(serve, family, ending):
    provider = serve(lambda _: Turn("words " * 200, ending=ending, after=4))
    client, ask = (claude, ask_claude) if family == "claude" else (gpt, ask_gpt)
    errors = (
        httpx2.HTTPError,
        anthropic.AnthropicError,
        openai.OpenAIError,
        ValueError,
        RuntimeError,
    )

    with pytest.raises(errors):
        ask(client(provider), user("go"), stream=True)
    assert provider.bill.usd > 0


def test_a_stream_that_ends_early_is_half_an_answer_to_the_sdk(serve):
    """The trap: no exception, `stop_reason` is None."""
    provider = serve(lambda _: Turn("words " * 200, ending="early", after=4))
    message = ask_claude(claude(provider), user("go"), stream=True)

    assert message.stop_reason is None
    assert message.content[0].text.startswith("words")


def test_a_sign_in_page_is_no_message(serve):
    provider = serve(lambda _: Fault("html"))
    assert isinstance(ask_claude(claude(provider), user("go"), stream=False), str)


@pytest.mark.parametrize("stream", [True, False])
def test_the_count_of_tokens_can_be_left_out(serve, stream):
    provider = serve(lambda _: Turn("ok", usage=False))
    assert ask_gpt(gpt(provider), user("go"), stream=stream).usage is None
    assert provider.bill.usd > 0


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_can_be_cut_in_the_arguments_of_a_call(serve, stream):
    turn = Turn(calls=(Call("edit", '{"path": "a.py", "old": "x'),), stop="max_tokens")
    provider = serve(lambda _: turn)

    message = ask_claude(claude(provider), user("go"), stream=stream)
    response = ask_gpt(gpt(provider), user("go"), stream=False)

    assert message.stop_reason == "max_tokens"
    assert (response.status, response.incomplete_details.reason) == (
        "incomplete",
        "max_output_tokens",
    )


@pytest.mark.parametrize("text", ["", "I cannot help with that."])
def test_a_model_can_refuse_with_and_without_words(serve, text):
    provider = serve(lambda _: Turn(text, refusal=True))

    message = ask_claude(claude(provider), user("go"), stream=True)
    response = ask_gpt(gpt(provider), user("go"), stream=False)

    assert message.stop_reason == "refusal"
    assert response.output[0].content[0].type == "refusal"


def test_past_its_end_a_script_fails(serve):
    with pytest.raises(anthropic.BadRequestError):
        ask_claude(claude(serve(turns([]))), user("go"), stream=False)
