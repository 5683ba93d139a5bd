"""A model's run killed by SIGKILL, and started again by the same command: another process, another run.

It goes on in the same conversation, and nothing that was answered is paid again (cases.md, M6, R1; T60, T85).
"""

import os
import signal
from dataclasses import replace

import pytest
from harness import campaign, exit_code, forked
from model_scripts import changing, finish, opinion, pass_of, sites
from stub_script import Call, Turn, turns

from adapters.failpoints import VARIABLE
from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every module"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
FILES = {
    "keep.txt": "one\n",
    "a.txt": "one\n",
    "b.txt": "one\n",
    "c.txt": "one\n",
    "d.txt": "one\n",
}
WORK = [
    [
        changing("a.txt", "zero\n", "Count a from zero"),
        changing("b.txt", "broken\n", "Count b from zero"),
        changing("c.txt", "zero\n", "Count c from zero"),
        finish(),
    ],
    [changing("d.txt", "zero\n", "Count d from zero"), finish()],
    [changing("b.txt", "zero\n", "Count b from zero after all"), finish()],
]
LEFT = {"path": "d.txt", "line": 1, "what": "counts from one"}


LOOK = Turn(calls=(Call("bash", {"command": "cat d.txt"}),))


def told(seen):
    """A fresh look finds what is there."""
    return sites(*[LEFT] * ("one" in seen.results[-1]))


def plays(seen):
    """What is said depends on the conversation alone, so that whoever asks again is told the same."""
    first = str(seen.body)
    if "PHASE: confirm" in first:
        return opinion("holds")
    if "PHASE: rescan" in first:
        return turns([LOOK, told])(seen)
    return turns(WORK[pass_of(seen)])(seen)


@pytest.fixture(name="served")
def _served(serve, make):
    """A repository and its provider; what it is asked to do."""

    def served(name, family="claude", **more):
        repo = make(0, FILES, name=name)
        repo.gate(CHECKS)
        asked = {"axis": AXIS, "hired": {"family": family}, "confirm": "each", **more}
        return repo, serve(plays), {"sandbox": "required", **asked}

    return served


def killed_at(repo, asked, point: str) -> None:
    os.environ[VARIABLE] = point
    child = forked(campaign, repo.options(**asked))
    del os.environ[VARIABLE]
    assert exit_code(child) == -signal.SIGKILL, f"{point} was not reached"


def tree(repo) -> str:
    return repo.git("rev-parse", f"{repo.branch}^{{tree}}")


@pytest.fixture(name="calm")
def _calm(served):
    def calm(family):
        repo, provider, asked = served("calm", family)
        assert repo.run(**asked).ending == "complete"
        return repo, len(provider.bill.rows)

    return calm


def check(repo, provider, report, undisturbed, *, cut=0):
    calm, calls = undisturbed
    assert report.ending == "complete", report.why
    assert repo.log("%s") == calm.log("%s")
    assert tree(repo) == tree(calm)
    assert len(provider.bill.rows) == calls + cut
    # What stood before is the same byte for byte, whichever process asks.
    assert all(row["read"] for row in provider.bill.rows if row["answers"])
    assert report.spend_usd >= provider.bill.usd - 1e-9
    assert repo.state().spend_usd == pytest.approx(report.spend_usd)
    assert repo.state().open_usd == {}


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_a_run_that_is_killed_again_and_again_pays_no_answer_twice(served, calm, family):
    undisturbed = calm(family)
    repo, provider, asked = served("target", family)
    for point in [
        "pass-stood:1",
        "tool-kept:1",
        "money-taken:1",
        "call-reserved:1",
        "answer-kept:1",
        "tool-kept:1",
        "phase-ended:1",
        "shelved:1",
        "phase-ended:1",
        "refs-moved:1",
        "answer-kept:1",
    ]:
        killed_at(repo, asked, point)

    report = repo.run(**asked)

    check(repo, provider, report, undisturbed)


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_a_kill_in_the_middle_of_a_streamed_answer_costs_that_answer_and_no_other(
    serve, served, calm, family
):
    """The provider bills what it streamed; so does our ledger, and asks once more."""
    undisturbed = calm(family)
    repo, _, asked = served("target", family)

    def kill():
        (lock,) = repo.home.glob("targets/target-*/lock")
        os.kill(int(lock.read_text().split()[0]), signal.SIGKILL)

    def cut(seen):
        at_work = "PHASE: work" in str(seen.body)
        if at_work and pass_of(seen) == 0 and seen.answers == 2 and not seen.attempt:
            return replace(plays(seen), ending="cut", meanwhile=kill)
        return plays(seen)

    provider = serve(cut)
    assert exit_code(forked(campaign, repo.options(**asked))) == -signal.SIGKILL

    report = repo.run(**asked)

    check(repo, provider, report, undisturbed, cut=1)
    (note,) = [note for note in report.notes if "which was killed" in note]
    assert note.startswith("goes on with pass 1 of run ")


def test_a_tool_that_was_done_and_not_kept_is_done_again_on_what_it_left(served, calm):
    """Its commit is there: the second try finds nothing to commit, which the model is told, and lands once."""
    undisturbed = calm("claude")
    repo, provider, asked = served("target")
    killed_at(repo, asked, "tool-done:4")

    report = repo.run(**asked)

    check(repo, provider, report, undisturbed)


def test_a_lock_that_a_killed_git_left_in_the_clone_is_in_nobodys_way(served, calm):
    undisturbed = calm("claude")
    repo, provider, asked = served("target")
    killed_at(repo, asked, "answer-kept:2")
    (clone,) = repo.home.glob("targets/target-*/agent")
    (clone / ".git" / "index.lock").write_text("")

    report = repo.run(**asked)

    check(repo, provider, report, undisturbed)


def test_what_a_killed_run_spent_counts_under_the_cap_of_the_next(served):
    """T60, R2: no more than the operator said, however often it is killed; and the state has all of it."""
    repo, provider, asked = served("target", confirm="off")
    killed_at(repo, asked, "phase-ended:1")
    paid = provider.bill.usd
    assert not any(ref.endswith("/state") for ref in repo.refs), "nothing was settled"

    report = repo.run(**{**asked, "budget": {"max_usd": paid}})

    assert report.ending == "budget", report.why
    assert provider.bill.usd == paid, "not one more call"
    assert repo.log("%s") == ["Count a from zero", "Count c from zero"], "what was paid for landed"
    assert report.spend_usd == pytest.approx(paid) == repo.state().spend_usd


def test_a_pass_that_was_told_something_else_is_not_gone_on_with(served):
    """Another scope is another task; what was spent stays spent."""
    repo, provider, asked = served("target")
    killed_at(repo, asked, "tool-kept:4")
    paid = provider.bill.usd

    report = repo.run(**asked, paths=("a.txt", "c.txt", "d.txt"))

    assert report.ending == "complete", report.why
    (note,) = [note for note in report.notes if "is not gone on with" in note]
    assert "it was told something else (paths)" in note
    assert report.spend_usd > paid
    assert report.spend_usd == pytest.approx(provider.bill.usd)
    assert repo.state().spend_usd == pytest.approx(report.spend_usd)


def test_a_run_that_is_killed_as_it_ends_is_counted_once(served):
    """Its last word is in the state, and its report is not written."""
    repo, provider, asked = served("target")
    killed_at(repo, asked, "state-closed:1")
    paid = provider.bill.usd
    assert repo.state().spend_usd == pytest.approx(paid)

    report = repo.run(**{**asked, "confirm": "off"})

    assert report.spend_usd == pytest.approx(provider.bill.usd - paid)
    assert repo.state().spend_usd == pytest.approx(provider.bill.usd)


def test_work_under_way_survives_the_look_of_a_rule(make, serve):
    """The sites of a rule are looked for in the clone where the model was at work."""
    edit = "sed -i s/SITE:/DONE:/ m{n}.py"
    work = [
        Turn(calls=(Call("bash", {"command": edit.format(n=1)}),)),
        Turn(calls=(Call("bash", {"command": edit.format(n=2)}),)),
        Turn(calls=(Call("bash", {"command": "git commit -qam 'Mark both'"}),)),
        finish(),
    ]
    provider = serve(turns(work))
    repo = make(2)
    asked = {"hired": {"family": "claude"}, "sandbox": "auto"}
    killed_at(repo, asked, "tool-kept:2")

    report = repo.run(**asked)

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Mark both"]
    assert "DONE" in repo.landed("m1.py")
    assert len(provider.bill.rows) == len(work)
