"""GPT: OpenAI's SDK, built by us, behind pydantic-ai's model of the Responses interface."""

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from adapters.models.families import Connection

CONNECT_SECONDS = 20.0


def open_model(connection: Connection, conversation: str) -> tuple[Model, ModelSettings]:
    """The model, and what is sent with every request of a conversation."""
    client = AsyncOpenAI(
        api_key=connection.key,
        base_url=connection.address,
        max_retries=0,
        timeout=httpx2.Timeout(connection.silent_seconds, connect=CONNECT_SECONDS),
    )
    settings = OpenAIResponsesModelSettings(
        max_tokens=connection.output_tokens,
        # Not kept by the provider: what the model thought comes back sealed, and is sent along by us.
        openai_store=False,
        openai_prompt_cache_key=conversation,
    )
    if connection.effort:
        settings["thinking"] = connection.effort
    return OpenAIResponsesModel(
        connection.model, provider=OpenAIProvider(openai_client=client)
    ), settings
