"""Whole runs with the commands held back, and without."""

from pathlib import Path

import pytest

from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(
        not available("auto").works,
        reason=f"needs the system package bubblewrap: {available('auto').why}",
    ),
]

COMPILED = "python3 -c 'import sys; [compile(open(name).read(), name, \"exec\") for name in sys.argv[1:]]' m1.py m2.py"


@pytest.fixture(name="secret")
def _secret(tmp_path: Path) -> Path:
    path = tmp_path / "operators" / "key"
    path.parent.mkdir()
    path.write_text("canary-7f3a9c")
    return path


def test_a_gate_that_is_held_back_proves_commits_and_reads_nothing_of_the_operators(make, secret):
    """cases.md, S1: the gate demands that the key cannot be read, so that it is red where it can."""
    repo = make(2)
    repo.verify = (f"! cat {secret} && {COMPILED}",)

    report = repo.run(sandbox="required", axis="cmd:" + FIND_AND_EDIT, environment="")

    assert report.ending == "complete"
    assert len(report.landed) == 2
    assert "canary" not in report.to_json()
    assert "Swathe-Sandbox" not in repo.git("log", "-1", "--format=%B", report.tip)


def test_without_a_sandbox_the_same_gate_reads_the_key_and_every_commit_says_so(make, secret):
    repo = make(2)
    repo.verify = (f"cat {secret} && {COMPILED}",)

    report = repo.run(axis="cmd:" + FIND_AND_EDIT, environment="")

    assert report.ending == "complete"
    assert any("no sandbox" in note for note in report.notes)
    assert "Swathe-Sandbox: off" in repo.git("log", "-1", "--format=%B", report.tip)


FIND_AND_EDIT = (
    """grep -rnE --exclude-dir=.git 'SITE:' . | sed -E 's#^\\./([^:]+):([0-9]+):.*#{"path":"\\1","line":\\2}#'"""
    """ => sed -i "${SWATHE_LINE}s/SITE:/DONE:/" "$SWATHE_PATH\""""
)
