"""What came of a phase of a model's work: a typed answer or a typed end, and what it cost."""

from typing import Literal

from domain.prices import Tokens
from domain.role import Answer, Phase
from domain.shown import Shown
from domain.value import Value

Ended = Literal[
    "answered", "budget", "paused", "failed", "silent", "confused", "steps", "hurried", "fatal"
]
"""`failed`: the model could not be made to go on (refusals, a conversation too long); `silent`: it stopped without
its typed end; `confused`: too many calls in a row made no sense; `steps`: too many steps; `hurried`: told to finish
and did not; `fatal`: somebody has to change something first. Whatever it is, the commits made by then count."""


class Asked(Value):
    """A question of the model, and what it went on with."""

    question: str
    assumption: str
    answer: str = ""
    """Empty: nobody was there."""


class Outcome(Value):
    """A phase that is over."""

    phase: Phase
    ended: Ended
    why: str = ""
    answer: Answer | None = None
    back_seconds: float = 0.0
    """Of a pause: until it is worth coming back; 0 when nobody knows."""
    usd: float = 0.0
    tokens: Tokens = Tokens()
    calls: int = 0
    """Attempts that were sent."""
    lost: int = 0
    """Of those, how many came to nothing and are charged all the same."""
    steps: int = 0
    """Answers of the model."""
    waited_seconds: float = 0.0
    """For rate limits and the like: not charged as active time."""
    used: dict[str, int] = {}
    """How often each tool was used and worked."""
    read: tuple[Shown, ...] = ()
    """What `read` showed: engagement, from the tools and not from the model's word."""
    asked: tuple[Asked, ...] = ()
    notes: tuple[str, ...] = ()
    """What the operator should know of how it went."""
