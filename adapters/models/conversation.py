"""A conversation with a model, kept on disk line by line: what was answered is never paid again.

Each line is one step: what was asked, what was sent, what was answered, what a tool said, what was cleared, how
it ended. A process that is killed leaves all but its torn last line, and the next one goes on from there, with
the same messages byte for byte, so that the provider's cache still holds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)

from adapters.models.lines import append, read_lines
from domain.outcome import Outcome
from domain.prices import Tokens
from domain.role import Phase
from domain.words import sendable

M = TypeVar("M", ModelRequest, ModelResponse)

SHORT = 400
"""Characters of a tool's words that are not worth clearing."""
CLEARED = "(cleared, {:,} characters: run it again if you need it)"


@dataclass(frozen=True)
class Kept:
    """What a tool did. Killed after it, the next process does not do it again."""

    name: str
    ok: bool
    text: str
    notes: tuple[str, ...] = ()
    """Of `read`: what it showed whole, as `path:first-last`, with `$` at the file's end; of other tools on files: their paths; of `ask`: the
    question, the assumption, the answer."""


@dataclass
class Ask:
    """One phase: its words, and how it ended."""

    key: str
    phase: Phase
    outcome: Outcome | None = None
    tools: list[str] = field(default_factory=list[str])
    """Calls of tools, in their order."""
    steps: int = 0
    """Answers of the model."""


class Unusable(Exception):
    """The file holds no conversation that could be gone on with."""


@dataclass
class Conversation:
    """`head` says what the messages depend on besides themselves; under another one they cannot be replayed."""

    path: Path
    head: dict[str, str]
    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    asks: list[Ask] = field(default_factory=list[Ask])
    answers: dict[str, tuple[float, Tokens]] = field(
        default_factory=dict[str, tuple[float, Tokens]]
    )
    tools: dict[str, Kept] = field(default_factory=dict[str, Kept])
    lines: int = 0
    cleared: int = 0
    """Of the messages before this one, the words of tools are cleared."""
    unseen: int = 0
    """Bytes that the model was not sent before."""
    total: int = 0
    """Tokens of the last request and its answer together."""
    note: str = ""
    heard: set[str] = field(default_factory=set[str])
    """Ids of the operator's words that it was told."""

    @classmethod
    def trouble(cls, path: Path, head: dict[str, str]) -> str:
        """Why the one in `path` cannot be gone on with; empty when it can. Nothing is changed."""
        made = cls(path, head)
        try:
            for record in read_lines(path):
                made._replay(record)
        except (Unusable, ValidationError, KeyError, TypeError) as error:
            return str(error).splitlines()[0]
        return ""

    @classmethod
    def open(cls, path: Path, head: dict[str, str]) -> "Conversation":
        """Go on with the one in `path`; a new one when there is none, or none that can be used."""
        made = cls(path, head)
        try:
            for record in read_lines(path):
                made._replay(record)
        except (Unusable, ValidationError, KeyError, TypeError) as error:
            aside = _free(path)
            path.rename(aside)
            why = str(error).splitlines()[0]
            made = cls(path, head)
            made.note = f"a conversation could not be gone on with ({why}); it is kept as {aside.name}, and was begun anew"
        if not made.lines:
            made._write({"r": "head", **head})
        return made

    def begin(
        self, key: str, phase: Phase, words: str, heard: Sequence[str] = ()
    ) -> Outcome | None:
        """Ask, unless it was asked before: then go on with it. Its outcome, if it has one.

        What counts is the key: the words may name what is left of a budget, which changes with every attempt.
        `heard`: words of the operator that are in them.
        """
        known = next((ask for ask in self.asks if ask.key == key), None)
        if known is not None:
            return known.outcome
        request = ModelRequest(parts=[UserPromptPart(content=words)])
        record = _dumped(request)
        self._write({"r": "ask", "key": key, "phase": phase, **_hearing(heard), "m": record})
        self.asks.append(Ask(key, phase))
        self.heard.update(heard)
        self._add_request(_plain(request, record), record)
        return None

    def send(self, request: ModelRequest, heard: Sequence[str] = ()) -> None:
        """Add what the model is to be told next; `heard`: words of the operator that are in it."""
        record = _dumped(request)
        self._write({"r": "request", **_hearing(heard), "m": record})
        self.heard.update(heard)
        self._add_request(_plain(request, record), record)

    def answered(self, response: ModelResponse, call: str, usd: float, tokens: Tokens) -> None:
        record = _dumped(response)
        self._write(
            {"r": "answer", "call": call, "usd": usd, "tokens": tokens.model_dump(), "m": record}
        )
        self._add_answer(_plain(response, record), call, usd, tokens)

    def used(self, call: str, kept: Kept) -> None:
        """Keep what a tool said, before anything comes of it."""
        self._write(
            {
                "r": "tool",
                "id": call,
                "name": kept.name,
                "ok": kept.ok,
                "text": kept.text,
                "notes": list(kept.notes),
            }
        )
        self._add_tool(call, kept)

    def clear(self, keep: int) -> int:
        """Clear what tools said before the last `keep` times, all in one go; the characters it saves.

        Rarely and in bulk: every change of the past is a whole prefix that the cache does not have.
        """
        saved, before = self.worth(keep), self._before(keep)
        if saved:
            self._write({"r": "cleared", "before": before})
            self._clear_before(before)
        return saved

    def worth(self, keep: int) -> int:
        """Characters that `clear` would save."""
        return sum(map(_clearable, self.messages[self.cleared : self._before(keep)]))

    def _before(self, keep: int) -> int:
        results = [at for at, message in enumerate(self.messages) if _has_results(message)]
        return results[-keep] if len(results) >= keep else 0

    def steps(self, key: str) -> int:
        """Answers in one phase."""
        return self._ask(key).steps

    def kept(self, key: str) -> list[Kept]:
        """What tools did in one phase."""
        return [self.tools[call] for call in self._ask(key).tools]

    def end(self, key: str, outcome: Outcome) -> None:
        self._write({"r": "end", "key": key, "outcome": outcome.model_dump(mode="json")})
        self._ask(key).outcome = outcome

    @property
    def last(self) -> ModelMessage:
        return self.messages[-1]

    def _ask(self, key: str) -> Ask:
        return next(ask for ask in self.asks if ask.key == key)

    def _write(self, record: dict[str, Any]) -> None:
        append(self.path, {"n": self.lines, **record})
        self.lines += 1

    def _replay(self, record: dict[str, Any]) -> None:
        if record["n"] != self.lines:
            raise Unusable(f"line {self.lines} is missing")
        self.lines += 1
        match record["r"]:
            case "head" if {**self.head, "n": record["n"], "r": "head"} != record:
                raise Unusable("it was held under other instructions, or with another model")
            case "head":
                pass
            case "tool":
                kept = Kept(record["name"], record["ok"], record["text"], tuple(record["notes"]))
                self._add_tool(record["id"], kept)
            case "cleared":
                self._clear_before(record["before"])
            case "end":
                self._ask(record["key"]).outcome = Outcome.model_validate(record["outcome"])
            case _:
                self._replay_message(record)

    def _replay_message(self, record: dict[str, Any]) -> None:
        message = _loaded(record["m"])
        self.heard.update(record.get("heard", ()))
        match record["r"], message:
            case "ask", ModelRequest():
                self.asks.append(Ask(record["key"], record["phase"]))
                self._add_request(message, record["m"])
            case "request", ModelRequest():
                self._add_request(message, record["m"])
            case "answer", ModelResponse():
                tokens = Tokens.model_validate(record["tokens"])
                self._add_answer(message, record["call"], record["usd"], tokens)
            case kind, _:
                raise Unusable(f"a line is of an unknown kind, {kind!r}")

    def _add_request(self, request: ModelRequest, record: dict[str, Any]) -> None:
        before = self.messages[-1] if self.messages else None
        if isinstance(before, ModelRequest):
            # The end of a phase and the beginning of the next: one turn of ours.
            self.messages[-1] = replace(before, parts=[*before.parts, *request.parts])
        else:
            self.messages.append(request)
        self.unseen += len(str(record).encode("utf-8", "surrogatepass"))

    def _add_answer(self, response: ModelResponse, call: str, usd: float, tokens: Tokens) -> None:
        self.messages.append(response)
        self.asks[-1].steps += 1
        self.answers[call] = (usd, tokens)
        self.total, self.unseen = tokens.input + tokens.output, 0

    def _add_tool(self, call: str, kept: Kept) -> None:
        self.tools[call] = kept
        self.asks[-1].tools.append(call)

    def _clear_before(self, before: int) -> None:
        for at in range(self.cleared, before):
            self.messages[at] = _without_results(self.messages[at])
        self.cleared = max(self.cleared, before)


def _hearing(heard: Sequence[str]) -> dict[str, Any]:
    return {"heard": list(heard)} if heard else {}


def _has_results(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and any(
        isinstance(part, ToolReturnPart) for part in message.parts
    )


def _clearable(message: ModelMessage) -> int:
    if not isinstance(message, ModelRequest):
        return 0
    texts = [str(part.content) for part in message.parts if isinstance(part, ToolReturnPart)]
    return sum(len(text) for text in texts if len(text) > SHORT)


def _without_results(message: ModelMessage) -> ModelMessage:
    if not _clearable(message):
        return message
    parts = [
        replace(part, content=CLEARED.format(len(str(part.content))))
        if isinstance(part, ToolReturnPart) and len(str(part.content)) > SHORT
        else part
        for part in message.parts
    ]
    return replace(message, parts=parts)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _dumped(message: ModelMessage) -> dict[str, Any]:
    return ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]


def _plain(message: M, record: dict[str, Any]) -> M:
    """The message as it will be read again, if there is anything in it that cannot be sent."""
    return message if _sendable(record) == record else cast("M", _loaded(record))


def _loaded(record: dict[str, Any]) -> ModelMessage:
    loaded: Sequence[ModelMessage] = ModelMessagesTypeAdapter.validate_python([_sendable(record)])
    return loaded[0]


def _sendable(value: Any) -> Any:
    """A record in which every text can be sent: one that cannot would be refused by every later request, too."""
    match value:
        case str():
            return sendable(value)
        case dict():
            return {name: _sendable(one) for name, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list():
            return [_sendable(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _free(path: Path) -> Path:
    """A name beside `path` that nothing has."""
    number = 1
    while (aside := path.with_name(f"{path.name}.unusable-{number}")).exists():
        number += 1
    return aside
