"""What went wrong with a model call, and what to do about it. One owner of retries: this policy.

The SDKs' own retries are off, and no task is retried around it: three policies around each other made twelve
requests of one dead call.
"""

from typing import Literal

from pydantic import Field

from domain.value import Value
from domain.words import duration

Kind = Literal[
    "rate-limit",
    "quota",
    "overloaded",
    "server",
    "connection",
    "timeout",
    "truncated",
    "malformed",
    "context",
    "refusal",
    "length",
    "credentials",
    "no-model",
    "bad-request",
]
"""`truncated`: the answer ended before its end, with or without an error; `malformed`: what arrived is no
answer at all; `length`: it reached the limit of its own tokens."""

PASSING: frozenset[Kind] = frozenset(
    {"rate-limit", "overloaded", "server", "connection", "timeout", "truncated", "malformed"}
)
"""What may be over when asked again."""

UNBILLED: frozenset[Kind] = frozenset(
    {
        "rate-limit",
        "quota",
        "overloaded",
        "server",
        "context",
        "credentials",
        "no-model",
        "bad-request",
    }
)
"""Refused before an answer was made, when they come as the status of the response."""

BILLING = (
    "insufficient_quota",
    "spend_limit",
    "billing",
    "credit balance",
    "exceeded your current quota",
)
"""What a provider writes when waiting will not help, whatever status it comes with."""


class ModelFault(Value):
    """One attempt that failed."""

    kind: Kind
    said: str = ""
    """The provider's or the network's words."""
    retry_after: float | None = None
    """Seconds the provider asked to wait."""
    billable: bool = True
    """Whether an answer may have been made, and billed, all the same."""

    @classmethod
    def from_status(
        cls, kind: Kind, said: str, *, retry_after: float | None = None, in_stream: bool = False
    ) -> "ModelFault":
        """What a provider answered instead. Within a stream it comes after the answer had begun."""
        if kind == "rate-limit" and any(word in said.lower() for word in BILLING):
            kind = "quota"
        return cls(
            kind=kind,
            said=said,
            retry_after=retry_after,
            billable=in_stream or kind not in UNBILLED,
        )


class Patience(Value):
    """How long to try."""

    attempts: int = Field(default=5, ge=1)
    """At one call, the first included."""
    first_seconds: float = Field(default=1.0, ge=0)
    """The longest first wait; it doubles with each attempt."""
    most_seconds: float = Field(default=60.0, ge=0)
    """The longest wait that was not asked for."""
    asked_seconds: float = Field(default=300.0, ge=0)
    """The longest wait that a provider may ask for while the run stays awake."""
    wall_seconds: float = Field(default=1800.0, gt=0)
    """For one call with all its attempts and waits."""


class Step(Value):
    """What to do next."""

    kind: Literal["retry", "pause", "compact", "end", "fatal"]
    """`pause`: the run ends, to be taken up later; `end`: the pass ends, with what it committed; `fatal`: the run
    cannot go on before somebody changes something."""
    seconds: float = 0.0
    """Before the retry; of a pause, until it is worth coming back, 0 when that is not known."""
    why: str = ""


ONCE: dict[Kind, str] = {
    "refusal": "the model refused twice",
    "length": "two answers in a row reached the limit of their own tokens",
}

FATAL: dict[Kind, str] = {
    "credentials": "the provider does not take the key",
    "no-model": "the provider does not know the model, or the base URL is wrong",
    "bad-request": "the provider rejects the request",
}


def next_step(
    fault: ModelFault,
    *,
    attempt: int,
    same: int,
    elapsed: float,
    patience: Patience,
    draw: float,
) -> Step:
    """What follows on the `attempt`-th attempt at a call (from 1), `elapsed` seconds after its first.

    `same` counts the attempts that failed in this very way, this one included; `draw` is from [0, 1), for
    jitter: many clients that were turned away together must not come back together.
    """
    said = f": {fault.said}" if fault.said else ""
    if fault.kind == "quota":
        return Step(kind="pause", why=f"the account's quota or budget is used up{said}")
    if fault.kind in FATAL:
        return Step(kind="fatal", why=FATAL[fault.kind] + said)
    if fault.kind == "context":
        if same == 1:
            return Step(kind="compact", why="the conversation is longer than the model takes")
        return Step(
            kind="end", why="the conversation is too long for the model, also when shortened"
        )
    if fault.kind in ONCE:
        return Step(kind="retry") if same == 1 else Step(kind="end", why=ONCE[fault.kind] + said)
    return _later(fault, attempt, elapsed, patience, draw)


def _later(
    fault: ModelFault, attempt: int, elapsed: float, patience: Patience, draw: float
) -> Step:
    asked = fault.retry_after or 0.0
    longest = min(patience.most_seconds, patience.first_seconds * 2 ** (attempt - 1))
    wait = max(asked, longest * (0.5 + draw / 2))
    what = f"{fault.kind.replace('-', ' ')}: {fault.said}".rstrip(": ")
    if asked > patience.asked_seconds:
        why = f"{what}. It asks to come back in {duration(asked)}"
        return Step(kind="pause", seconds=asked, why=why)
    if attempt >= patience.attempts:
        return Step(
            kind="pause", seconds=asked, why=f"{attempt} attempts failed, the last by {what}"
        )
    if elapsed + wait > patience.wall_seconds:
        why = f"one call took {duration(elapsed)} with its attempts, the last failed by {what}"
        return Step(kind="pause", seconds=asked, why=why)
    return Step(kind="retry", seconds=wait)
