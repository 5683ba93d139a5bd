"""Whole runs with the commands held back, and what is said of a run without (cases.md, S1, S3, S8, V12)."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from harness import CHECKS, PYTEST, campaign, ended, exit_code, forked, wait_for_one

from adapters.processes import canary
from adapters.processes.sandbox import available
from domain.value import Refused

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(
        not available("auto").works, reason=f"needs a sandbox: {available('auto').why}"
    ),
]

FIND = """grep -rnE --exclude-dir=.git 'SITE:' . | sed -E 's#^\\./([^:]+):([0-9]+):.*#{"path":"\\1","line":\\2}#'"""
EDIT = 'sed -i "${SWATHE_LINE}s/SITE:/DONE:/" "$SWATHE_PATH"'
AXIS = f"cmd:{FIND} => {EDIT}"
"""An axis that needs nothing but the tree, unlike that of the harness."""


@pytest.fixture(name="boxed")
def _boxed(make):
    """Make a target that is worked on as a user's is: with the sandbox that is used when nothing is said."""

    def made(*args, axis: str = AXIS, **more):
        repo = make(*args, **more)
        repo.axis, repo.sandbox = axis, "auto"
        return repo

    return made


@pytest.fixture(name="secret")
def _secret(tmp_path: Path) -> Path:
    path = tmp_path / "operators" / "key"
    path.parent.mkdir()
    path.write_text("canary-7f3a9c")
    return path


@pytest.fixture(name="no_bubblewrap")
def _no_bubblewrap(monkeypatch):
    monkeypatch.setattr(canary, "programs", list)
    canary.bubblewrap.cache_clear()
    yield
    canary.bubblewrap.cache_clear()


def sandbox_trailers(repo) -> set[str]:
    return set(repo.log("%(trailers:key=Swathe-Sandbox,valueonly,separator=)"))


def test_a_gate_that_is_held_back_proves_commits_and_reads_nothing_of_the_operators(boxed, secret):
    """S1: the gate demands that the key cannot be read. It does not name it: what it names it is shown."""
    repo = boxed(2)

    report = repo.run(verify=(f"! cat {secret.parent}/k* && {CHECKS}",))

    assert (report.ending, len(report.landed)) == ("complete", 2)
    assert report.sandbox == "bubblewrap"
    assert not [note for note in report.notes if "sandbox" in note]
    assert "canary" not in report.to_json()
    assert sandbox_trailers(repo) == {""}


def test_without_a_sandbox_the_same_gate_reads_the_key_and_every_commit_says_so(boxed, secret):
    repo = boxed(2)

    report = repo.run(verify=(f"cat {secret} && {CHECKS}",), sandbox="off")

    assert (report.ending, report.sandbox) == ("complete", "none")
    assert any("no sandbox" in note for note in report.notes)
    assert sandbox_trailers(repo) == {"off"}


def test_a_script_of_the_operators_that_the_gate_names_is_shown_and_nothing_beside_it(
    boxed, secret
):
    repo = boxed(1)
    script = secret.with_name("check.sh")
    script.write_text(
        f"! cat {secret} && [ $(ls {secret.parent}) = check.sh ] || exit 1\n{CHECKS}\n"
    )

    assert repo.run(verify=(f"sh {script}",)).ending == "complete"


def test_where_no_sandbox_works_a_codemod_runs_and_it_is_said_three_times(
    boxed, no_bubblewrap, capfd
):
    """S3: on the terminal, in the report, in every commit."""
    repo = boxed(2)

    report = repo.run()

    assert (report.ending, len(report.landed), report.sandbox) == ("complete", 2, "none")
    assert any("no sandbox: there is no `bwrap`" in note for note in report.notes)
    assert "warning: no sandbox: there is no `bwrap`" in capfd.readouterr().err
    assert sandbox_trailers(repo) == {"off"}


def test_where_no_sandbox_works_a_run_that_requires_one_is_refused(boxed, no_bubblewrap):
    """S3: and nothing was run, not even the command that lists the sites."""
    repo = boxed(1, axis="cmd:touch listed; exit 1 => true")

    with pytest.raises(Refused, match=r"^sandbox: .*Install the system package"):
        repo.run(sandbox="required")

    assert repo.branches == []
    assert not list(repo.home.glob("targets/*/agent/listed"))


def test_a_commit_that_breaks_a_test_is_parked_and_the_others_land(boxed):
    """The target's own pytest, in an environment that is named."""
    repo = boxed(
        4,
        pytest=True,
        axis=f'cmd:{FIND} => {EDIT}; [ "$SWATHE_PATH" != m3.py ] || echo VALUE=0 > m3.py',
    )

    report = repo.run(verify=(PYTEST,))

    assert report.sandbox == "bubblewrap"
    assert [(p.site, [f.test for f in p.failures]) for p in report.parked] == [
        ("m3.py:1", ["tests/test_m3.py::test_m3"])
    ]
    assert {c.site for c in report.landed} == {"m1.py:1", "m2.py:1", "m4.py:1"}


def test_rules_of_ruff_are_carried_through_in_an_environment_made_in_the_sandbox(boxed):
    """The set-up makes it, and leaves a file in the checkout that the gate needs."""
    repo = boxed(
        1,
        {
            "pyproject.toml": "[tool.pytest.ini_options]\n",
            ".gitignore": "built.txt\n",
            "a.py": "class A(object):\n    pass\n",
        },
        axis="ruff:UP",
    )

    report = repo.run(
        environment="",
        setup=("python -c 'import sys; print(sys.prefix)' > built.txt",),
        verify=(f'grep -qx "$VIRTUAL_ENV" built.txt && python -m compileall -q a.py && {CHECKS}',),
    )

    assert (report.ending, report.sandbox) == ("complete", "bubblewrap")
    assert repo.landed("a.py") == "class A:\n    pass"


def test_a_file_that_only_the_executor_has_proves_nothing(boxed):
    """V12: ignored by git, left in the agent's clone, and needed by the gate."""
    leave = '[ "$SWATHE_PATH" != m1.py ] || { echo 1 > extra.txt; echo needs extra >> m1.py; }'
    repo = boxed(2, {".gitignore": "extra.txt\n"}, axis=f"cmd:{FIND} => {EDIT}; {leave}")

    report = repo.run(
        verify=(f"! grep -q needs m1.py || [ -e extra.txt ] || export FAIL=m1.py; {CHECKS}",)
    )

    assert [parked.site for parked in report.parked] == ["m1.py:1"]
    assert [commit.site for commit in report.landed] == ["m2.py:1"]


def running(mark: str) -> list[int]:
    """Processes with `mark` among their arguments: the command, and all that holds it back."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [int(path.parent.name)] if mark.encode() in path.read_bytes() else []
    return found


@pytest.mark.parametrize(("number", "seconds"), [(signal.SIGKILL, 1.0), (signal.SIGTERM, 10.0)])
def test_a_run_that_is_ended_in_the_gate_leaves_no_process_and_keeps_what_landed(
    boxed, number, seconds
):
    """S8, R6: nothing of the gate's reaches us but through its checkout, so it says there that it waits."""
    repo, mark = boxed(3), f"mark-{uuid4().hex}"
    waits = f"if grep -q DONE:m2 m2.py; then sleep 120 & touch inside; wait; fi # {mark}"
    engine = forked(campaign, repo.options(verify_each=True, verify=(f"{waits}\n{CHECKS}",)))
    wait_for_one(repo.home, "targets/*/gate/inside")
    left = running(mark)

    os.kill(engine.pid or 0, number)

    assert len(left) >= 3
    assert all(ended(pid, seconds) for pid in left)
    assert exit_code(engine) != 0
    assert len(repo.log()) == 1
    again = repo.run(verify=(CHECKS,))
    assert (again.ending, again.landed_before) == ("complete", 1)
