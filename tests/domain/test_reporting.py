"""How commands are asked for a report, and what is read where no report can be had."""

import json

import pytest

from domain.reporting import NODE_OPTIONS, reporting
from domain.runner_output import cargo_tests, go_tests

SCRIPTS = {
    "test": "vitest run",
    "test:jest": "NODE_ENV=test jest --ci",
    "test:mocha": "tsc -p . && mocha spec",
    "test:node": "node --test test/",
    "test:own": "jest --reporters=default",
    "test:two": "vitest run; echo done",
    "test:other": "ava",
}
VITEST = '--reporter=default --reporter=junit --outputFile.junit="$SWATHE_JUNIT/vitest-2.xml"'
JEST = '--reporters=default --reporters="$SWATHE_REPORTERS/jest.cjs"'
MOCHA = '--reporter xunit --reporter-option output="$SWATHE_JUNIT/mocha-2.xml"'


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("go test ./...", 'go test -json ./... > "$SWATHE_JUNIT/go-2.json"'),
        ("cd a && go test -race", 'cd a && go test -json -race > "$SWATHE_JUNIT/go-2.json"'),
        ("cargo test --all", 'cargo test --no-fail-fast --all 2>&1 | tee "$SWATHE_JUNIT/cargo-2.txt"'),
        ("npm test", f"npm test -- {VITEST}"),
        ("npm test -- --bail", f"npm test -- --bail {VITEST}"),
        ("yarn test:jest", f"yarn test:jest {JEST}"),
        ("npm run test:mocha", f"npm run test:mocha -- {MOCHA}"),
        ("pnpm run test:node", f'NODE_OPTIONS="{NODE_OPTIONS}" pnpm run test:node'),
        ("node --test", f'NODE_OPTIONS="{NODE_OPTIONS}" node --test'),
        ("CI=1 npx jest", f"CI=1 npx jest {JEST}"),
    ],
)  # fmt: skip
def test_a_runner_is_asked_by_words_that_it_knows(command, asked):
    assert reporting(command, SCRIPTS, 2) == asked


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest", "go test -json ./...", "go test ./... | tee log", "go test ./a; go test ./b", "go testing",
        "cargo test -- --nocapture", "cargo test && cargo doc", "cargo nextest run", "npm run test:own", "npm run test:two",
        "npm run test:other", "npm run build", "npm run test:missing", "node --test --test-reporter=tap", "node test.js",
        "make test", "npx mocha -R dot",
    ],
)  # fmt: skip
def test_any_other_command_is_run_as_it_stands(command):
    assert reporting(command, SCRIPTS, 1) == command


def event(action, test="", output="", package="x/a"):
    said = {"Action": action, "Package": package, "Test": test, "Output": output}
    return json.dumps({name: value for name, value in said.items() if value})


def test_go_packages_without_a_test_to_show_for_their_failure_are_named():
    lines = [
        "# x/c\n", "null\n", "[1]\n", "{broken\n",
        event("run", "TestA"), event("output", "TestA", "=== RUN TestA\n"), event("output", "TestA", "why\n"),
        event("fail", "TestA"), event("fail"),
        json.dumps({"ImportPath": "x/b [x/b.test]", "Action": "build-output", "Output": "b.go:1: syntax\n"}),
        json.dumps({"ImportPath": "x/b [x/b.test]", "Action": "build-fail"}),
        event("fail", package="x/b"), event("skip", package="x/none"), event("run", "TestLost"),
    ]  # fmt: skip

    assert list(go_tests(lines)) == [
        ("x/a::TestA", "failed", "why\n"),
        ("x/b::(collection)", "error", "b.go:1: syntax\n"),
    ]


def test_a_cargo_test_that_fails_has_its_own_words():
    text = """
     Running unittests src/lib.rs (target/debug/deps/x-1)
running 2 tests
test a ... FAILED
test b - should panic ... ok

failures:

---- a stdout ----
thread 'a' panicked at src/lib.rs:1:
the numbers

failures:
    a
error: test failed
     Running tests/t.rs (target/debug/deps/t-1)
test a ... ok
   Doc-tests x
test src/lib.rs - f (line 3) ... ignored
"""

    told = {name: (outcome, message) for name, outcome, message in cargo_tests(text.splitlines())}

    assert told == {
        "src/lib.rs::a": ("failed", "thread 'a' panicked at src/lib.rs:1:\nthe numbers"),
        "src/lib.rs::b": ("passed", ""),
        "tests/t.rs::a": ("passed", ""),
        "doc x::src/lib.rs - f (line 3)": ("skipped", ""),
    }
