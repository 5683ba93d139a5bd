"""Reports of tests, read as what they are: files that the judged code could have written."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import IO
from xml.parsers import expat

from domain.gate import TestOutcome
from domain.judgement import COLLECTION
from domain.runner_output import Told, cargo_tests, go_tests, go_words
from domain.value import Value

MOST_BYTES = 200_000_000
MOST_FILES = 5_000
MOST_TESTS = 500_000
MOST_MESSAGES = 50
MESSAGE_CHARACTERS = 4_000
READ_BYTES = 1 << 16
LINE_BYTES = 1 << 20

MARK = f"swathe-{token_hex(8)}"
"""What pytest calls its suite, since the gate tells it to: a report that the judged code writes by itself lacks it."""

RANK: dict[TestOutcome, int] = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}
OUTCOMES: dict[str, TestOutcome] = {"failure": "failed", "error": "error", "skipped": "skipped"}
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


class Reports(Value):
    """What the reports of one run say together."""

    files: int
    broken: tuple[str, ...]
    """Reports that end too early, are too large, or are no XML, with the reason. What they said before counts."""
    tests: dict[str, TestOutcome]
    messages: dict[str, str]
    signed: int = 0
    """Suites that bear our mark."""


class NotAReport(Exception):
    """The file does more than report tests."""


def read(paths: Iterable[Path]) -> Reports:
    """Of a test that is named twice, the worst outcome counts: a forged pass cannot undo a failure."""
    fold = _Fold()
    files = 0
    broken: list[str] = []
    for path in sorted(paths)[:MOST_FILES]:
        file = _opened(path)
        if file is None:
            continue
        files += 1
        with file:
            try:
                _read(path.suffix)(file, fold)
            except (expat.ExpatError, NotAReport, LookupError, ValueError) as error:
                broken.append(f"{path.name}: {error}")
    return Reports(
        files=files,
        broken=tuple(broken),
        tests=fold.tests,
        messages=fold.messages,
        signed=fold.signed,
    )


def readable(path: Path) -> Iterator[str]:
    """The words of a report that took the place of what its runner prints."""
    file = _opened(path) if path.suffix == ".json" else None
    if file is not None:
        with file:
            yield from go_words(_lines(file))


def small_file(path: Path) -> bytes:
    """A file of the judged tree, up to a bound; nothing when there is none."""
    file = _opened(path)
    if file is None:
        return b""
    with file:
        return file.read(LINE_BYTES)


def _opened(path: Path) -> IO[bytes] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    # Looked at before it is read: a FIFO would never end.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")


def test_id(attributes: dict[str, str]) -> str:
    """The way pytest names it where the file is known (`tests/test_a.py::TestA::test_x`), else class and name.

    An address in a parameter's name is different in every run, and is left out.
    """
    name, owner = attributes.get("name", ""), attributes.get("classname", "")
    file = attributes.get("file", "")
    dotted = file.removesuffix(".py").replace("/", ".")
    if file.endswith(".py") and not owner and name == dotted:
        return f"{file}{COLLECTION}"
    if file.endswith(".py") and f"{owner}.".startswith(f"{dotted}."):
        owner = "::".join(part for part in (file, *owner[len(dotted) + 1 :].split(".")) if part)
    return ADDRESS.sub("0x", "::".join(part for part in (owner, name) if part))


class _Fold:
    """Outcomes and messages so far, and the test that is being read."""

    def __init__(self) -> None:
        self.tests: dict[str, TestOutcome] = {}
        self.messages: dict[str, str] = {}
        self.test = ""
        self.outcome: TestOutcome = "passed"
        self.reading = False
        self.message = ""
        self.text: list[str] = []
        self.characters = 0
        self.signed = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            self.test, self.outcome, self.message = test_id(attributes), "passed", ""
        elif tag == "testsuite":
            self.signed += attributes.get("name") == MARK
        elif tag in OUTCOMES and self.test:
            if RANK[OUTCOMES[tag]] >= RANK[self.outcome]:
                self.outcome, self.message = OUTCOMES[tag], attributes.get("message", "")
            self.reading, self.text, self.characters = True, [], 0

    def take(self, told: Iterable[Told]) -> None:
        """Tests that are told with outcome and message at once."""
        for test, outcome, message in told:
            self.test, self.outcome, self.message = ADDRESS.sub("0x", test), outcome, message
            self._settle()

    def data(self, text: str) -> None:
        if not self.reading:
            return
        self.text.append(text)
        self.characters += len(text)
        if self.characters > 4 * MESSAGE_CHARACTERS:
            self.text = ["".join(self.text)[-MESSAGE_CHARACTERS:]]
            self.characters = MESSAGE_CHARACTERS

    def end(self, tag: str) -> None:
        if tag in OUTCOMES and self.reading:
            self.reading = False
            if OUTCOMES[tag] == self.outcome:
                self.message = _bounded(self.message, "".join(self.text))
        elif tag == "testcase":
            self._settle()

    def _settle(self) -> None:
        """A test that the report breaks off in is not settled: how it ended is not known."""
        if not self.test:
            return
        before = self.tests.get(self.test, "passed")
        if self.test not in self.tests and len(self.tests) >= MOST_TESTS:
            raise NotAReport(f"more than {MOST_TESTS:,} tests")
        self.tests[self.test] = max(before, self.outcome, key=RANK.__getitem__)
        bad = self.outcome in {"failed", "error"}
        if bad and (self.test in self.messages or len(self.messages) < MOST_MESSAGES):
            self.messages[self.test] = self.message
        self.test = ""


def _bounded(message: str, text: str) -> str:
    """The message, and the end of the traceback, which names what was wrong."""
    message, text = message.strip()[: MESSAGE_CHARACTERS // 4], text.strip()
    room = MESSAGE_CHARACTERS - len(message)
    tail = text if len(text) <= room else f"... {text[-room:]}"
    return "\n".join(part for part in (message if message not in tail else "", tail) if part)


def _read(suffix: str) -> Callable[[IO[bytes], _Fold], None]:
    return {".json": _go, ".txt": _cargo}.get(suffix, _parse)


def _go(file: IO[bytes], fold: _Fold) -> None:
    fold.take(go_tests(_lines(file)))


def _cargo(file: IO[bytes], fold: _Fold) -> None:
    fold.take(cargo_tests(_lines(file)))


def _lines(file: IO[bytes]) -> Iterator[str]:
    room = MOST_BYTES
    while line := file.readline(LINE_BYTES):
        room -= len(line)
        if room < 0:
            raise NotAReport(f"larger than {MOST_BYTES:,} bytes")
        yield line.decode(errors="replace")


def _parse(file: IO[bytes], fold: _Fold) -> None:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = fold.start
    parser.EndElementHandler = fold.end
    parser.CharacterDataHandler = fold.data
    parser.StartDoctypeDeclHandler = _refuse
    fold.test, fold.reading = "", False
    room = MOST_BYTES
    while chunk := file.read(READ_BYTES):
        room -= len(chunk)
        if room < 0:
            raise NotAReport(f"larger than {MOST_BYTES:,} bytes")
        parser.Parse(chunk)
    parser.Parse(b"", True)


def _refuse(*_: object) -> None:
    """No runner declares a document type, and every attack by entities does."""
    raise NotAReport("it declares a document type")
