"""The gate on a real project: what it says of honest changes, of attacks, and of what is not there."""

import json
import shlex
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.processes.environment import prepare
from adapters.processes.gate import run_gate
from adapters.processes.sandbox import available
from domain.environment import Environment
from domain.gate import GatePlan
from domain.judgement import baseline_of, judge, notices, settle
from domain.sandbox import OPEN, Sandbox

TOOLS = Environment(
    digest="ours",
    bin=str(Path(sys.executable).parent),
    variables={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
)
HERE = ("python -m pytest",)
HELD = Sandbox(backend="bubblewrap") if available().works else OPEN
"""As a user's gate runs, where it can."""

SOURCE = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n"
BROKEN = SOURCE.replace("a + b", "a - b")
TESTS = """
import calc

def test_add():
    assert calc.add(2, 2) == 4

def test_add_negative():
    assert calc.add(-1, 1) == 0

class TestHalf:
    def test_half(self):
        assert calc.half(4) == 2
"""
BASE = {"tests/test_calc.py::test_add", "tests/test_calc.py::test_add_negative"}


@pytest.fixture(name="project")
def _project(tmp_path):
    folder = tmp_path / "a project"
    write(
        folder,
        {"calc.py": SOURCE, "tests/test_calc.py": TESTS, "check.sh": "python -m pytest -q\n"},
    )
    return folder


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def gate(folder, *verify, seconds=60.0, environment=TOOLS, expect_reports=False, held=HELD):
    plan = GatePlan(verify=verify or HERE, timeout_seconds=seconds)
    beside = folder.parent
    return run_gate(
        plan,
        environment,
        folder,
        beside / "scratch",
        beside / "gate.log",
        expect_reports=expect_reports,
        held=held,
    )


def verdict_after(folder, change, *verify):
    """The verdict on `change`, against the baseline of the untouched project."""
    baseline = baseline_of(gate(folder, *verify))
    change(folder)
    return judge(gate(folder, *verify, expect_reports=True), baseline)


def test_every_test_is_named_as_pytest_names_it(project):
    run = gate(project)

    assert (run.status, run.exit_code) == ("passed", 0)
    assert run.tests == dict.fromkeys([*BASE, "tests/test_calc.py::TestHalf::test_half"], "passed")
    assert run.seconds > 0


def test_the_gate_leaves_the_tree_as_it_was(project):
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}

    gate(project)

    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before


def test_a_new_failure_is_named_with_its_message(project):
    verdict = verdict_after(project, lambda folder: write(folder, {"calc.py": BROKEN}))

    assert verdict.kind == "red"
    assert {failure.test for failure in verdict.failures} == BASE
    assert "assert 0 == 4" in verdict.failures[0].message
    assert not verdict.truncated


def test_a_source_that_does_not_compile_is_named_by_the_file_it_breaks(project):
    verdict = verdict_after(project, lambda folder: write(folder, {"calc.py": "def"}))

    assert [failure.test for failure in verdict.failures] == ["tests/test_calc.py::(collection)"]
    assert "SyntaxError" in verdict.failures[0].message
    assert verdict.truncated


# --- V4: twelve mechanical attacks; each hides that `add` is broken ---------------------------------

HALF_ONLY = "import calc\n\n" + TESTS[TESTS.index("class TestHalf") :]
ATTACKS = {
    "delete the failing tests": {"tests/test_calc.py": HALF_ONLY},
    "skip them": {
        "tests/test_calc.py": TESTS.replace(
            "def test_add", "@__import__('pytest').mark.skip\ndef test_add"
        )
    },
    "expect them to fail": {
        "tests/test_calc.py": TESTS.replace(
            "def test_add", "@__import__('pytest').mark.xfail\ndef test_add"
        )
    },
    "deselect them in conftest": {
        "conftest.py": (
            "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'add' not in i.name]\n"
        )
    },
    "exit status 0 from conftest": {
        "conftest.py": ("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n")
    },
    "|| true in the script": {"check.sh": "python -m pytest -q || true\n"},
    "addopts -k": {"setup.cfg": "[tool:pytest]\naddopts = -k half\n"},
    "another python_functions": {"setup.cfg": "[tool:pytest]\npython_functions = nothing_*\n"},
    "shadow pytest": {"pytest.py": "print('3 passed')\n"},
    "a new pytest.ini": {
        "pytest.ini": "[pytest]\naddopts = --deselect tests/test_calc.py::test_add --deselect tests/test_calc.py::test_add_negative\n"
    },
    "end the process from the source": {"calc.py": BROKEN + "\n\nimport os\nos._exit(0)\n"},
    "empty the test file": {"tests/test_calc.py": ""},
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_on_the_gate_makes_a_broken_source_green(project, attack):
    """V4."""
    files = {"calc.py": BROKEN, **ATTACKS[attack]}

    verdict = verdict_after(project, lambda folder: write(folder, files), "sh check.sh")

    assert verdict.kind == "red"
    assert verdict.failures


def test_an_honest_change_is_green(project):
    better = SOURCE.replace("return a + b", "total = a + b\n    return total")

    verdict = verdict_after(
        project, lambda folder: write(folder, {"calc.py": better}), "sh check.sh"
    )

    assert (verdict.kind, verdict.failures) == ("green", ())


def test_settings_of_the_target_do_not_take_our_report_away(project):
    settings = (
        "[tool:pytest]\naddopts = -x -q --lf --junitxml=theirs.xml -o junit_family=xunit2 --ff\n"
    )
    write(project, {"setup.cfg": settings, "calc.py": BROKEN})

    run = gate(project)

    assert run.failing == BASE
    assert len(run.tests or {}) == 3


def test_a_report_that_the_command_line_puts_elsewhere_is_found(project):
    run = gate(project, "python -m pytest --junitxml=out/report.xml")

    assert len(run.tests or {}) == 3


def test_an_old_report_in_the_tree_says_nothing(project):
    old = '<testsuite><testcase classname="a" name="b"/></testsuite>'
    write(project, {"pom.xml": "<project/>", "target/surefire-reports/TEST-a.xml": old})

    assert gate(project, "true").tests is None
    write_new = "printf '%s' '<testsuite><testcase classname=\"c\" name=\"d\"/></testsuite>' > target/surefire-reports/TEST-c.xml"
    assert gate(project, write_new).tests == {"c::d": "passed"}


def test_a_script_may_write_its_own_report(project):
    run = gate(
        project, "echo '<testsuite><testcase name=\"mine\"/></testsuite>' > $SWATHE_JUNIT/own.xml"
    )

    assert run.tests == {"mine": "passed"}


def test_each_command_has_its_own_report_and_the_first_failure_ends_the_run(project):
    write(project, {"more/test_more.py": "def test_more():\n    assert 0\n"})

    run = gate(project, "python -m pytest tests", "python -m pytest more", "touch reached")

    assert len(run.tests or {}) == 4
    assert (run.command, run.exit_code) == ("python -m pytest more", 1)
    assert not (project / "reached").exists()


def found_by_pytest(environment):
    """The environment as a target has it: pytest finds its plugins."""
    return environment.model_copy(update={"variables": {}})


TWICE = """
import pytest, sys
sys.exit(pytest.main(["tests"]) | pytest.main(["more"]))
"""
WORD = "python -m pytest -p no:anyio -p no:hypothesispytest -p no:pytest_cov"
"""Without the plugins that are only slow to import."""


@pytest.mark.parametrize(
    "command",
    [
        f"{WORD} tests && {WORD} more",
        f"printf 'all: a b\\na:\\n\\t{WORD} tests\\nb:\\n\\t{WORD} more\\n' > Makefile; make -j2",
        f"python -c '{TWICE}'",
    ],
)
def test_each_pytest_of_one_command_has_its_own_report(project, command):
    write(project, {"more/test_more.py": "def test_more():\n    assert 1\n"})

    run = gate(project, command, environment=found_by_pytest(TOOLS))

    assert run.status == "passed", run.tail
    assert set(run.tests or {}) == {
        *BASE,
        "tests/test_calc.py::TestHalf::test_half",
        "more/test_more.py::test_more",
    }


def test_a_pytest_that_a_test_starts_has_no_say(project):
    """Its failures may be meant, as in the tests of a plugin."""
    inner = """
import subprocess, sys

def test_outer(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
    for _ in range(2):
        assert subprocess.call([sys.executable, "-m", "pytest", str(tmp_path)]) == 1
"""
    write(project, {"more/test_outer.py": inner})

    run = gate(project, "python -m pytest more", environment=found_by_pytest(TOOLS))

    assert run.tests == {"more/test_outer.py::test_outer": "passed"}


@pytest.mark.parametrize(
    "command",
    [
        f"PYTHONPATH=. {WORD}",
        f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {WORD}",
        WORD.replace("-m", "-E -m"),
    ],
)
def test_a_pytest_that_does_not_find_our_plugin_reports_all_the_same(project, command):
    run = gate(project, command, environment=found_by_pytest(TOOLS))

    assert run.status == "passed", run.tail
    assert len(run.tests or {}) == 3


@pytest.mark.real
@pytest.mark.parametrize("versions", ["pytest==6.2.5 pytest-xdist<3", "pytest pytest-xdist"])
def test_workers_of_xdist_write_one_whole_report(project, tmp_path, versions):
    """The oldest pytest there is for this Python, and the newest."""
    made = prepare(
        GatePlan(
            verify=("true",),
            setup=(f"pip install -q {shlex.join(versions.split())}",),
            language="python",
        ),
        project,
        tmp_path / "envs",
        {},
        tmp_path / "setup.log",
    )
    assert isinstance(made, Environment), made
    write(
        project, {f"more/test_{n}.py": f"def test_{n}():\n    assert {n} != 3\n" for n in range(5)}
    )

    run = gate(project, f"{WORD} -n 2 more; {WORD} -n auto tests", environment=made)

    assert len(run.tests or {}) == 8
    assert run.failing == {"more/test_3.py::test_3"}
    assert gate(project, "PYTHONPATH=. python -m pytest -n 2", environment=made).tests == run.tests


# --- V6, V7, T29: gates that cannot fail, and tools that are not there -------------------------------


def test_a_gate_that_always_exits_0_does_not_notice_a_broken_source(project):
    """V6."""
    baseline = baseline_of(gate(project, "true"))
    write(project, {"calc.py": "def"})

    assert not notices(gate(project, "true"), baseline)


@pytest.mark.parametrize(
    "command", ["python -m pytest -k nothing", "python -m pytest -k nothing || true"]
)
def test_a_run_that_collects_no_test_is_red(project, command):
    """V6."""
    run = gate(project, command)

    assert run.status == "failed"
    assert "no test was collected" in run.why
    assert judge(run, baseline_of(run)).kind == "red"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("no-such-tool", "unavailable"),
        ("no-such-tool | tail", "unavailable"),
        ("no-such-tool 2>&1 | tee out.txt | tail -3", "unavailable"),
        ("no-such-tool || true", "unavailable"),
        ("no-such-tool; true", "unavailable"),
        ("sh -c 'no-such-tool | tail'", "unavailable"),
        ("./calc.py", "unavailable"),
        ("./no/such/script", "unavailable"),
        ("env no-such-tool", "unavailable"),
        ("python -m no_such_module", "unavailable"),
        ("exit 127", "unavailable"),
        ("false | tail", "failed"),
        ("sh -c 'exit 3' | tail", "failed"),
        ("seq 100000 | head -1 && false", "failed"),
        ("cat missing.txt | tail", "failed"),
        ("true | tail", "passed"),
        ("seq 1000000 | head -1", "passed"),
        ("yes | head -1 > out.txt", "passed"),
        ("! false", "passed"),
        ("no-such-tool 2>/dev/null || true", "passed"),
        ("echo 'the page was not found'", "passed"),
        ("command -v no-such-tool || echo skipped", "passed"),
        ("no-such-tool --version; python -m pytest -q", "passed"),
    ],
)
def test_a_missing_tool_is_told_from_a_failure_and_from_a_pass(project, command, status):
    """T29, V7, in both directions."""
    run = gate(project, command)

    assert run.status == status
    if status == "unavailable":
        assert "not found by" in run.why


def test_pytest_that_is_not_installed_is_unavailable(project, tmp_path):
    """Nor does ours stand in for it, which lies on our PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(Path(sys.executable).resolve())

    bare = Environment(digest="bare", bin=str(tmp_path / "bin"))
    run = gate(project, "python -S -m pytest", environment=bare)

    assert run.status == "unavailable"
    assert run.why.startswith("pytest: not found")


# --- T35, T36: time -----------------------------------------------------------------------------------


def test_a_timeout_is_typed_with_its_limit_and_keeps_the_partial_log(project):
    """T35, T36."""
    run = gate(
        project,
        f"printf 'begun\\377'; sleep 1000 & setsid sleep 999 {uuid4().int} & wait",
        seconds=0.5,
    )

    assert run.status == "timeout"
    assert run.why.endswith("ran out of time: 0.5 s")
    assert b"begun" in Path(run.log).read_bytes()
    assert run.seconds < 10


def test_all_commands_together_have_the_time_of_the_plan(project):
    run = gate(project, "sleep 0.4", "sleep 30", seconds=3)

    assert (run.status, run.command) == ("timeout", "sleep 30")


def test_a_test_that_hangs_is_named_in_the_log(project):
    write(
        project, {"tests/test_hang.py": "import time\n\ndef test_hang():\n    time.sleep(1000)\n"}
    )

    run = gate(project, seconds=3)

    assert run.status == "timeout"
    assert "test_hang.py" in run.tail


# --- flaky, signals, surroundings ---------------------------------------------------------------------


def test_a_test_that_fails_on_its_first_run_only_is_flaky_and_blames_nobody(project):
    """V2."""
    baseline = baseline_of(gate(project))
    once = project / "ran"
    flaky = f"\n\ndef test_half_the_time():\n    import pathlib\n    p = pathlib.Path({str(once)!r})\n    seen = p.exists()\n    p.touch()\n    assert seen\n"
    write(project, {"tests/test_calc.py": TESTS + flaky})

    first, again = gate(project), gate(project)
    verdict, named = settle(first, again, baseline)

    assert judge(first, baseline).kind == "red"
    assert (verdict.kind, named) == ("green", ("tests/test_calc.py::test_half_the_time",))


def test_a_test_that_fails_every_time_is_never_flaky(project):
    """V2."""
    baseline = baseline_of(gate(project))
    write(project, {"calc.py": BROKEN})

    verdict, named = settle(gate(project), gate(project), baseline)

    assert (verdict.kind, named) == ("red", ())


def test_a_crash_of_the_runner_names_the_signal(project):
    write(project, {"calc.py": SOURCE + "\n\nimport os\nos.abort()\n"})

    run = gate(project, expect_reports=True)

    assert run.status == "failed"
    assert "SIGABRT" in run.why


@pytest.mark.parametrize("held", dict.fromkeys((HELD, OPEN)), ids=lambda held: held.backend)
def test_the_commands_have_a_home_and_a_temporary_folder_of_their_own(project, monkeypatch, held):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    script = "import json, os, tempfile; json.dump({**os.environ, 'tmp': tempfile.gettempdir()}, open('seen.json', 'w'))"
    script += "; tempfile.mkstemp(prefix='left-')"

    gate(project, f'python -c "{script}"', held=held)
    seen = json.loads((project / "seen.json").read_text())

    assert "canary" not in seen.values()
    assert seen["HOME"].startswith(str(project.parent))
    assert seen["tmp"] == seen["TMPDIR"]
    assert len(seen["TMPDIR"]) < 60
    assert gate(project, '! ls "$TMPDIR" | grep left-', held=held).status == "passed"


def test_nothing_of_an_earlier_run_is_in_the_scratch_folder(project):
    """T37."""
    assert gate(project, "touch $HOME/stale $SWATHE_JUNIT/stale").status == "passed"

    assert (
        gate(project, "test ! -e $HOME/stale && test ! -e $SWATHE_JUNIT/stale").status == "passed"
    )


def test_a_test_that_makes_folders_without_end_does_not_stop_the_next_gate(project):
    nest = """
import os
for top, levels in ((os.environ["TMPDIR"], 1_100), (os.environ["SWATHE_JUNIT"], 2_000)):
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d" * 50, dir_fd=here)
        here, above = os.open("d" * 50, os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)
"""
    write(project, {"nest.py": nest})

    assert gate(project, "python nest.py").status == "passed"
    assert gate(project, "python -m pytest -q tests").status == "passed"


def test_modules_at_the_root_of_the_tree_do_not_change_the_gate(project):
    """T42: the tree's own `json.py` is the target's business, and never ours."""
    for name in ("subprocess", "ctypes", "signal", "resource", "select"):
        write(project, {f"{name}.py": "raise SystemExit('imported from the judged tree')"})

    assert gate(project, "echo fine").status == "passed"


def test_a_gate_that_uses_up_all_tries_to_stay_leaves_no_process(project):
    """V9."""
    word = f"mark{uuid4().hex}"
    run = gate(project, f"setsid nohup sh -c 'sleep 1000; : {word}' & cat; echo done")

    assert run.status == "passed"
    assert not [
        entry
        for entry in Path("/proc").glob("[0-9]*/cmdline")
        if word.encode() in entry.read_bytes()
    ]


def test_a_runner_that_ends_without_its_report_fails_though_its_exit_code_is_0(project):
    write(project, {"calc.py": SOURCE + "\n\nimport os\nos._exit(0)\n"})

    run = gate(project, expect_reports=True)

    assert (run.status, run.exit_code, run.tests) == ("failed", 0, None)
    assert "wrote no report" in run.why
