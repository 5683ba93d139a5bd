"""Test outcomes out of what `go test -json` and `cargo test` print. Neither writes JUnit XML by itself."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import cast

from domain.gate import TestOutcome
from domain.judgement import COLLECTION

Told = tuple[str, TestOutcome, str]
"""Id, outcome and message of a test."""

OUTPUT_CHARACTERS = 4_000
GO_ENDS: dict[str, TestOutcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
GO_FRAME = re.compile(r"\s*(?:=== |--- (?:PASS|FAIL|SKIP))")

CARGO_TARGET = re.compile(r"\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))")
CARGO_TEST = re.compile(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")
CARGO_BLOCK = re.compile(r"---- (.+) stdout ----$")
CARGO_ENDS: dict[str, TestOutcome] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def go_tests(lines: Iterable[str]) -> Iterator[Told]:
    """From the events of `go test -json`. A package that fails with no test to show for it did not compile, or ended early."""
    said: dict[tuple[str, str], str] = defaultdict(str)
    red: set[str] = set()
    for line in lines:
        event = _event(line)
        package = event.get("Package", "") or event.get("ImportPath", "").partition(" ")[0]
        test, action = event.get("Test", ""), event.get("Action", "")
        if action in {"output", "build-output"}:
            text = event.get("Output", "")
            if not GO_FRAME.match(text):
                said[package, test] = (said[package, test] + text)[-OUTPUT_CHARACTERS:]
        elif test and action in GO_ENDS:
            text = said.pop((package, test), "")
            if action == "fail":
                red.add(package)
                text = text or "a test in it failed"
            yield f"{package}::{test}", GO_ENDS[action], text
        elif action == "fail" and package not in red:
            yield f"{package}{COLLECTION}", "error", said.pop((package, ""), "")


def go_words(lines: Iterable[str]) -> Iterator[str]:
    """What `go test` would have printed for people."""
    return (_event(line).get("Output", "") for line in lines)


def cargo_tests(lines: Iterable[str]) -> Iterator[Told]:
    """From what libtest prints, and cargo around it."""
    target = block = ""
    failed: dict[str, str] = {}
    for line in lines:
        text = line.rstrip("\n")
        if found := CARGO_TARGET.match(text):
            yield from _failures(failed)
            failed, target, block = {}, found[1] or f"doc {found[2]}", ""
        elif found := CARGO_TEST.match(text):
            name, outcome = f"{target}::{found[1]}", CARGO_ENDS[found[2]]
            if outcome == "failed":
                failed[name] = ""
            else:
                yield name, outcome, ""
        elif found := CARGO_BLOCK.match(text):
            block = f"{target}::{found[1]}"
        elif text.startswith("failures:"):
            block = ""
        elif block in failed:
            failed[block] = f"{failed[block]}{text}\n"[:OUTPUT_CHARACTERS]
    yield from _failures(failed)


def _failures(failed: dict[str, str]) -> Iterator[Told]:
    return ((name, "failed", text.strip()) for name, text in failed.items())


def _event(line: str) -> dict[str, str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    said = cast("dict[str, object]", found)
    return {name: value for name, value in said.items() if isinstance(value, str)}
