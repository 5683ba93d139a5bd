"""The check-up of real repositories: what is found, what is left out, and what happens when it is run."""

import sys

import pytest
from repos import Repo

from cli import checkup
from domain.target import Target

SOURCE = "def add(a, b):\n    return a + b\n"
SPEC = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 2) == 4\n"
UNIT = """
import unittest, calc

class Adding(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 2), 4)
"""
TOX = "[testenv]\ndeps = pytest\ncommands =\n    coverage erase\n    {envpython} -m pytest {posargs:checks/adding.py}\n    pytest {envtmpdir}\n"
CI = """
on: push
jobs:
  spec:
    runs-on: ubuntu-latest
    steps:
      - run: pip install -r requirements.txt
      - run: python -m unittest discover -s checks -p 'adding*.py'
      - run: python -m unittest ${{ matrix.more }}
"""


@pytest.fixture(name="checked")
def _checked(tmp_path, monkeypatch, world):
    """The check-up of a repository with these files; by the name of each check what was found."""
    monkeypatch.setenv("SWATHE_HOME", str(tmp_path / "home"))

    def checked(files, **more):
        repo = Repo(tmp_path / "target")
        repo.commit(files)
        found = checkup.doctor(Target(repo=str(repo.folder), **more))
        return found, {check.name: check for check in found.checks}

    return checked


def test_what_tox_would_run_is_run_in_the_environment_and_ci_is_seen_too(checked):
    files = {
        "calc.py": SOURCE,
        "checks/adding.py": SPEC,
        "tox.ini": TOX,
        ".github/workflows/ci.yml": CI,
    }

    found, checks = checked(files, environment=sys.prefix)

    assert found.well, checks
    assert found.gate.verify == ("python -m pytest checks/adding.py",)
    assert found.gate.source == "detected: [testenv] of tox.ini"
    assert checks["gate"].advice == "Left out: `pytest {envtmpdir}`: {envtmpdir} is not known here"
    assert checks["also seen"].found.startswith(
        "job spec of .github/workflows/ci.yml: python -m unittest"
    )
    assert "${{ matrix.more }}" in checks["also seen"].advice
    assert found.baseline.tests == 1
    assert "negative control" in checks


def test_a_job_of_ci_is_the_gate_where_there_is_nothing_else(checked):
    files = {"calc.py": SOURCE, "checks/adding.py": UNIT, ".github/workflows/ci.yml": CI}

    found, checks = checked(files, environment=sys.prefix)

    assert found.well, checks
    assert found.gate.verify == ("python -m unittest discover -s checks -p 'adding*.py'",)
    assert found.gate.source == "detected: job spec of .github/workflows/ci.yml"
    assert found.baseline.tests is None


def test_what_was_seen_and_cannot_be_run_is_said_when_there_is_no_gate(checked):
    only = "on: push\njobs:\n  spec:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pytest ${{ matrix.more }}\n"

    found, checks = checked({"calc.py": SOURCE, ".github/workflows/ci.yml": only})

    assert not found.well
    assert (
        "Seen, and not run: `pytest ${{ matrix.more }}`"
        in checks["gate"].found + checks["gate"].advice
    )
    assert "--verify" in checks["gate"].advice
