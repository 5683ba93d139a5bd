"""Commands of a model, held back: they reach their clone, and nothing else."""

import socket
from pathlib import Path

import pytest
from stub_script import turns
from talks import FINISH, bash, call, log, says

from adapters.models.commands import Commands
from adapters.processes.sandbox import available
from domain.sandbox import OPEN, Sandbox

needs_bubblewrap = pytest.mark.skipif(
    not available("auto").works, reason=f"needs bubblewrap: {available('auto').why}"
)
HELD = Sandbox(backend="bubblewrap")


@pytest.fixture(name="held", params=["bubblewrap", "landlock", "none"])
def _held(request, clone):
    if request.param == "bubblewrap" and not available("auto").works:
        pytest.skip("needs bubblewrap")
    if request.param == "landlock" and not available("landlock").works:
        pytest.skip("needs Landlock")
    return Commands(clone.folder, Sandbox(backend=request.param))


def test_a_command_tells_its_exit_code_and_its_output(held):
    assert (
        held.bash("echo out; echo err >&2; exit 3", 30, writable=True) == "exit code 3\nout\nerr\n"
    )
    assert held.bash("true", 30, writable=True) == "exit code 0\n(no output)"
    assert held.bash("cat", 30, writable=True) == "exit code 0\n(no output)"


def test_each_command_has_a_fresh_shell(held):
    held.bash("cd / && export X=1", 30, writable=True)
    assert held.bash('echo "$X"; ls', 30, writable=True) == "exit code 0\n\na.py\nb.py\n"


def test_long_output_is_cut_in_its_middle(held):
    said = held.bash("seq 1 100000", 30, writable=True)
    assert len(said) < 31_000
    assert said.startswith("exit code 0\n1\n2\n")
    assert said.endswith("99999\n100000\n")
    assert "characters left out" in said


def test_a_command_out_of_time_ends_with_all_it_started(held, clone):
    """T91."""
    said = held.bash("(sleep 30 && touch late) & echo begun; sleep 30", 1, writable=True)
    assert said.startswith("it ran out of time")
    assert "begun" in said
    assert not (clone.folder / "late").exists()


def test_a_phase_that_only_reads_cannot_write(held, clone):
    said = held.bash("cat a.py; echo x > a.py; git add a.py", 30, writable=False)
    assert "print('bye')" in said
    if held.held.backend != "none":
        assert (clone.folder / "a.py").read_text() == "print('bye')\n"
        assert not said.startswith("exit code 0")


def test_lines_and_files_are_found_new_ones_too(held, clone):
    (clone.folder / ".gitignore").write_text("out/\n")
    (clone.folder / "pkg").mkdir()
    (clone.folder / "pkg" / "new.py").write_text("Bye = 1\n")
    (clone.folder / "out").mkdir()
    (clone.folder / "out" / "made.py").write_text("bye\n")

    assert held.grep("bye", "", ignore_case=False) == "a.py:1:print('bye')"
    assert held.grep("(bye|x) =", "pkg/*.py", ignore_case=True) == "pkg/new.py:1:Bye = 1"
    assert held.grep("-n", "", ignore_case=False) == "no line matches"
    assert held.glob("*.py").split() == ["pkg/new.py", "a.py", "b.py"]
    assert held.glob("pkg/**/*.py") == "pkg/new.py"
    assert held.glob("*.rs") == "no file matches"
    assert "the search ended with exit code" in held.grep("(", "", ignore_case=False)


@needs_bubblewrap
def test_a_command_reaches_neither_the_operators_files_nor_environment_nor_services(
    clone, tmp_path, monkeypatch
):
    """cases.md, S1 and S2."""
    secret = tmp_path / "operator" / "key"
    secret.parent.mkdir()
    secret.write_text("canary-file")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-environment")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    command = f"""cat {secret}; env; cat /proc/*/environ | tr '\\0' '\\n'
        (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected"""

    said = Commands(clone.folder, HELD).bash(command, 30, writable=True)

    assert "canary" not in said
    assert "connected" not in said
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()


@needs_bubblewrap
def test_what_is_planted_in_the_clone_runs_only_inside(clone, tmp_path):
    """cases.md, S5: the searches run git in a clone whose configuration is the model's."""
    outside = tmp_path / "outside"
    outside.mkdir()
    held = Commands(clone.folder, HELD)
    hook = f"#!/bin/sh\\ntouch {outside}/ran /tmp/ran\\n"
    held.bash(
        f"printf '{hook}' > .git/hook; chmod +x .git/hook; git config core.fsmonitor .git/hook; "
        "git config diff.external .git/hook; git config core.pager .git/hook",
        30,
        writable=True,
    )

    assert held.grep("bye", "", ignore_case=False) == "a.py:1:print('bye')"
    assert held.glob("a.py") == "a.py"
    assert list(outside.iterdir()) == []


@needs_bubblewrap
def test_a_pass_in_the_sandbox_commits_and_the_next_reader_cannot(talk, clone):
    heard = []
    script = turns(
        [
            bash("sed -i s/bye/hello/ a.py && git commit -qam 'Say hello'"),
            FINISH,
            bash("git log --format=%s; echo x > a.py"),
            lambda s: heard.append(says(s)) or call("submit_verdict", verdict="holds"),
        ]
    )
    with talk(script, held=HELD).agent() as agent:
        agent.run("work", "PHASE: work", "pass-1")
        agent.run("confirm", "PHASE: confirm", "confirm-1")

    assert log(clone) == ["Say hello", "base"]
    assert "Say hello\nbase" in heard[0]
    assert "Read-only file system" in heard[0]


def test_nobody_else_is_named_in_a_commit_of_the_clone(clone):
    Commands(clone.folder, OPEN).bash("git commit -q --allow-empty -m x", 30, writable=True)
    assert clone.git("log", "-1", "--format=%an <%ae>") == "Swathe agent <agent@swathe.invalid>"


def test_the_environment_of_a_command_is_the_one_it_is_given(clone):
    held = Commands(clone.folder, OPEN, environment={"VIRTUAL_ENV": "/envs/a"})
    assert "VIRTUAL_ENV=/envs/a" in held.bash("env", 30, writable=True)
    assert Path(clone.folder).name in held.bash("pwd", 30, writable=True)
