"""The agent: one object for every role. It talks, the desk works, and the phase decides what may be done.

Tools, instructions and history are the same whatever it is asked for, so that a second role finds the first one's
work in the provider's cache. No type of the libraries behind it leaves this room.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from pydantic_ai.messages import (
    InstructionPart,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from adapters.failpoints import reach
from adapters.models.account import Account
from adapters.models.caller import KEPT_RESULTS, Caller, Stopped
from adapters.models.conversation import Conversation, Kept
from adapters.models.desk import Bench, Desk, Done
from adapters.models.families import Connection
from adapters.models.toolbox import definitions
from domain.model_faults import Patience
from domain.outcome import Asked, Ended, Outcome
from domain.prices import Tokens
from domain.role import ENDS, Answer, Phase
from domain.shown import Shown

MOST_STEPS = 1_000
MOST_SILENT = 2
"""Answers in a row without a call; after each of them the model is asked again."""
MOST_MALFORMED = 3
"""Answers in a row in which a call was malformed."""
MOST_SAME = 4
"""Times in a row that the same calls fail in the same way."""
OPEN: frozenset[Ended] = frozenset({"paused", "fatal", "budget"})
"""Ends that a later attempt goes on from: what was answered by then stays answered."""
HURRIED_STEPS = 10
"""Answers after the model was told to finish."""
LONG_TOKENS = 150_000
"""From here on, what tools said long ago is cleared; below the size where some requests cost double."""


class Agent:
    """One model in one conversation. A context manager; it is used by one thread."""

    def __init__(
        self,
        connection: Connection,
        bench: Bench,
        account: Account,
        journal: Path,
        *,
        number: int = 0,
        patience: Patience | None = None,
        tell: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
        long_tokens: int = LONG_TOKENS,
    ) -> None:
        instructions, tools, prefix = _before()
        self.bench, self.long_tokens = bench, long_tokens
        self.conversation = Conversation.open(journal, head(connection))
        self.caller = Caller(
            connection=connection,
            conversation=self.conversation,
            account=account,
            parameters=ModelRequestParameters(
                function_tools=list(tools),
                instruction_parts=[InstructionPart(content=instructions)],
            ),
            prefix_bytes=len(prefix),
            number=number,
            site=bench.site,
            patience=patience or Patience(),
            tell=tell,
            sleep=sleep,
        )

    def __enter__(self) -> Self:
        self.caller.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.caller.__exit__(None, None, None)

    def run(self, phase: Phase, words: str, key: str, heard: Sequence[str] = ()) -> Outcome:
        """Carry one phase to its end. `key` names it: a phase that was begun or ended under it is not paid again.

        `heard`: what the operator said that is among the words already.
        """
        known = self.conversation.begin(key, phase, words, heard)
        if known is not None:
            return known
        outcome = _Talk(self, phase, key).outcome()
        if outcome.ended not in OPEN:
            self.conversation.end(key, outcome)
            reach("phase-ended")
        return outcome


def head(connection: Connection) -> dict[str, str]:
    """What the messages of a conversation depend on besides themselves."""
    digest = hashlib.sha256(_before()[2]).hexdigest()[:16]
    return {"family": connection.family, "model": connection.model, "prefix": digest}


@cache
def _before() -> tuple[str, tuple[ToolDefinition, ...], bytes]:
    """What stands before every conversation: instructions and tools, and both as bytes."""
    instructions = (files("domain") / "contracts" / "campaign.md").read_text()
    tools = definitions()
    prefix = json.dumps([instructions, [_shape(tool) for tool in tools]])
    return instructions, tuple(tools), prefix.encode()


@dataclass
class _Talk:
    """One phase under way."""

    agent: Agent
    phase: Phase
    key: str
    silent: int = 0
    malformed: int = 0
    same: int = 0
    failure: str = ""
    """The calls that failed last, and what was said."""
    hurried: int = 0
    """Answers since the model was told to finish; 0: it was not."""
    banked: bool = False
    desk: Desk = field(init=False)

    def __post_init__(self) -> None:
        self.desk = Desk(self.agent.bench, self.agent.conversation, self.phase)

    def outcome(self) -> Outcome:
        self.agent.caller.waited = 0.0
        try:
            return self._made("answered", answer=self._talk())
        except Stopped as stopped:
            return self._made(stopped.ended, stopped.why, back=stopped.seconds)

    def _talk(self) -> Answer:
        conversation = self.agent.conversation
        while True:
            last = conversation.last
            if not isinstance(last, ModelResponse):
                last = self.agent.caller.answer(self.key)
            calls = [part for part in last.parts if isinstance(part, ToolCallPart)]
            done = self.desk.work(calls)
            if done.end is not None:
                # The history stays whole: the next phase of this conversation begins after these results.
                conversation.send(_request(done))
                return done.end
            self._bound(calls, done)
            self._answer(done, silent=not calls)
            self._shorten()

    def _bound(self, calls: Sequence[ToolCallPart], done: Done) -> None:
        """Stop a model that does not come to anything."""
        self.silent = 0 if calls else self.silent + 1
        self.malformed = self.malformed + 1 if done.malformed else 0
        failed = bool(calls) and not any(result.ok for result in done.results)
        failure = repr([(r.call.tool_name, r.call.args, r.text) for r in done.results])
        self.same = (self.same + 1 if failure == self.failure else 1) if failed else 0
        self.failure = failure if failed else ""
        self.hurried += bool(self.hurried)
        steps = self.agent.conversation.steps(self.key)
        bounds: tuple[tuple[bool, Ended, str], ...] = (
            (self.silent > MOST_SILENT, "silent", f"{self.silent} answers in a row called no tool"),
            (
                self.malformed >= MOST_MALFORMED,
                "confused",
                f"{self.malformed} answers in a row held a malformed call",
            ),
            (
                self.same >= MOST_SAME,
                "confused",
                f"the same call failed {self.same} times in a row",
            ),
            (self.hurried > HURRIED_STEPS, "hurried", "it was told to finish, and went on"),
            (steps >= MOST_STEPS, "steps", f"{steps} answers were made"),
        )
        for reached, ended, why in bounds:
            if reached:
                # What the calls came to is kept, so that the conversation can be gone on with.
                self._answer(done, silent=not calls)
                raise Stopped(ended, why)

    def _answer(self, done: Done, *, silent: bool) -> None:
        """What the calls came to, what the operator said meanwhile, and what the engine has to say besides."""
        conversation = self.agent.conversation
        news = {
            id_: said
            for id_, said in self.agent.bench.news().items()
            if id_ not in conversation.heard
        }
        told = [f"The operator says: {said}" for said in news.values()]
        conversation.send(_request(done, *self._notices(silent=silent), *told), tuple(news))

    def _notices(self, *, silent: bool) -> list[str]:
        """What the engine has to say besides."""
        bench, said = self.agent.bench, list[str]()
        tool, _ = ENDS[self.phase]
        if silent:
            state = bench.objection(self.phase)
            said.append(
                f"No tool was called, so nothing happened. The phase `{self.phase}` goes on: call a tool, or end it "
                f"with `{tool}`.{f' The tree as it is: {state}' if state else ''}"
            )
        caller = self.agent.caller
        cap = caller.account.cap_near(caller.number, bench.site())
        if cap is not None and not self.banked:
            self.banked = True
            said.append(f"{cap.words}. Bring home what you have: commit what is green.")
        if not self.hurried and (why := bench.hurry()):
            self.hurried = 1
            said.append(f"{why}. Commit what is green, put back the rest, and end with `{tool}`.")
        return said

    def _shorten(self) -> None:
        conversation = self.agent.conversation
        long = self.agent.long_tokens
        # For less than an eighth of it, a new prefix for the cache is too dear.
        if conversation.total > long and conversation.worth(KEPT_RESULTS) > long // 2:
            conversation.clear(KEPT_RESULTS)

    def _made(
        self, ended: Ended, why: str = "", *, answer: Answer | None = None, back: float = 0.0
    ) -> Outcome:
        caller, conversation = self.agent.caller, self.agent.conversation
        mine = [
            account
            for call, account in caller.account.ledger.accounts.items()
            if account.reserved.role == self.key and call.startswith(f"{conversation.path.stem}:")
        ]
        used: dict[str, int] = {}
        kept = conversation.kept(self.key)
        for one in kept:
            used[one.name] = used.get(one.name, 0) + one.ok
        return Outcome(
            phase=self.phase,
            ended=ended,
            why=why,
            answer=answer,
            back_seconds=back,
            usd=sum(account.charged for account in mine),
            tokens=sum((account.tokens for account in mine), Tokens()),
            calls=len(mine),
            lost=sum(account.state == "lost" for account in mine),
            steps=conversation.steps(self.key),
            waited_seconds=caller.waited,
            used=used,
            read=tuple(Shown.parse(note) for note in dict.fromkeys(_read(kept))),
            asked=tuple(_asked(one) for one in kept if one.name == "ask" and one.ok),
            notes=tuple(note for note in (conversation.note, self._unpriced()) if note),
        )

    def _unpriced(self) -> str:
        connection = self.agent.caller.connection
        if connection.price is not None:
            return ""
        return f"what {connection.model} costs is not known, and not counted: --price says it"


def _request(done: Done, *notices: str) -> ModelRequest:
    parts: list[ModelRequestPart] = [
        ToolReturnPart(
            tool_name=result.call.tool_name,
            content=result.text,
            tool_call_id=result.call.tool_call_id,
            outcome="success" if result.ok else "failed",
        )
        for result in done.results
    ]
    parts += [UserPromptPart(content=notice) for notice in notices]
    return ModelRequest(parts=parts)


def _read(kept: Sequence[Kept]) -> Iterator[str]:
    return (note for one in kept if one.name == "read" for note in one.notes)


def _asked(kept: Kept) -> Asked:
    question, assumption, answer = kept.notes
    return Asked(question=question, assumption=assumption, answer=answer)


def _shape(tool: object) -> list[object]:
    return [getattr(tool, name) for name in ("name", "description", "parameters_json_schema")]
