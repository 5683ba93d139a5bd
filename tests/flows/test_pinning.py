"""The pinned gate: who changes code and its test together proves nothing (design.md §3, step 1)."""

import math

import pytest
from harness import CHECK, CHECKS, MARK_DONE, breaks

from adapters.repository.settling import PINNED
from domain.report import PINNED_RED

pytestmark = pytest.mark.flow

TRAILER = "%(trailers:key=Swathe-Pinned,valueonly,separator=)"


def breaks_with_its_test(n):
    """As a rename does that changes what the tests of the base call."""
    return f'{breaks(n)}sed -i "s/m{n}.py {n}/m{n}.py -{n}/" tests/values\n'


def test_of_eight_commits_the_one_that_changes_code_and_test_is_parked(make):
    """The others land, verified twice where they touch tests; and no commit is blamed for another."""
    repo = make(8)
    repo.edits("m3", breaks_with_its_test(3))
    repo.edits("m5", f"{MARK_DONE}echo more > tests/more\n")

    report = repo.run()

    assert [(p.site, p.reason, [f.test for f in p.failures]) for p in report.parked] == [
        ("m3.py:1", PINNED_RED, ["checks::m3.py"])
    ]
    assert {commit.site for commit in report.landed} == {
        f"m{n}.py:1" for n in (1, 2, 4, 5, 6, 7, 8)
    }
    assert {c.site for c in report.landed if c.pinned} >= {"m5.py:1"}
    marks = dict(zip(repo.log(), repo.log(TRAILER), strict=True))
    assert marks == {c.sha: PINNED if c.pinned else "" for c in report.landed}
    of_base, twice = 2, 2
    assert report.gate_runs - of_base <= twice * (math.log2(8) + 2)
    assert repo.landed("tests/more") == "more"


def test_a_test_that_was_weakened_vouches_for_no_later_commit(make):
    """The first commit is harmless by itself, and lands; the second one hides behind it."""
    repo = make(3)
    repo.edits("m1", f'{MARK_DONE}sed -i \'s/= "VALUE = $value"/= "$a $b $c"/\' tests/check.sh\n')
    repo.edits("m2", breaks(2))

    report = repo.run(verify_each=True)

    assert [(p.site, p.reason) for p in report.parked] == [("m2.py:1", PINNED_RED)]
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m3.py:1"]


def test_what_an_earlier_run_landed_in_the_tests_vouches_for_no_later_run(make):
    repo = make(2)
    repo.edits("m1", f'{MARK_DONE}sed -i \'s/= "VALUE = $value"/= "$a $b $c"/\' tests/check.sh\n')
    repo.edits("m2", breaks(2))
    assert [c.site for c in repo.run(paths=("m1.py", "tests/")).landed] == ["m1.py:1"]

    report = repo.run()

    assert report.landed == ()
    assert [(p.site, p.reason) for p in report.parked] == [("m2.py:1", PINNED_RED)]


def test_a_change_of_tests_alone_costs_no_second_run(make):
    """Its twin is the base itself, which was verified before."""
    repo = make(1, {"tests/check.sh": f"# SITE:note\n{CHECK}"})

    report = repo.run(paths=("tests/",))

    of_base, of_the_commit = 2, 1
    assert report.gate_runs == of_base + of_the_commit
    assert [(c.site, c.pinned) for c in report.landed] == [("tests/check.sh:1", True)]


def test_a_test_that_fails_once_in_the_pinned_run_is_flaky_and_blames_nobody(make):
    """V2: the run as committed is not repeated for it."""
    repo = make(1)
    repo.edits("m1", f"{MARK_DONE}echo more > tests/more\n")
    repo.gate(f'[ "$call" != 4 ] || export FAIL=m1.py\n{CHECKS}')

    report = repo.run()

    assert report.parked == ()
    assert report.flaky == ("checks::m1.py",)
    assert [c.pinned for c in report.landed] == [True]
    of_base, as_committed, pinned = 2, 1, 2
    assert report.gate_runs == of_base + as_committed + pinned


def test_what_the_operator_changed_on_the_branch_is_held_against_nobody(make):
    """With the base's tests their own commit is red, so that those say nothing of ours."""
    repo = make(2)
    first = repo.run(paths=("m1.py",))
    repo.git("checkout", "-q", first.branch)
    repo.write({"m1.py": "VALUE = 11\n", "tests/values": "m1.py 11\nm2.py 2\n"}).commit("By hand")
    repo.git("checkout", "-q", "main")

    report = repo.run()

    assert [(c.site, c.pinned) for c in report.landed] == [("m2.py:1", False)]
