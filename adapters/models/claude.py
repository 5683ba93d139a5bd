"""Claude: Anthropic's SDK, built by us, behind pydantic-ai's model."""

from dataclasses import replace

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.messages import CachePoint, ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.settings import ModelSettings

from adapters.models.families import Connection

CONNECT_SECONDS = 20.0
LOOKBACK_PARTS = 15
"""Before a breakpoint the provider looks for a prefix it knows in the last 20 blocks; a part may be two of them."""


def open_model(connection: Connection, conversation: str) -> tuple[Model, ModelSettings]:
    """The model, and what is sent with every request of a conversation."""
    client = AsyncAnthropic(
        api_key=connection.key,
        base_url=connection.address,
        max_retries=0,
        timeout=httpx2.Timeout(connection.silent_seconds, connect=CONNECT_SECONDS),
    )
    settings = AnthropicModelSettings(
        max_tokens=connection.output_tokens,
        # Tools, instructions and the conversation, kept for an hour: a gate between two calls outlasts 5 minutes.
        cache="1h",
    )
    if connection.effort:
        settings["thinking"] = connection.effort
    return AnthropicModel(
        connection.model, provider=AnthropicProvider(anthropic_client=client)
    ), settings


def marked(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The conversation with a breakpoint where the last request ended, if more has come since than is looked back."""
    if len(messages) < 3 or sum(len(message.parts) for message in messages[-2:]) <= LOOKBACK_PARTS:  # noqa: PLR2004
        return messages
    before = messages[-3]
    if not isinstance(before, ModelRequest):
        return messages
    point = UserPromptPart(content=[CachePoint(ttl="1h")])
    return [*messages[:-3], replace(before, parts=[*before.parts, point]), *messages[-2:]]
