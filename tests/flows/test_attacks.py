"""Attempts to pass a gate by other means than being right: none lands (cases.md, V4, V5)."""

import pytest
from harness import breaks

from domain.report import PINNED_RED

pytestmark = pytest.mark.flow

SKIP = r"""sed -i '1i import pytest\npytestmark = pytest.mark.{mark}' tests/test_{name}.py"""
ATTACKS = {
    "m1": ("rm tests/test_m1.py", "red"),
    "m2": (SKIP.format(mark="skip", name="m2"), "red"),
    "m3": (SKIP.format(mark="xfail", name="m3"), "red"),
    "m4": (
        (
            "printf 'def pytest_collection_modifyitems(items):\\n    items[:] = [i for i in items if i.name != %s]\\n' "
            "'\"test_m4\"' > conftest.py"
        ),
        "protected config: conftest.py",
    ),
    "m5": ("printf 'import atexit, os\\natexit.register(os._exit, 0)\\n' >> m5.py", "red"),
    "m6": ("sed -i 's/$/ || true/' Makefile", "protected config: Makefile"),
    "m7": (
        "sed -i \"s/addopts = ''/addopts = '-k not_m7'/\" pyproject.toml",
        "protected deps: pyproject.toml",
    ),
    "m8": (
        "printf '[tool:pytest]\\npython_functions = check_*\\n' > setup.cfg",
        "protected config: setup.cfg",
    ),
    "m9": ("echo 'import sys; sys.exit(0)' > pytest.py", "protected config: pytest.py"),
    "m10": (
        "printf '[pytest]\\naddopts = --deselect tests/test_m10.py\\n' > pytest.ini",
        "protected config: pytest.ini",
    ),
    "m11": ("printf 'import os\\nos._exit(0)\\n' >> m11.py", "red"),
    "m12": (": > tests/test_m12.py", "red"),
}
"""By site: what is done besides breaking the module, and the check that stops it."""


def test_none_of_twelve_attacks_on_the_gate_lands_and_the_honest_commit_does(make):
    """V4: one campaign with all of them; `red` is the gate's word, the others are refused before it."""
    repo = make(
        13,
        {
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ''\n",
            "Makefile": "test:\n\tPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q\n",
        },
        pytest=True,
    )
    for name, (attack, _) in ATTACKS.items():
        repo.edits(name, f"{breaks(int(name[1:]))}{attack}\n")

    report = repo.run(verify=("make test",))

    stopped = {parked.site.removesuffix(".py:1"): parked.reason for parked in report.parked}
    assert stopped == {name: check for name, (_, check) in ATTACKS.items()}
    assert [commit.site for commit in report.landed] == ["m13.py:1"]
    assert repo.log() == [report.tip]


def test_attacks_on_files_that_the_operator_opened_are_stopped_by_the_gate(make):
    """V4: `--allow config` lets the commits in; a test that does not run any more is still missed."""
    attackers = ("m10", "m4", "m7", "m8")
    repo = make(10, {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ''\n"}, pytest=True)
    for name in attackers:
        repo.edits(name, f"{breaks(int(name[1:]))}{ATTACKS[name][0]}\n")

    report = repo.run(
        allow=("config", "deps"),
        paths=("m9.py", "conftest.py", "setup.cfg", "py*", *(f"{name}.py" for name in attackers)),
    )

    assert sorted((p.site, p.reason) for p in report.parked) == [
        (f"{name}.py:1", "red") for name in attackers
    ]
    assert [commit.site for commit in report.landed] == ["m9.py:1"]


FORGERY = r"""
import os, shlex

tests = "".join(
    f'<testcase classname="tests.test_m{n}" name="test_m{n}" file="tests/test_m{n}.py"/>' for n in range(1, 7)
)
path = next(o[11:] for o in shlex.split(os.environ["PYTEST_ADDOPTS"]) if o.startswith("--junitxml="))
open(path, "w").write(f'<testsuites><testsuite name="pytest" tests="6">{tests}</testsuite></testsuites>')
os._exit(0)
"""
REWRITING = r"""
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
SUBTLE = {
    "m1": (f"{breaks(1)}sed -i 's/== 1/== -1/' tests/test_m1.py", PINNED_RED),
    "m2": (f"{breaks(2)}cat > conftest.py << 'END'{REWRITING}END", PINNED_RED),
    "m3": (f"cat > m3.py << 'END'{FORGERY}END", "red"),
    "m4": ("printf 'import sys\nVALUE = 4 if \"pytest\" in sys.modules else -4\n' > m4.py", ""),
    "m5": (
        "printf 'class Any:\n    def __eq__(self, other):\n        return True\n\n\nVALUE = Any()\n' > m5.py",
        "",
    ),
}
"""The five that keep every test and its name. The last two are closed by no gate: README, "What Swathe does not catch"."""


def test_of_five_subtle_attacks_three_are_stopped_and_the_two_that_are_known_to_land_do(make):
    """facts/security.md §2.4: with `--allow config`, and tests open as they are to a codemod."""
    repo = make(6, pytest=True)
    for name, (attack, _) in SUBTLE.items():
        repo.edits(name, f"{attack}\n")

    report = repo.run(allow=("config",))

    stopped = {parked.site.removesuffix(".py:1"): parked.reason for parked in report.parked}
    assert stopped == {name: check for name, (_, check) in SUBTLE.items() if check}
    assert {commit.site for commit in report.landed} == {"m4.py:1", "m5.py:1", "m6.py:1"}


def test_edits_outside_the_scope_or_in_ci_files_are_refused_and_the_others_land(make):
    """V5."""
    repo = make(4, {".github/workflows/ci.yml": "on: push\n"})
    repo.edits("m1", "sed -i s/SITE/DONE/ m1.py; echo >> README.md")
    repo.edits("m2", "sed -i s/SITE/DONE/ m2.py; echo >> .github/workflows/ci.yml")

    report = repo.run(paths=("m*.py", ".github/"))

    assert {parked.site: parked.reason for parked in report.parked} == {
        "m1.py:1": "scope: README.md",
        "m2.py:1": "protected ci: .github/workflows/ci.yml",
    }
    assert [commit.site for commit in report.landed] == ["m3.py:1", "m4.py:1"]
    assert report.ending == "exhausted"


def test_a_new_secret_is_refused_and_one_that_is_there_already_is_not(make):
    """S6: neither the report nor the target holds the value of the new one."""
    old, new = "ghp_" + "aB3dE6gH9j" * 3 + "kL2mN5", "ghp_" + "zY8xW7vU1t" * 3 + "sR4qP6"
    repo = make(3, {"old.py": f"auth = '{old}'\n"})
    repo.edits("m1", f"echo \"VALUE = 1  # '{new}'\" > m1.py")
    repo.edits("m2", f"echo \"VALUE = 2  # '{old}'\" > m2.py")

    report = repo.run()

    assert [(parked.site, parked.reason) for parked in report.parked] == [
        ("m1.py:1", "new secret (GitHub Token): m1.py:1")
    ]
    assert {commit.site for commit in report.landed} == {"m2.py:1", "m3.py:1"}
    assert new not in report.to_json()
    assert not any("parked" in ref for ref in repo.refs)


def test_the_operator_can_open_a_protected_class(make):
    """V5, the other side."""
    repo = make(1, {".github/workflows/ci.yml": "on: push\n"})
    repo.edits("m1", "sed -i s/SITE/DONE/ m1.py; echo >> .github/workflows/ci.yml")

    assert repo.run(allow=("ci",)).ending == "complete"
