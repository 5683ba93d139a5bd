"""What passes the gateway, and what does not: each refusal beside a request that must pass."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.passage import HEADERS, objection, way

CLAUDE = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "be good"}],
    "tools": [{"name": "Bash", "input_schema": {"properties": {"image_url": {"type": "url"}}}}],
    "context_management": {"edits": [{"type": "clear_thinking_20251015"}]},
    "messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"source": {"type": "url"}}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image", "source": {"type": "base64"}}]}]},
    ],
}  # fmt: skip
GPT = {
    "model": "m",
    "store": False,
    "input": [
        {"type": "additional_tools", "tools": [{"type": "namespace", "tools": [{"type": "custom", "name": "exec"}]}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "function_call", "name": "f", "arguments": '{"file_url": "https://x"}'},
        {"type": "function_call_output", "output": [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]},
    ],
}  # fmt: skip


def with_block(block):
    return {
        "messages": [{"role": "user", "content": [{"type": "tool_result", "content": [block]}]}]
    }


def with_item(item):
    return {"input": [*GPT["input"], item]}


@pytest.mark.parametrize(("family", "body"), [("claude", CLAUDE), ("gpt", GPT)])
def test_what_an_agent_asks_passes(family, body):
    assert objection(family, body, "m") == ""
    assert objection(family, {**body, "service_tier": "auto"}, "m") == ""


REFUSED = {
    "another model": ("claude", {"model": "other"}),
    "another model of gpt's": ("gpt", {"model": "other"}),
    "a search": ("claude", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    "a fetch": ("claude", {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    "a machine of the provider's": ("claude", {"tools": [{"type": "code_execution_20250825"}]}),
    "one tool for a list": ("claude", {"tools": {"type": "web_search_20250305"}}),
    "a server": ("claude", {"mcp_servers": [{"url": "https://x"}]}),
    "a container": ("claude", {"container": {"skills": []}}),
    "a fast answer": ("claude", {"speed": "fast"}),
    "a place": ("claude", {"inference_geo": "us"}),
    "a summary made there": ("claude", {"context_management": {"edits": [{"type": "compact_20260112"}]}}),
    "an address": ("claude", with_block({"type": "image", "source": {"type": "url", "url": "https://x/?q=secret"}})),
    "a kept file": ("claude", with_block({"type": "document", "source": {"type": "file", "file_id": "f"}})),
    "an upload": ("claude", with_block({"type": "container_upload", "file_id": "f"})),
    "a search of gpt's": ("gpt", {"tools": [{"type": "web_search"}]}),
    "a tool in a namespace": ("gpt", {"tools": [{"type": "namespace", "tools": [{"type": "mcp"}]}]}),
    "a tool in the input": ("gpt", with_item({"type": "additional_tools", "tools": [{"type": "namespace", "tools": [{"type": "code_interpreter"}]}]})),
    "work that goes on": ("gpt", {"background": True}),
    "an answer kept there": ("gpt", {"store": True}),
    "an answer that was kept": ("gpt", {"previous_response_id": "r"}),
    "a dear tier": ("gpt", {"service_tier": "priority"}),
    "an image's address": ("gpt", with_item({"type": "message", "content": [{"type": "input_image", "image_url": "https://x"}]})),
    "an image's address in a result": ("gpt", with_item({"type": "function_call_output", "output": [{"image_url": {"url": "https://x"}}]})),
    "a file's address": ("gpt", with_item({"content": [{"type": "input_file", "file_url": "https://x"}]})),
    "a reference": ("gpt", with_item({"type": "item_reference", "id": "i"})),
}  # fmt: skip


@pytest.mark.parametrize(("family", "change"), REFUSED.values(), ids=REFUSED)
def test_what_would_cost_more_or_reach_further_does_not_pass(family, change):
    body = {"claude": CLAUDE, "gpt": GPT}[family]
    assert objection(family, {**body, **change}, "m") != ""


@given(
    st.sampled_from(["claude", "gpt"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tools", "type", "content", "source", "messages", "input", "output", "model", "edits", "context_management"]),
            inner,
            max_size=4,
        ),
        max_leaves=15,
    ),
)  # fmt: skip
def test_whatever_a_request_is_made_of_it_is_judged(family, body):
    given_body = body if isinstance(body, dict) else {"messages": body, "input": body}
    assert isinstance(objection(family, json.loads(json.dumps(given_body)), "m"), str)


@pytest.mark.parametrize(
    ("family", "path", "query", "priced"),
    [
        ("claude", "/v1/messages", "", True),
        ("claude", "/v1/messages", "beta=true", True),
        ("claude", "/v1/messages/count_tokens", "beta=true", False),
        ("gpt", "/v1/responses", "", True),
    ],
)
def test_the_ways_that_are_open(family, path, query, priced):
    found = way(family, path, query)
    assert found is not None
    assert found.priced == priced


@pytest.mark.parametrize(
    ("family", "path", "query"),
    [
        ("claude", "/v1/messages/batches", ""),
        ("claude", "/v1/messages/", ""),
        ("claude", "/v1/files", ""),
        ("claude", "//v1/messages", ""),
        ("claude", "/v1/messages", "beta=true&x=1"),
        ("claude", "/v1/responses", ""),
        ("gpt", "/v1/messages", ""),
        ("gpt", "/v1/responses/compact", ""),
        ("gpt", "/v1/models", ""),
        ("gpt", "/v1/responses", "x"),
    ],
)
def test_no_other_way_is_open(family, path, query):
    assert way(family, path, query) is None


def test_no_header_that_names_a_key_passes():
    assert not HEADERS & {"x-api-key", "authorization", "cookie", "proxy-authorization", "host"}
