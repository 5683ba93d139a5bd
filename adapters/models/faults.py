"""From what the SDKs and pydantic-ai raise or return to the faults that the policy knows."""

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

from domain.model_faults import Kind, ModelFault

SAID_CHARACTERS = 300
LIBRARY = (ModelAPIError, UnexpectedModelBehavior)
WINDOW_FULL = "model_context_window_exceeded"
"""Anthropic's reason to stop, which pydantic-ai takes for an answer that is too long."""

KINDS: tuple[tuple[type[Exception], Kind], ...] = (
    (ModelQuotaExceededError, "quota"),
    (ModelRateLimitError, "rate-limit"),
    (ModelContextWindowExceededError, "context"),
    (ModelAuthenticationError, "credentials"),
    (ModelNotFoundError, "no-model"),
    (ModelRequestRejectedError, "bad-request"),
    (ModelUnavailableError, "overloaded"),
    (ModelServerError, "server"),
)
"""The first that fits, so the particular before the general."""

ENDINGS: dict[str | None, tuple[Kind, str]] = {
    # The body ended properly, and the answer did not: the SDKs take half an answer for a whole one.
    None: ("truncated", "the answer ended before its end"),
    "content_filter": ("refusal", ""),
    "length": ("length", "the answer reached the limit of its own tokens"),
    "error": ("server", "the answer ended with an error"),
}
"""By the reason a model stopped; without words, those of the answer are told."""


def fault_of(error: Exception) -> ModelFault:
    """What kind of failure an exception from a call is. One that says that we use the library wrongly is raised."""
    said = " ".join(str(error).split())[:SAID_CHARACTERS]
    for type_, kind in KINDS:
        if isinstance(error, type_) and isinstance(error, ModelAPIError):
            code = f" {error.provider_error_code or ''} {error.provider_error_type or ''}".rstrip()
            fault = ModelFault.from_status(
                kind, said + code, retry_after=error.retry_after, in_stream=error.in_stream
            )
            return fault.model_copy(update={"said": said})
    match error:
        case ModelRequestTimeout() | ModelTimeoutError() | TimeoutError():
            kind = "timeout"
        case ModelConnectionError():
            unsent = error.phase in {"pool", "connect"}
            return ModelFault(kind="connection", said=said, billable=not unsent)
        case ContentFilterError():
            kind = "refusal"
        case UserError():
            raise error
        case _:
            # Also what pydantic-ai trips over in a body that is not as it should be: an answer without usage.
            kind, said = "malformed", said if isinstance(error, LIBRARY) else f"{error!r}"
    return ModelFault(kind=kind, said=said)


def fault_in(response: ModelResponse) -> ModelFault | None:
    """What is wrong with an answer that arrived without an error."""
    if (response.provider_details or {}).get("finish_reason") == WINDOW_FULL:
        return ModelFault(kind="context", said="the answer did not fit into what the model takes")
    found = ENDINGS.get(response.finish_reason)
    if found:
        kind, said = found
        return ModelFault(kind=kind, said=said or (response.text or "")[:SAID_CHARACTERS])
    if not any(_says_something(part) for part in response.parts):
        return ModelFault(kind="malformed", said="the answer is empty")
    return None


def _says_something(part: object) -> bool:
    return isinstance(part, ToolCallPart) or (
        isinstance(part, TextPart) and bool(part.content.strip())
    )
