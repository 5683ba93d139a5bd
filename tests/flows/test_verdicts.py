"""What the gate says, and what becomes of the commits (cases.md, V1-V12)."""

import math

import pytest
from harness import CHECKS, PYTEST, breaks

from domain.value import Refused

pytestmark = pytest.mark.flow


def test_a_red_base_goes_on_and_its_known_failures_are_named(make):
    """V1: of two known failures one stays and one is fixed; a third one is parked."""
    repo = make(5, m1=11, m2=22)
    repo.edits("m1", 'echo "VALUE = 11" > m1.py')
    repo.edits("m3", breaks(3))

    report = repo.run()

    assert report.baseline.failed == ("checks::m1.py", "checks::m2.py")
    assert report.fixed == ("checks::m1.py",)
    assert {commit.site for commit in report.landed} == {f"m{n}.py:1" for n in (1, 2, 4, 5)}
    assert [(p.site, [f.test for f in p.failures]) for p in report.parked] == [
        ("m3.py:1", ["checks::m3.py"])
    ]
    assert report.ending == "exhausted"


def test_a_test_that_fails_once_is_flaky_and_blames_nobody(make):
    """V2: its second answer counts."""
    repo = make(3)
    repo.gate(f'[ "$call" != 3 ] || export FAIL=m2.py\n{CHECKS}')

    report = repo.run()

    assert report.ending == "complete"
    assert report.flaky == ("checks::m2.py",)
    assert len(report.landed) == 3
    assert report.parked == ()


def test_a_test_that_fails_every_time_is_never_called_flaky(make):
    """V2, the other side."""
    repo = make(3)
    repo.gate(f'[ "$call" -lt 3 ] || export FAIL=m2.py\n{CHECKS}')
    repo.edits("m2", breaks(2))

    report = repo.run()

    assert report.flaky == ()
    assert "m2.py:1" in {parked.site for parked in report.parked}


def test_a_test_that_is_flaky_on_the_base_decides_nothing(make):
    """T40: it was red in the first of two runs of the base."""
    repo = make(2)
    repo.gate(f"[ $((call % 2)) = 0 ] || export FAIL=m2.py\n{CHECKS}")

    report = repo.run(verify_each=True)

    assert report.baseline.flaky == ("checks::m2.py",)
    assert report.baseline.failed == ()
    assert report.ending == "complete"


@pytest.mark.parametrize("silent", [False, True], ids=["named", "silent"])
@pytest.mark.parametrize("bad", [(3,), (2, 7), (1, 4, 8)], ids=len)
def test_of_eight_commits_the_good_ones_land_and_each_bad_one_is_parked(make, bad, silent):
    """V8: in at most k (log2 8 + 1) + 1 gate runs."""
    repo = make(8)
    for n in bad:
        repo.edits(f"m{n}", breaks(n))
    if silent:
        repo.gate(f"export SILENT=yes; {CHECKS}")

    report = repo.run()

    assert [parked.site for parked in sorted(report.parked, key=lambda p: p.site)] == [
        f"m{n}.py:1" for n in bad
    ]
    assert {commit.site for commit in report.landed} == {
        f"m{n}.py:1" for n in range(1, 9) if n not in bad
    }
    for parked in report.parked:
        failing = [failure.test for failure in parked.failures]
        assert failing == (
            [repo.verify[0]] if silent else [f"checks::{parked.site.removesuffix(':1')}"]
        )
    of_base = 2
    assert report.gate_runs - of_base <= len(bad) * (math.log2(8) + 1) + 1
    assert report.ending == "exhausted"


def test_the_same_tree_is_not_verified_twice(make):
    """V10, T16: a second campaign over the same commits takes the kept verdicts, and says so."""
    repo = make(3)
    repo.edits("m2", breaks(2))
    first = repo.run()
    for ref in list(repo.refs):
        if "swathe" in ref:
            repo.git("update-ref", "-d", ref)

    second = repo.run()

    assert second.gate_runs == 0 < first.gate_runs
    assert [c.site for c in second.landed] == [c.site for c in first.landed]
    assert [p.site for p in second.parked] == ["m2.py:1"]
    assert all(event["kept"] for event in repo.events(second) if event["event"] == "gate")


def test_another_gate_is_another_verdict(make):
    """V10, T21: what a gate said is not the answer of a changed one."""
    repo = make(2)
    repo.run()
    for ref in list(repo.refs):
        if "swathe" in ref:
            repo.git("update-ref", "-d", ref)

    assert repo.run(verify=(f"{CHECKS} # as strict",)).gate_runs == 3


@pytest.mark.parametrize(
    "verify",
    [
        "true",
        "echo 5 passed; exit 0",
        "m=$(grep -c . tests/values); test $m = 1",
        f"{PYTEST} tests/test_m1.py -k nothing",
        f"{PYTEST} tests/test_none.py || true",
    ],
)
def test_a_gate_that_cannot_fail_is_refused(make, verify):
    """V6, T20, T21."""
    repo = make(1, {"tests/test_m1.py": "def test_one():\n    pass\n"})

    with pytest.raises(Refused, match="gate cannot fail"):
        repo.run(verify=(verify,))

    assert repo.branches == []


def test_a_gate_that_was_refused_can_be_replaced_by_one_that_can_fail(make):
    """V6, the other side."""
    repo = make(1)
    with pytest.raises(Refused, match="gate cannot fail"):
        repo.run(verify=("true",))

    assert repo.run().ending == "complete"


@pytest.mark.parametrize(
    "verify",
    [
        "nosuchtool --check",
        "nosuchtool --check 2>&1 | tail -5",
        "sh tests/check.sh; nosuchtool | cat",
    ],
)
def test_a_tool_that_is_missing_is_said_and_never_green(make, verify):
    """V7, T29."""
    repo = make(1)

    with pytest.raises(Refused, match=r"gate unavailable.*nosuchtool"):
        repo.run(verify=(verify,))

    assert repo.branches == []
    assert repo.run(verify=(f"{CHECKS} | tail -5",)).ending == "complete"


def test_a_tool_that_goes_missing_during_the_run_is_never_green(make):
    """V7: and nobody is to blame for it, not even a commit that had one red run already."""
    repo = make(2)
    repo.edits("m1", breaks(1))
    tool = repo.tools / "checker"
    tool.write_text(f"#!/bin/sh\n{CHECKS}\n")
    tool.chmod(0o755)
    repo.gate('[ "$call" != 4 ] || mv "$tools/checker" "$tools/gone"\n"$tools/checker"')

    report = repo.run(verify_each=True)

    assert (report.ending, report.exit_code) == ("red", 1)
    assert "unavailable" in report.why
    assert report.landed == report.parked == ()
    (repo.tools / "gone").rename(tool)
    again = repo.run()
    assert ([c.site for c in again.landed], [p.site for p in again.parked]) == (
        ["m2.py:1"],
        ["m1.py:1"],
    )


def test_a_setup_that_fails_is_nobodys_fault(make):
    """V11."""
    repo = make(1)

    with pytest.raises(Refused, match=r"setup-failed.*No commit is to blame"):
        repo.run(environment="", setup=("echo cannot resolve; exit 9",))

    assert repo.refs.keys() == {"refs/heads/main"}
    assert repo.run(environment="", setup=("true",)).ending == "complete"


def test_a_file_that_only_the_executor_has_proves_nothing(make):
    """V12: ignored by git, left in the agent's clone, and needed by the gate."""
    repo = make(2, {".gitignore": "extra.txt\n"})
    repo.edits("m1", 'echo 1 > extra.txt\necho "VALUE = 1" > m1.py; echo needs extra >> m1.py\n')
    repo.gate(f"grep -q needs m1.py && {{ [ -e extra.txt ] || export FAIL=m1.py; }}\n{CHECKS}")

    report = repo.run()

    assert [parked.site for parked in report.parked] == ["m1.py:1"]
    assert [commit.site for commit in report.landed] == ["m2.py:1"]


def test_a_base_that_is_red_and_names_no_test_is_refused(make):
    repo = make(1)

    with pytest.raises(Refused, match="red on the base commit and names no tests"):
        repo.run(verify=("grep -q nothing m1.py",))

    assert repo.run().ending == "complete"


def test_an_executor_that_changes_nothing_makes_no_commit_and_completes_nothing(make):
    """V3, T18, T22: whatever it says."""
    repo = make(1)
    repo.edits("m1", "echo done, all tests pass\n")

    report = repo.run()

    assert report.ending == "stalled"
    assert report.exit_code == 1
    assert report.landed == report.parked == ()
    assert repo.branches == []
    assert [site.site for site in report.remaining] == ["m1.py:1"]
    assert any("no edit" in note for note in report.notes)


def test_the_trailers_say_how_each_commit_was_verified(make):
    """T41."""
    form = "%(trailers:key=Swathe-Gate,valueonly,separator=)"
    repo = make(3)
    repo.edits("m3", breaks(3))
    repo.run()

    assert repo.log(form) == ["batch of 2", "batch of 2"]

    other = make(2, name="other")
    report = other.run(verify_each=True)

    assert other.log(form) == ["alone", "alone"]
    assert [commit.verified for commit in report.landed] == ["alone", "alone"]
