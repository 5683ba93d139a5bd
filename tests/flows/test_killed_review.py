"""A review killed by SIGKILL, and started again by the same command (C2, M6, R1).

No commit is lost, no verdict counted twice, no answer paid twice; and it never ends before it is clean.
"""

import os
import signal
from dataclasses import replace

import pytest
from harness import exit_code, forked
from reviews import BOTH, HOLDS, attentive, fixes_all, options, review, reviewed
from stub_script import Fault

from adapters.failpoints import VARIABLE
from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

FILES = {
    "keep.txt": "one\n",
    "a/one.txt": "fine\nBUG one\n",
    "a/two.txt": "fine\nBUG two\n",
    "b/one.txt": "fine\n" * 5,
}
ASKED = {
    "hired": BOTH,
    "paths": ("a/", "b/"),
    "max_review_chunk_tokens": 12,
    "sandbox": "required",
}
MENDED = ["Mend a/one.txt", "Mend a/two.txt"]


@pytest.fixture(name="killed")
def _killed(make, serve):
    """A review that dies at a failpoint; its target and provider."""

    def killed(point, script=None):
        repo = make(0, FILES)
        repo.gate(HOLDS)
        provider = serve(script or attentive())
        kill(repo, point)
        return repo, provider

    return killed


def kill(repo, point):
    os.environ[VARIABLE] = point
    child = forked(reviewed, options(repo, **ASKED))
    del os.environ[VARIABLE]
    assert exit_code(child) == -signal.SIGKILL, f"{point} was not reached"


def twice(provider) -> list[tuple[str, int]]:
    """States of conversations that were answered, and paid, more than once."""
    rows = [(row["conversation"], row["answers"]) for row in provider.bill.rows]
    return [row for row in dict.fromkeys(rows) if rows.count(row) > 1]


def check(repo, provider, report):
    assert report.ending == "complete", report.why
    assert repo.log("%s") == MENDED
    assert repo.landed("a/two.txt") == "fine\nright"
    assert twice(provider) == []
    assert len(provider.bill.rows) == CALLS
    state = repo.state()
    assert state.review.turn == TURNS, "each verdict once"
    assert report.spend_usd == pytest.approx(state.spend_usd)
    assert report.spend_usd >= provider.bill.usd - 1e-9, "a call that was cut off counts as paid"
    assert state.open_usd == {}
    assert review(repo, **ASKED).ending == "nothing-to-do"


TURNS = 3
"""claude finds both in a, gpt reads b, claude looks at what was mended."""
CALLS = TURNS * 3 + 3


@pytest.mark.parametrize(
    "points",
    [
        [],
        ["call-reserved:2", "answer-kept:1", "phase-ended:1"],
        ["refs-moved:1", "tool-kept:1", "phase-ended:1", "shelved:1"],
        ["refs-moved:2", "refs-moved:1", "refs-moved:1"],
    ],
    ids=["calm", "while it reads", "before and in the fix", "at every write"],
)
def test_whoever_goes_on_pays_no_answer_twice_and_loses_no_commit(killed, make, serve, points):
    if points:
        repo, provider = killed(points[0])
    else:
        repo, provider = make(0, FILES), serve(attentive())
        repo.gate(HOLDS)
    for point in points[1:]:
        kill(repo, point)

    report = review(repo, **ASKED)

    check(repo, provider, report)


def test_a_kill_in_the_middle_of_a_streamed_fix_costs_that_answer_and_no_other(make, serve):
    """The commit before it is kept; the provider bills what it streamed, and so does our ledger."""
    repo = make(0, FILES)
    repo.gate(HOLDS)

    def kill_engine():
        (lock,) = repo.home.glob("targets/target-*/lock")
        os.kill(int(lock.read_text().split()[0]), signal.SIGKILL)

    def script(seen):
        said = attentive()(seen)
        cut = "PHASE: fix" in seen.user and seen.answers == 4 and not seen.attempt
        return replace(said, ending="cut", meanwhile=kill_engine) if cut else said

    provider = serve(script)
    assert exit_code(forked(reviewed, options(repo, **ASKED))) == -signal.SIGKILL
    assert repo.log() == []

    report = review(repo, **ASKED)

    assert report.ending == "complete", report.why
    assert repo.log("%s") == MENDED
    assert len(twice(provider)) == 1
    assert len(provider.bill.rows) == CALLS + 1
    assert report.spend_usd >= provider.bill.usd - 1e-9


def test_a_pause_in_the_midst_of_a_fix_is_no_attempt_and_the_next_run_begins_with_it(make, serve):
    """What a killed or a paused run had found is not looked for again; and its money counts under the same cap."""

    def script(seen):
        return Fault("quota") if "PHASE: fix" in seen.user else attentive()(seen)

    provider = serve(script)
    repo = make(0, FILES)
    repo.gate(HOLDS)

    paused = review(repo, **ASKED)

    assert (paused.ending, paused.passes) == ("paused", 1), paused.why
    assert [left.why for left in paused.remaining if left.rule == "blocker"] == [
        "no fixer was sent yet"
    ] * 2
    calls = len(provider.requests)

    provider.script = fresh_fixer
    report = review(repo, **ASKED)

    assert report.ending == "complete", report.why
    assert repo.log("%s") == MENDED
    assert "PHASE: fix" in provider.requests[calls].seen.user, "nobody looked for them again"
    assert report.passes == TURNS - 1
    spent = paused.spend_usd + report.spend_usd
    assert spent == pytest.approx(provider.bill.usd) == repo.state().spend_usd


def fresh_fixer(seen):
    """In a conversation of its own, without a review before it."""
    said = fixes_all
    if "PHASE: fix" in seen.user and "PHASE: review" not in str(seen.body):
        return said(seen, ["a/one.txt", "a/two.txt"], seen.answers)
    return attentive()(seen)


def test_the_budget_ends_a_review_with_what_has_landed_and_the_next_run_goes_on(make, serve):
    provider = serve(attentive())
    repo = make(0, FILES)
    repo.gate(HOLDS)

    report = review(repo, **ASKED, budget={"max_usd": 0.05})

    assert report.ending == "budget", report.why
    assert provider.bill.usd <= report.spend_usd + 1e-9
    again = review(repo, **ASKED, budget={"max_usd": 5})
    assert again.ending == "complete", again.why
    assert sorted(repo.log("%s")) == MENDED
