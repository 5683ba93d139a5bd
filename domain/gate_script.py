"""The gate script: commands that prove a commit, written by a model where none were found, owned and run by the engine.

A command that hides a failure is refused before it is run: `make test | tail` ended well where there was no compiler.
"""

import json
import re
import shlex
from collections.abc import Sequence
from hashlib import sha256

from domain.gate import GatePlan, Language
from domain.script_lines import PIECE
from domain.value import Value

WRITTEN = "written by "
MOST_COMMANDS = 20
MOST_CHARACTERS = 2_000
"""Of one command."""
DIGEST_DIGITS = 12

FILTERS = re.compile(r"(?:tail|head|tee|wc|less|more|cat|grep|egrep|sed|awk|sort|uniq|tr|cut)\b")
"""They end well, whatever came before them."""
SAYS = re.compile(r"(?:echo|printf|cat|ls|find|git ls-files|seq|yes)\b")
"""What is said to a pipe, and proves nothing by itself."""
ASKS = re.compile(r"(?:test|\[|command -v|which|type|hash|mkdir|rm|cp|export|cd)\b|\[")
"""May fail as a part of the script."""
ENDS_BADLY = re.compile(r"(?:^|\s)(?:exit [1-9]\d*|false|return [1-9]\d*)(?=\s|$)")
OPENS = re.compile(r"(?:for|while|until|if|elif|case|select)\s")
GOES_ON = re.compile(r"(?:then|do|else|elif|fi|esac|\})(?=\s|$)")
WORD = re.compile(r"(?:do|then|else|if|elif|while|until|\{|!)\s+")
CONDITION = re.compile(r"(?:if|elif|while|until)\s+(?:!\s+)?(.*)")
HARMLESS = re.compile(r"(?:true|:|echo|printf|exit 0|cd|export|sleep|pwd|ls|cat)(?=\s|$)")
NESTED = re.compile(r"(?:^|\s)(?:(?:\S*/)?(?:ba|da|z|k|fi)?sh\s+(?:-\w+\s+)*-\w*c|eval)(?=\s|$)")
SWITCHES = re.compile(r"(?:set\s+\+|shopt\b|trap\b|exec\b)")


class GateScript(Value):
    """The commands, in order, and who wrote them."""

    commands: tuple[str, ...]
    by: str
    """The model."""
    note: str = ""
    digest: str
    """Of the commands: what was changed since is not run."""

    @classmethod
    def of(cls, commands: Sequence[str], by: str, note: str = "") -> "GateScript":
        plain = tuple(command.strip() for command in commands)
        return cls(commands=plain, by=by, note=note, digest=_digest(plain))

    @property
    def sound(self) -> bool:
        return self.digest == _digest(self.commands)

    def plan(self, language: Language) -> GatePlan:
        source = f"{WRITTEN}{self.by}, since none was found; script {self.digest}"
        return GatePlan(verify=self.commands, language=language, source=source)


def _digest(commands: Sequence[str]) -> str:
    return sha256(json.dumps(list(commands)).encode()).hexdigest()[:DIGEST_DIGITS]


def unfit_script(commands: Sequence[str]) -> str:
    """Why these commands can't be a gate, in words for whoever wrote them; an empty word when they can."""
    if not commands:
        return "There is no command."
    if len(commands) > MOST_COMMANDS:
        return f"There are {len(commands)} commands; {MOST_COMMANDS} are allowed."
    for command in commands:
        if why := masks(command.strip()):
            return f"`{command.strip()}`: {why}."
    if all(HARMLESS.match(command.strip()) and "&&" not in command for command in commands):
        return "None of these commands can fail."
    return ""


def masks(command: str) -> str:
    """How a command hides a failure, or why that can't be told; an empty word when it does not."""
    if why := _malformed(command):
        return why
    pieces = [(text.strip(), mark) for text, mark in PIECE.findall(command) if text.strip() or mark]
    parts = [text for text, mark in pieces if not mark]
    for part in parts:
        if NESTED.search(part):
            return "a shell in it hides what is run: give the command itself"
        if SWITCHES.match(_bare(part)):
            return f"`{_bare(part).split()[0]}` changes how failures are told"
    conditions = [found[1] for part in parts if (found := CONDITION.match(part))]
    if not all(map(ASKS.match, conditions)) and not any(map(ENDS_BADLY.search, parts)):
        return "its condition swallows a failure: end it with `exit 1` where it has failed"
    return next((why for n in range(len(pieces)) if (why := _joint(pieces, n))), "")


def _malformed(command: str) -> str:
    if not command or not command.isprintable():
        return "it is empty, or not one printable line: give each command by itself"
    if len(command) > MOST_CHARACTERS:
        return f"it has {len(command):,} characters; {MOST_CHARACTERS:,} are allowed"
    try:
        shlex.split(command)
    except ValueError:
        return "its quotes do not match"
    return ""


def _joint(pieces: Sequence[tuple[str, str]], at: int) -> str:
    """What is wrong with the mark that joins two parts there."""
    _, mark = pieces[at]
    before = pieces[at - 1][0] if at else ""
    after = pieces[at + 1][0] if at + 1 < len(pieces) else ""
    if mark == "&":
        return "`&` leaves a command behind that nobody waits for"
    if mark == "|" and FILTERS.match(after) and not SAYS.match(_bare(before)):
        return f"`| {after.split()[0]}` hides how the command before it ended: take it away"
    if mark == "||" and not (ASKS.match(_bare(before)) or _ends_badly(pieces[at + 1 :])):
        return f"`|| {after}` hides a failure: take it away"
    return _semicolon(pieces, at) if mark == ";" else ""


def _ends_badly(rest: Sequence[tuple[str, str]]) -> bool:
    """Whether what follows says itself that something failed."""
    if not rest:
        return False
    grouped = rest[0][0].startswith("{")
    return any(ENDS_BADLY.search(text) for text, _ in (rest if grouped else rest[:1]))


def _semicolon(pieces: Sequence[tuple[str, str]], at: int) -> str:
    before = pieces[at - 1][0] if at else ""
    after = pieces[at + 1][0] if at + 1 < len(pieces) else ""
    if after.startswith("done"):
        told = at >= 2 and pieces[at - 2][1] == "||"  # noqa: PLR2004 -- the part and its mark
        if told or before in ("fi", "esac", "done", "}"):
            return ""
        return "of a loop, the last round alone tells: add `|| exit 1` to what it does"
    goes_on = not after or OPENS.match(before) or GOES_ON.match(after)
    if goes_on or HARMLESS.match(_bare(before)):
        return ""
    return "`;` goes on after a failure: use `&&`, or give each command by itself"


def _bare(part: str) -> str:
    """Without the words of a shell around it."""
    while found := WORD.match(part):
        part = part[found.end() :]
    return part
