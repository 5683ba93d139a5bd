"""What a scripted model says: turns, faults, and what it looks at to choose between them.

A script is a function of the state of the conversation, above all of how often the model has answered in it:
asked again after a kill, it says the same again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Family = Literal["claude", "gpt"]

Ending = Literal["whole", "cut", "reset", "early", "garbage", "error", "stall"]
"""How a streamed answer ends: `cut` closes the connection in mid-body, `reset` with a RST; `early` ends the
body properly, but before the answer is over; `error` is an error event of the provider's."""

FaultKind = Literal[
    "rate-limit",
    "overloaded",
    "unavailable",
    "server",
    "quota",
    "context",
    "auth",
    "not-found",
    "bad-request",
    "html",
    "bad-gateway",
    "drop",
    "hang",
]


@dataclass(frozen=True)
class Call:
    """A call of a tool. Arguments given as a string are sent as they are, valid JSON or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    custom: bool = False
    """Of OpenAI's: a tool that takes plain text."""


@dataclass(frozen=True)
class Turn:
    """One answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    refusal: bool = False
    stop: str = ""
    """The stop reason in Anthropic's words; empty: what follows from the rest."""
    usage: bool = True
    """False: the provider leaves its count of tokens out."""
    chunk: int = 200
    """Characters in one event."""
    pause: float = 0.0
    """Seconds between two events."""
    ending: Ending = "whole"
    after: int = 3
    """Events that are sent before an ending that is not whole."""
    meanwhile: Callable[[], None] = lambda: None
    """Called when they were sent: by it somebody can be killed in the middle of an answer."""

    @property
    def reason(self) -> str:
        if self.stop:
            return self.stop
        return "refusal" if self.refusal else "tool_use" if self.calls else "end_turn"


@dataclass(frozen=True)
class Fault:
    """No answer. `billed`: the provider made one all the same, and it was lost on the way."""

    kind: FaultKind
    retry_after: float | None = None
    billed: bool = False
    status: int | None = None
    """Another status than the usual one of this kind."""


@dataclass(frozen=True)
class Seen:
    """One request, as a script sees it."""

    family: Family
    body: Mapping[str, Any]
    answers: int
    """Answers of the model that the conversation holds."""
    attempt: int
    """How often this very state was asked for before."""
    conversation: str
    """Tells conversations apart: a digest of how this one begins."""
    user: str
    """The last words of the user."""
    results: tuple[str, ...]
    """What the tools said since the model's last answer."""
    tools: tuple[str, ...]


Said = Turn | Fault
Script = Callable[[Seen], Said]


def turns(said: Sequence[Said | Script]) -> Script:
    """The n-th answer is the n-th item; past the end, a fault that nobody retries."""

    def script(seen: Seen) -> Said:
        if seen.answers >= len(said):
            return Fault("bad-request")
        item = said[seen.answers]
        return item(seen) if callable(item) else item

    return script


def first(faults: Sequence[Said], then: Script, *, at: int = 0) -> Script:
    """Say `faults` one after the other where the conversation has `at` answers, and then what `then` says."""

    def script(seen: Seen) -> Said:
        if seen.answers == at and seen.attempt < len(faults):
            return faults[seen.attempt]
        return then(seen)

    return script
