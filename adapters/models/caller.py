"""One call of a model, with all its attempts: reserved, sent, checked, settled, and tried again or not.

The one owner of retries. What it returns is a whole answer; what it raises says why there is none.
"""

import asyncio
import random
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self, cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from adapters.failpoints import reach
from adapters.models.account import Account
from adapters.models.conversation import Conversation
from adapters.models.families import Connection
from adapters.models.faults import fault_in, fault_of
from domain.hired import Family
from domain.ledger import Lost, Released, Reserved, Settled
from domain.model_faults import Kind, ModelFault, Patience, Step, next_step
from domain.outcome import Ended
from domain.prices import Tokens

KEPT_RESULTS = 5
KEPT_ON_OVERFLOW = 2
ENDS: dict[str, Ended] = {"pause": "paused", "end": "failed", "fatal": "fatal"}


class Stopped(Exception):
    """No further call can be made."""

    def __init__(self, ended: Ended, why: str, seconds: float = 0.0) -> None:
        super().__init__(ended, why, seconds)
        self.ended: Ended = ended
        self.why = why
        self.seconds = seconds


@dataclass
class Caller:
    """Calls of one model in one conversation, on one account. A context manager; for one thread."""

    connection: Connection
    conversation: Conversation
    account: Account
    parameters: ModelRequestParameters
    prefix_bytes: int
    """Of what stands before the messages: tools and instructions."""
    number: int = 0
    """Of the pass."""
    site: Callable[[], str] = str
    patience: Patience = field(default_factory=Patience)
    tell: Callable[[str], None] = lambda _: None
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random
    waited: float = 0.0

    def __enter__(self) -> Self:
        name = self.conversation.path.stem
        self.loop = asyncio.new_event_loop()
        self.family = _imported(self.connection.family)
        self.model, self.settings = self.family.open_model(self.connection, name)
        prefix = f"{name}:"
        self.account.recover(self.conversation.answers, self.account.opened(prefix))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in asyncio.all_tasks(self.loop):
            # An interrupt left it half done.
            task.cancel()
            with suppress(asyncio.CancelledError):
                self.loop.run_until_complete(task)
        client = cast("Any", self.model).client
        self.loop.run_until_complete(client.close())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def answer(self, key: str) -> ModelResponse:
        """The model's answer to the conversation as it is, kept and paid. `key`: the phase it is for."""
        began, failed = time.monotonic(), list[Kind]()
        output = self.connection.output_tokens
        while True:
            call = self._reserve(key, output)
            response, fault = self._attempt(output)
            if response is not None and fault is None:
                return self._settle(call, response)
            assert fault is not None  # noqa: S101 -- one of the two is there
            self._charge(call, response, fault)
            failed.append(fault.kind)
            step = next_step(
                fault,
                attempt=len(failed),
                same=failed.count(fault.kind),
                elapsed=time.monotonic() - began,
                patience=self.patience,
                draw=self.draw(),
            )
            self._follow(step, fault)
            if fault.kind == "length":
                output = 2 * self.connection.output_tokens

    def _reserve(self, key: str, output: int) -> str:
        site = self.site()
        price = self.connection.price
        call = f"{self.conversation.path.stem}:{uuid.uuid4().hex[:12]}"
        usd = 0.0 if price is None else price.most_usd(self._most_input(), output)
        cap = self.account.reserve(
            self.number,
            site,
            lambda: Reserved(call=call, usd=usd, number=self.number, site=site, role=key),
        )
        if cap is not None:
            raise Stopped("budget", cap.words)
        reach("call-reserved")
        return call

    def _most_input(self) -> int:
        """Tokens that the next request has at the most: a token is no less than a byte."""
        seen = self.conversation.total or self.prefix_bytes
        return seen + self.conversation.unseen

    def _attempt(self, output: int) -> tuple[ModelResponse | None, ModelFault | None]:
        try:
            response = self.loop.run_until_complete(self._streamed(output))
        except Exception as error:  # noqa: BLE001 -- whatever a strange body does to the libraries
            return None, fault_of(error)
        return response, fault_in(response)

    async def _streamed(self, output: int) -> ModelResponse:
        """Streamed, so that a long answer holds no silent connection; the deadline is for all of it."""
        settings = cast("ModelSettings", {**self.settings, "max_tokens": output})
        async with asyncio.timeout(self.connection.attempt_seconds):
            async with model_request_stream(
                self.model,
                self.family.marked(self.conversation.messages),
                model_settings=settings,
                model_request_parameters=self.parameters,
            ) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    def _settle(self, call: str, response: ModelResponse) -> ModelResponse:
        tokens = tokens_of(response)
        usd = self._usd(tokens) if tokens else self.account.ledger.accounts[call].charged
        # First the answer, then its price: killed between the two, the answer says what it cost.
        self.conversation.answered(response, call, usd, tokens or Tokens())
        reach("answer-kept")
        if tokens:
            self.account.record(Settled(call=call, usd=usd, tokens=tokens))
        else:
            self.account.record(Lost(call=call, why="the provider did not say what it cost"))
        return response

    def _charge(self, call: str, response: ModelResponse | None, fault: ModelFault) -> None:
        tokens = tokens_of(response) if response and fault.kind != "truncated" else None
        if tokens:
            self.account.record(Settled(call=call, usd=self._usd(tokens), tokens=tokens))
        elif fault.billable:
            self.account.record(Lost(call=call, why=f"{fault.kind}: {fault.said}"))
        else:
            self.account.record(Released(call=call, why=f"{fault.kind}: {fault.said}"))

    def _usd(self, tokens: Tokens) -> float:
        return self.connection.price.usd(tokens) if self.connection.price else 0.0

    def _follow(self, step: Step, fault: ModelFault) -> None:
        match step.kind:
            case "retry":
                if step.seconds:
                    self.tell(f"{fault.kind}, trying again in {step.seconds:.0f} s: {fault.said}")
                    began = time.monotonic()
                    self.sleep(step.seconds)
                    self.waited += time.monotonic() - began
            case "compact":
                if not self.conversation.clear(KEPT_ON_OVERFLOW):
                    raise Stopped("failed", f"{step.why}, and there is nothing to clear")
            case _:
                raise Stopped(ENDS[step.kind], step.why, step.seconds)


def tokens_of(response: ModelResponse) -> Tokens | None:
    """What the provider counted; None when it left the count out, or half of it."""
    usage = response.usage
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    plain = usage.input_tokens - read - written
    if usage.input_tokens <= 0 or usage.output_tokens <= 0 or plain < 0:
        return None
    return Tokens(plain=plain, read=read, written=written, output=usage.output_tokens)


class FamilyModule(Protocol):
    """What the module of a family does."""

    def open_model(
        self, connection: Connection, conversation: str, /
    ) -> tuple[Model, ModelSettings]: ...
    def marked(self, messages: list[ModelMessage], /) -> list[ModelMessage]: ...


def _imported(family: Family) -> FamilyModule:
    """Each SDK is imported when its family is used: they take seconds."""
    if family == "claude":
        from adapters.models import claude  # noqa: PLC0415

        return claude
    from adapters.models import gpt  # noqa: PLC0415

    return gpt
