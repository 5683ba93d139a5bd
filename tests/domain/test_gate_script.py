"""Which commands of a model's may prove a commit: T29 in both directions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gate_script import MOST_COMMANDS, GateScript, masks, unfit_script


@pytest.mark.parametrize(
    "command",
    [
        "make check",
        "cd app && make -j4 check",
        "python -m doctest README.md",
        "! grep -rn TODO src",
        "test -f a.txt && sh run-tests.sh",
        "git ls-files '*.sh' | xargs -n1 sh -n",
        "find . -name '*.py' | xargs python -m py_compile",
        "echo 1 2 | ./add",
        "cat cases.txt | ./check",
        "printf 'a\\nb\\n' | grep -q a",
        "make test > /tmp/log 2>&1",
        "make test 2>&1",
        'for f in *.sh; do sh -n "$f" || exit 1; done',
        "if ! ./check; then exit 1; fi",
        "for f in a b; do if ! ./check $f; then exit 1; fi; done",
        "if [ -f Makefile ]; then make test; fi",
        "if test -f a; then make a; else make b; fi",
        "echo first; make test",
        "make test;",
        "mkdir -p /tmp/x || true",
        "command -v gcc || exit 1",
        "./check || exit 3",
        "./check || false",
        "./check || { echo broken; exit 1; }",
        "grep -q 'a | tail; b || true &' notes.txt",
        "grep -c '' a.txt",
        "diff <(./a) expected.txt",
        "./a && ./b && ./c",
        "python -c 'import a; a.check()'",
    ],
)
def test_a_command_that_tells_its_failure_is_taken(command):
    assert masks(command) == ""


@pytest.mark.parametrize(
    "command",
    [
        "make test | tail",
        "make test | tail -n 20",
        "make test 2>&1 | tee log",
        "make test | grep -v warning",
        "make test | head -1 && make lint",
        "cd app && make test | cat",
        "make test || true",
        "make test || :",
        "make test || echo failed",
        "make test || exit 0",
        "make test || make check",
        "make test; true",
        "make test; make lint",
        "make test; { true; }",
        "make test; if [ -f x ]; then exit 1; fi",
        "if [ -f x ]; then make a; make b; fi",
        "for f in a b; do ./check $f; ./other $f || exit 1; done",
        "ls | xargs -I{} sh -c 'make {} | cat'",
        "if true; then set +e; fi",
        "make test &",
        "make test & wait",
        "(make test; true)",
        "set +e",
        "set +o pipefail && make test | cat",
        "trap 'exit 0' EXIT",
        "sh -c 'make test | tail'",
        "bash -ec 'make test; true'",
        "eval make test",
        "for f in *.sh; do sh -n $f; done",
        "if make test; then echo ok; fi",
        "make 'test",
        "make test\nmake lint",
        "",
        "x" * 3000,
    ],
)
def test_a_command_that_hides_one_is_refused_before_it_is_run(command):
    """T29."""
    assert masks(command)
    assert unfit_script([command])


def test_a_script_has_to_be_able_to_fail():
    """T21: `echo ok`."""
    assert unfit_script([])
    assert unfit_script(["echo ok"])
    assert unfit_script(["true", ":"])
    assert unfit_script(["make"] * (MOST_COMMANDS + 1))
    assert unfit_script(["echo now", "make"]) == ""


@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.text(max_size=20), max_size=4))
def test_a_script_whose_commands_were_changed_is_not_sound(commands, others):
    script = GateScript.of(commands, "claude")
    changed = script.model_copy(update={"commands": GateScript.of(others, "x").commands})

    assert script.sound
    assert GateScript.from_json(script.to_json()) == script
    assert changed.sound == (changed.commands == script.commands)


@given(st.text(max_size=60))
def test_whatever_a_model_writes_is_judged(text):
    masks(text)
