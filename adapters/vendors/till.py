"""The till: takes the money for each answer that passes, from our own ledger, and closes when it is spent.

Whatever an agent believes of its budget, without a word from here nothing is sent.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.models.account import Account
from adapters.models.families import Connection
from domain.ledger import Lost, Released, Reserved, Settled
from domain.model_faults import ModelFault, Patience, next_step
from domain.outcome import Ended
from domain.prices import Tokens

MOST_ANSWERS = 1_000
HURRIED_ANSWERS = 10
"""After the engine wants the pass to end."""
HURRIED_SECONDS = 600.0
"""The same, for one that asks for nothing: a command that it waits for."""
MOST_OUTPUT = 128_000
"""Tokens of an answer whose request names no limit."""
MOST_REJECTED = 3
"""Requests in a row that the provider takes for malformed."""


@dataclass(frozen=True)
class Over:
    """Why nothing passes any more."""

    ended: Ended
    why: str
    seconds: float = 0.0
    """Until it is worth coming back."""


@dataclass
class Till:
    """Of one pass. Used by one thread at a time."""

    connection: Connection
    account: Account
    name: str
    """Of the pass: what its calls begin with in the ledger."""
    key: str
    """What the money is for, in the ledger."""
    number: int
    site: Callable[[], str]
    hurry: Callable[[], str]
    tell: Callable[[str], None]
    over: Over | None = None
    answers: int = 0
    hurried: int = 0
    waited: float = 0.0
    failed: int = 0
    """Attempts in a row."""
    last: ModelFault | None = None
    since: float = 0.0
    """When the first of them was made, and the last."""
    turned: float = 0.0
    hurry_seconds: float = HURRIED_SECONDS
    hurry_since: float = 0.0

    def __post_init__(self) -> None:
        # What a killed process left open, and may have been billed.
        self.account.recover({}, self.account.opened(f"{self.name}:"))

    def open(self, body: Mapping[str, Any], size: int) -> str | None:
        """Reserve what a request of `size` bytes can cost, and name the call; None when the till is closed."""
        if self.over is None:
            self.over = self._bound()
        if self.over is not None:
            return None
        if self.turned:
            self.waited += time.monotonic() - self.turned
            self.turned = 0.0
        given = body.get("max_tokens") or body.get("max_output_tokens")
        output = given if isinstance(given, int) and given > 0 else MOST_OUTPUT
        price = self.connection.price
        call = f"{self.name}:{uuid.uuid4().hex[:12]}"
        # A token is no less than a byte.
        usd = 0.0 if price is None else price.most_usd(size, output)
        site = self.site()
        cap = self.account.reserve(
            self.number,
            site,
            lambda: Reserved(call=call, usd=usd, number=self.number, site=site, role=self.key),
        )
        if cap is not None:
            self.over = Over("budget", cap.words)
            return None
        return call

    def settle(self, call: str, tokens: Tokens | None) -> None:
        """An answer went by; without a whole count of it, it is charged what was reserved."""
        if tokens is None:
            self.account.record(Lost(call=call, why="the answer was cut off, or not counted"))
            return
        usd = self.connection.price.usd(tokens) if self.connection.price else 0.0
        self.account.record(Settled(call=call, usd=usd, tokens=tokens))
        self.answers += 1
        self.failed, self.last = 0, None

    def fail(self, call: str, fault: ModelFault) -> None:
        """No answer came. Whether another attempt may be made is the engine's to say; when, the agent's."""
        kind = Lost if fault.billable else Released
        self.account.record(kind(call=call, why=f"{fault.kind}: {fault.said}"))
        now = time.monotonic()
        self.since = self.since if self.failed else now
        self.failed, self.last, self.turned = self.failed + 1, fault, now
        if fault.kind == "bad-request" and self.failed < MOST_REJECTED:
            return
        step = next_step(
            fault,
            attempt=self.failed,
            same=1,
            elapsed=now - self.since,
            patience=Patience(),
            draw=0.0,
        )
        if step.kind in {"pause", "fatal"}:
            ended: Ended = "paused" if step.kind == "pause" else "fatal"
            self.over = Over(ended, step.why, step.seconds)
        elif step.kind == "retry":
            self.tell(f"{fault.kind}, the agent tries again: {fault.said}")

    def late(self) -> bool:
        """Look whether the pass had to end a while ago, and has not: its agent waits for something. Then it is over."""
        why = self.hurry()
        self.hurry_since = (self.hurry_since or time.monotonic()) if why else 0.0
        if why and time.monotonic() - self.hurry_since > self.hurry_seconds:
            self.over = self.over or Over("hurried", f"{why}; it did not end, and was stopped")
        return self.over is not None

    def _bound(self) -> Over | None:
        if self.answers >= MOST_ANSWERS:
            return Over("steps", f"{self.answers} answers were made")
        why = self.hurry()
        if why and self.hurried >= HURRIED_ANSWERS:
            return Over("hurried", f"{why}; it cannot be told, and was stopped")
        self.hurried += bool(why)
        return None
