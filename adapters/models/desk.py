"""The desk: does what the calls in an answer ask for, and says what came of each.

All calls of an answer are checked before the first is run: of an answer that is malformed in part, nothing is done.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_ai.messages import ToolCallPart

from adapters.failpoints import reach
from adapters.models.commands import CommandRefused, Commands
from adapters.models.conversation import Conversation, Kept
from adapters.models.files import Files
from adapters.models.forms import FileRefused
from adapters.models.reading import look
from adapters.models.showing import (
    OUTPUT_CHARACTERS,
    clipped,
    nearest,
)
from adapters.models.toolbox import (
    ENDINGS,
    TOOLS,
    WRITES,
    ApplyPatch,
    Ask,
    Bash,
    Edit,
    Glob,
    Grep,
    Read,
    RunGate,
    Todo,
    Write,
)
from domain.patch import PatchRefused, parse_patch, patched
from domain.redaction import Redactor
from domain.role import ENDS, READ_ONLY, Answer, Phase
from domain.words import sendable

PROBLEMS = 5
"""Of one call, told at the most."""


def _alone(question: str, assumption: str) -> str:
    return ""


@dataclass
class Bench:
    """What a model works with: its clone, and the engine's ear."""

    files: Files
    commands: Commands
    gate: Callable[[], str]
    """Checks the tree as it is; what it found, in words."""
    ask: Callable[[str, str], str] = _alone
    """Takes a question and an assumption to the operator; the answer, empty when nobody is there."""
    objection: Callable[[Phase], str] = lambda _: ""
    """Why a phase cannot end like this: a tree that is not clean. Raised once."""
    news: Callable[[], Mapping[str, str]] = dict
    """All that the operator said, by the words' ids."""
    hurry: Callable[[], str] = str
    """Why the phase has to come to its end; empty while it need not."""
    site: Callable[[], str] = str
    """What the money is spent on, for the cap on one site."""
    redactor: Redactor = field(default_factory=Redactor)
    """Takes the operator's own secrets out of what tools say."""


class Result(NamedTuple):
    """What is told of one call."""

    call: ToolCallPart
    ok: bool
    text: str


class Done(NamedTuple):
    """What came of one answer."""

    results: tuple[Result, ...]
    end: Answer | None = None
    malformed: bool = False
    """Some call was no valid call, and nothing was done."""


class Wrong(Exception):
    """What a call asks for cannot be done. The message is for the model."""


@dataclass
class Desk:
    """The tools of one phase."""

    bench: Bench
    conversation: Conversation
    phase: Phase
    objected: bool = False

    def work(self, calls: Sequence[ToolCallPart]) -> Done:
        """Run the calls one after the other; the end of the phase comes last, and only if the others worked."""
        read = [(call, self._read(call)) for call in calls]
        if any(isinstance(given, str) for _, given in read):
            return Done(tuple(_malformed(call, given) for call, given in read), malformed=True)
        results: list[Result] = []
        end: Answer | None = None
        # Python's sort keeps the order of what is equal.
        for call, given in sorted(read, key=lambda pair: pair[0].tool_name in ENDINGS):
            if call.tool_name not in ENDINGS:
                results.append(self._result(call, given))
                continue
            refusal = self._refusal(call, all(result.ok for result in results))
            if not refusal and isinstance(given, BaseModel):
                end = given  # pyright: ignore[reportAssignmentType] -- one of `ENDINGS`
            results.append(Result(call, not refusal, refusal or "The phase is over."))
        order = {call.tool_call_id: at for at, call in enumerate(calls)}
        return Done(tuple(sorted(results, key=lambda r: order[r.call.tool_call_id])), end)

    def _read(self, call: ToolCallPart) -> BaseModel | str:
        """What the call asks for, or what is wrong with it."""
        takes = TOOLS.get(call.tool_name) or ENDINGS.get(call.tool_name)
        if takes is None:
            known = ", ".join([*TOOLS, *ENDINGS])
            return f"there is no tool {call.tool_name!r}. There are: {known}."
        try:
            return takes.model_validate_json(_arguments(call))
        except ValidationError as error:
            problems = [
                f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
                for problem in error.errors()[:PROBLEMS]
            ]
            return f"{call.tool_name} was not called: {'; '.join(problems)}."

    def _refusal(self, call: ToolCallPart, others_worked: bool) -> str:
        tool, _ = ENDS[self.phase]
        if call.tool_name != tool:
            return f"This is the phase `{self.phase}`. It ends with `{tool}`."
        if not others_worked:
            return "The phase goes on: another call of the same answer failed. Look at it first."
        if not self.objected and (objection := self.bench.objection(self.phase)):
            self.objected = True
            return f"The phase goes on: {objection}"
        return ""

    def _result(self, call: ToolCallPart, given: BaseModel | str) -> Result:
        # With the number of the answer: an id need not be unique in a conversation.
        key = f"{len(self.conversation.answers)}/{call.tool_call_id}"
        kept = self.conversation.tools.get(key)
        if kept is None:
            kept = self._do(call.tool_name, given)
            reach("tool-done")
            self.conversation.used(key, kept)
            reach("tool-kept")
        return Result(call, kept.ok, kept.text)

    def _do(self, name: str, given: BaseModel | str) -> Kept:
        notes: list[str] = []
        try:
            text, ok = self._look(given, notes) or self._act(name, given, notes), True
        except (Wrong, FileRefused, PatchRefused, CommandRefused) as error:
            text, ok = str(error), False
        shown = self.bench.redactor.clean(clipped(text, 2 * OUTPUT_CHARACTERS))
        return Kept(name, ok, sendable(shown), tuple(notes))

    def _look(self, given: object, notes: list[str]) -> str:
        """What a tool says that changes no file; empty for the others."""
        bench = self.bench
        match given:
            case Bash(command=command, seconds=seconds):
                writable = self.phase not in READ_ONLY
                return bench.commands.bash(command, seconds, writable=writable)
            case Read():
                return self._show(given, notes)
            case Grep(pattern=pattern, glob=glob, ignore_case=ignore_case):
                return bench.commands.grep(pattern, glob, ignore_case=ignore_case)
            case Glob(pattern=pattern):
                return bench.commands.glob(pattern)
            case RunGate():
                return bench.gate() or "(the gate said nothing)"
            case _:
                return ""

    def _act(self, name: str, given: object, notes: list[str]) -> str:
        if name in WRITES and self.phase in READ_ONLY:
            raise Wrong(f"The phase `{self.phase}` only reads: nothing was changed.")
        match given:
            case Edit():
                return self._edit(given, notes)
            case ApplyPatch(patch=patch):
                return self._patch(patch, notes)
            case Write(path=path, text=text):
                new = self.bench.files.write(path, text)
                notes.append(path)
                return f"{'made' if new else 'replaced'} {path}"
            case Todo(items=items):
                left = sum(not item.lstrip().startswith("[x]") for item in items)
                return f"{len(items)} entries, {left} to do"
            case Ask(question=question, assumption=assumption):
                answer = self.bench.ask(question, assumption)
                notes += [question, assumption, answer]
                return answer or f"Nobody is there. Go on with your assumption: {assumption}"
            case _:
                raise AssertionError(f"a tool without a deed: {name!r}")

    def _show(self, given: Read, notes: list[str]) -> str:
        texts, problems = list[str](), list[str]()
        for path in given.paths:
            try:
                opened = look(self.bench.files, path, given)
            except FileRefused as refused:
                problems.append(f"{refused}{self._like(path)}")
                continue
            texts.append(opened.text)
            notes += [shown.note for shown in opened.shown]
        if not texts:
            raise Wrong("\n".join(problems))
        return "\n\n".join([*texts, *problems])

    def _like(self, path: str) -> str:
        name = path.rstrip("/").rpartition("/")[2]
        if not name or any(c in name for c in "*?[\\:"):
            return ""
        found = self.bench.commands.glob(name).splitlines()[:PROBLEMS]
        there = [row for row in found if row.endswith(name)]
        return f" There is: {', '.join(there)}." if there else ""

    def _edit(self, given: Edit, notes: list[str]) -> str:
        files = self.bench.files
        try:
            count = files.edit(given.path, given.old, given.new, every=given.all)
        except FileRefused as refused:
            near = self._near(given) if "does not hold" in str(refused) else ""
            raise Wrong(f"{refused} Nothing was changed.{near}") from None
        notes.append(given.path)
        return f"changed {given.path}" + (f" in {count} places" if count > 1 else "")

    def _near(self, given: Edit) -> str:
        shown = nearest(self.bench.files.read(given.path).text, given.old)
        return f" The nearest text there:\n{shown}" if shown else ""

    def _patch(self, text: str, notes: list[str]) -> str:
        files = self.bench.files
        parts = parse_patch(text)
        texts: dict[str, str] = {}
        for part in parts:
            try:
                texts[part.path] = files.read(part.path).text
            except FileRefused:
                if part.kind != "add":
                    raise
        self._put(patched(parts, texts), texts)
        notes += [part.path for part in parts]
        return "\n".join(f"{part.kind} {part.path}" for part in parts)

    def _put(self, wholes: Mapping[str, str | None], before: Mapping[str, str]) -> None:
        """Write all files, or put back those that were written. What is taken away goes last: it keeps its mode."""
        files, done = self.bench.files, list[str]()
        try:
            for path, whole in sorted(wholes.items(), key=lambda item: item[1] is None):
                if whole is None:
                    files.delete(path)
                else:
                    files.write(path, whole)
                done.append(path)
        except FileRefused as refused:
            for path in done:
                if path in before:
                    files.write(path, before[path])
                else:
                    files.delete(path)
            raise Wrong(f"{refused} Nothing was changed.") from None


def _arguments(call: ToolCallPart) -> str:
    """As the model wrote them: pydantic-ai would wrap what is no JSON."""
    if isinstance(call.args, str):
        return call.args.strip() or "{}"
    return json.dumps(call.args or {})


def _malformed(call: ToolCallPart, given: BaseModel | str) -> Result:
    if isinstance(given, str):
        return Result(call, ok=False, text=given)
    return Result(call, ok=False, text="Not run: another call of the same answer was malformed.")
