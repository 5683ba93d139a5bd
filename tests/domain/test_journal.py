"""Why a run ends: every stopping rule, without Prefect and without git."""

from typing import Any

import pytest

from domain.batch import Batch, Blame
from domain.budget import Budget
from domain.commit import ChainOnShelf
from domain.gate import Baseline, Failure, GatePlan, GateRun, Verdict
from domain.journal import Journal, Start, Survey
from domain.proof import Proof
from domain.report import EXIT_CODES, Landed, Parked
from domain.site import Listing, Site
from domain.state import State

SITES = tuple(Site(key=f"k{n}", path="a.py", line=n) for n in range(1, 4))


def surveyed(*sites: Site, landed: int = 0, **more: Any) -> Survey:
    commits = tuple(
        Landed(sha=f"s{n}", site="a.py:1", subject="x", verified="alone", run="r")
        for n in range(landed)
    )
    state = more.pop("state", State(axis="ruff:UP", landed=commits))
    return Survey(state=state, listing=Listing(sites=sites), tip="t", landed=landed, **more)


def journal(survey: Survey, **budget: Any) -> Journal:
    start = Start(
        run="r",
        axis="ruff:UP",
        target="repo",
        base="b",
        branch="refs/heads/swathe/ruff-up",
        plan=GatePlan(verify=("pytest",)),
        baseline=Baseline(run=GateRun(status="passed")),
        survey=survey,
    )
    return Journal.begin(start, Budget(**budget), "finding")


def passed(before: Journal, survey: Survey, batch: Batch | None = None) -> Journal:
    chain = ChainOnShelf(number=before.number, base="b", head="h", count=1, seconds=2.0)
    return before.record(chain, batch or Batch(pending=()), survey)


def parked(*ids: str, landed: int = 0) -> State:
    commits = tuple(
        Landed(sha=f"{n:040x}", site="a.py:1", subject="x", verified="alone", run="r")
        for n in range(landed)
    )
    red = Parked(site="a.py:1", sites=ids, reason="red")
    return State(axis="ruff:UP", landed=commits, parked=(red,))


def test_a_run_without_sites_has_nothing_to_do():
    assert journal(surveyed()).ending == "nothing-to-do"


def test_a_run_with_only_parked_sites_has_nothing_to_do_and_says_how_to_open_them():
    begun = journal(surveyed(SITES[0], state=parked("k1")))

    assert begun.ending == "nothing-to-do"
    assert "--retry" in begun.why


def test_a_run_with_an_open_site_goes_on():
    assert journal(surveyed(*SITES, state=parked("k1"))).ending is None


def test_no_site_left_after_a_pass_is_complete():
    assert passed(journal(surveyed(*SITES)), surveyed(landed=3)).ending == "complete"


def test_only_parked_sites_left_after_something_landed_is_exhausted():
    left = surveyed(SITES[0], landed=2, state=parked("k1", landed=2))

    assert passed(journal(surveyed(*SITES)), left).ending == "exhausted"


def test_only_red_work_and_nothing_landed_is_red():
    blamed = Batch(pending=(), bad=(Blame(commit="c", failures=(Failure(test="t"),)),))
    done = passed(journal(surveyed(SITES[0])), surveyed(SITES[0], state=parked("k1")), blamed)

    assert done.ending == "red"


def test_two_passes_without_a_landed_commit_are_stalled_and_one_is_not():
    once = passed(journal(surveyed(*SITES)), surveyed(*SITES))

    assert once.ending is None
    assert passed(once, surveyed(*SITES)).ending == "stalled"


def test_a_landed_commit_starts_the_count_of_still_passes_anew():
    once = passed(journal(surveyed(*SITES)), surveyed(*SITES))
    twice = passed(once, surveyed(*SITES[1:], landed=1))

    assert twice.ending is None
    assert twice.still == 0


@pytest.mark.parametrize("allowed", [1, 2, 5])
def test_so_many_passes_are_made_as_are_allowed(allowed):
    """cases.md, R8; trap T17: a bound on passes counts passes, not ways back."""
    here = journal(surveyed(*SITES), max_passes=allowed)
    made = 0
    while not here.ending:
        made += 1
        here = passed(here, surveyed(*SITES, landed=made))

    assert (here.ending, made) == ("passes", allowed)


def test_active_minutes_end_a_run_and_nothing_else_does():
    """cases.md, R9: the clock on the wall is not asked."""
    assert journal(surveyed(*SITES, elapsed=59.0), max_minutes=1).ending is None
    assert journal(surveyed(*SITES, elapsed=60.0), max_minutes=1).ending == "budget"


def test_time_that_runs_out_between_two_gates_stops_the_pass():
    begun = journal(surveyed(*SITES), max_minutes=1)
    late = begun.count(
        Proof(probe=("c",), verdict=Verdict(kind="green"), seconds=(5,), elapsed=61.0)
    )

    assert late.stopped
    assert passed(late, surveyed(*SITES[1:], landed=1, elapsed=61.0)).ending == "budget"


def test_enough_ends_a_run_after_its_pass():
    assert (
        passed(journal(surveyed(*SITES)), surveyed(*SITES[1:], landed=1, enough=True)).ending
        == "enough"
    )


def test_a_gate_that_cannot_run_ends_the_run_and_blames_nobody():
    broken = Verdict(kind="setup-failed", failures=(Failure(test="setup", message="no pip"),))
    stopped = journal(surveyed(*SITES)).count(Proof(probe=("c",), verdict=broken))
    done = passed(stopped, surveyed(*SITES))

    assert done.ending == "red"
    assert "no pip" in done.why


def test_kept_verdicts_are_no_gate_runs():
    begun = journal(surveyed(*SITES))
    ran = begun.count(Proof(probe=("c",), verdict=Verdict(kind="green"), seconds=(5,)))
    kept = ran.count(Proof(probe=("c",), verdict=Verdict(kind="green", seconds=5, kept=True)))

    assert (ran.gate_runs, kept.gate_runs) == (1, 1)
    assert kept.gate_seconds == 5


def test_the_brief_names_the_pass_the_tip_and_what_to_leave_alone():
    brief = passed(journal(surveyed(*SITES)), surveyed(*SITES, state=parked("k1"))).brief

    assert (brief.number, brief.tip, brief.settled) == (2, "t", ("k1",))


@pytest.mark.parametrize("ending", EXIT_CODES)
def test_every_ending_has_an_exit_code_of_the_contract(ending):
    assert EXIT_CODES[ending] in {0, 1, 2, 3, 75}


def test_the_report_counts_what_this_run_landed_apart_from_earlier_ones():
    earlier = Landed(sha="e", site="a.py:9", subject="old", verified="alone", run="before")
    mine = Landed(sha="m", site="a.py:1", subject="new", verified="alone", run="r")
    left = surveyed(SITES[0], state=State(axis="ruff:UP", landed=(earlier, mine)))
    report = passed(journal(surveyed(*SITES)), left.model_copy(update={"landed": 1})).report(
        "take it"
    )

    assert [commit.sha for commit in report.landed] == ["m"]
    assert report.landed_before == 1
    assert report.take == "take it"
    assert [site.why for site in report.remaining] == ["not reached"]
