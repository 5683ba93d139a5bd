"""Edits that do their worst to the clone they are made in (facts, T46, T48, T49)."""

import pytest
from harness import MARK_DONE

pytestmark = pytest.mark.flow

AGAIN = "rm -rf .git && git init -q . && git add -A && git -c user.name=x -c user.email=x commit -q -m mine\n"


def test_an_edit_that_begins_the_history_anew_or_sweeps_in_junk_stops_no_other(make):
    repo = make(4, {".gitignore": "*.log\n"})
    repo.edits("m1", AGAIN + MARK_DONE)
    repo.edits("m2", "printf '\\0\\1\\2' > compiled.o\n" + MARK_DONE)
    repo.edits("m3", "echo noise > run.log\n" + MARK_DONE)

    report = repo.run()

    assert {parked.site: parked.reason for parked in report.parked} == {
        "m2.py:1": "binary: compiled.o"
    }
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m3.py:1", "m4.py:1"]
    assert repo.git("merge-base", "main", repo.branch) == report.base
    changed = repo.git("diff", "--name-only", "main", repo.branch).split()
    assert changed == ["m1.py", "m3.py", "m4.py"]
