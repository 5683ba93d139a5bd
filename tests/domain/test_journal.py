"""Why a run ends: every stopping rule, without Prefect and without git."""

from typing import Any

import pytest

from domain.approval import Approval
from domain.batch import Batch
from domain.blame import Blame
from domain.budget import Budget
from domain.commit import ChainOnShelf
from domain.confirming import heard
from domain.gate import Baseline, Failure, GatePlan, GateRun, Verdict
from domain.hired import Hired
from domain.journal import Journal
from domain.ledger import Caps
from domain.proof import Proof
from domain.question import Question
from domain.reading import Confirm, Reading, Readings
from domain.report import EXIT_CODES, Landed, Parked
from domain.site import Listing, Site
from domain.state import State
from domain.survey import Start, Survey
from domain.word import Raise

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


def test_a_budget_that_was_raised_is_the_one_that_counts():
    more = Raise(max_minutes=2, max_passes=3)
    late = surveyed(*SITES, landed=1, elapsed=90.0)
    raised = late.model_copy(update={"raised": more})

    assert passed(journal(late, max_minutes=1), late).ending == "budget"
    assert passed(journal(late, max_passes=1), late).ending == "passes"
    assert passed(journal(raised, max_minutes=1, max_passes=1), raised).ending is None
    over = journal(raised, max_minutes=1).count(Proof(probe=(), elapsed=121.0, raised=more))
    assert over.ending == "budget"
    assert (
        not journal(late, max_minutes=1).count(Proof(probe=(), elapsed=119.0, raised=more)).stopped
    )


def test_a_list_that_was_not_approved_ends_a_run_before_it_begins():
    begun = journal(surveyed(*SITES))

    stopped = begun.approved(Approval(why="nobody did"))

    assert (stopped.ending, stopped.why) == ("declined", "nobody did")
    assert begun.approved(None) == begun.approved(Approval(go=True)) == begun


def test_a_question_is_asked_before_the_next_pass_and_gives_the_run_new_ones():
    question = Question.of("Which?", (), "r 1")
    chain = ChainOnShelf(number=1, base="b", head="h", count=1, question=question)
    quiet = journal(surveyed(*SITES)).record(chain, Batch(pending=()), surveyed(*SITES))
    stalled = quiet.record(chain, Batch(pending=()), surveyed(*SITES))
    last = journal(surveyed(*SITES), max_passes=1).record(
        chain, Batch(pending=()), surveyed(*SITES)
    )

    assert (quiet.ending, quiet.asks) == (None, question)
    assert (stalled.ending, stalled.asks) == ("stalled", question)
    assert (stalled.answered().ending, stalled.answered().asks) == (None, None)
    assert (last.ending, last.asks) == ("passes", None), "nobody would hear the answer"


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


HIRED = Hired(family="claude")


def hired(survey: Survey, confirm: Confirm = "off", **budget: Any) -> Journal:
    start = journal(survey).start.model_copy(update={"hired": HIRED})
    return Journal.begin(start, Budget(**budget), "finding", confirm)


def doubt(site: str, made_from: str = "c") -> Parked:
    return Parked(
        site=site, sites=("k",), reason="x", doubted_by="gpt-x", ref="r", made_from=made_from
    )


def test_caps_in_dollars_reach_the_pass_and_a_share_is_held_back_for_a_reader():
    caps = {"max_usd": 10.0, "max_usd_per_pass": 4.0, "max_usd_per_site": 1.0}

    assert hired(surveyed(*SITES), **caps).brief.caps == Caps(**caps)
    read = hired(surveyed(*SITES), "each", **caps).brief.caps
    assert read == Caps(**{**caps, "max_usd": 8.5})
    assert hired(surveyed(*SITES), "each").brief.caps == Caps()


def test_what_a_reader_spoke_against_is_told_to_the_next_pass_and_to_no_later_one():
    begun = hired(surveyed(*SITES), "each")
    said = [
        Reading(commit="c1", by="gpt-x", verdict="breaks"),
        Reading(commit="c2", by="gpt-x", verdict="holds"),
    ]
    batch = heard(Batch(pending=(), good=("c1", "c2")), Readings(read=tuple(said), seconds=3.0))

    second = passed(begun, surveyed(*SITES, landed=1), batch)
    third = passed(second, surveyed(*SITES, landed=2))

    assert (begun.brief.doubted, second.brief.doubted, third.brief.doubted) == ((), ("c1",), ())
    assert second.agent_seconds == 5.0


def test_a_file_that_is_disagreed_about_twice_is_left_to_the_operator():
    """Once is the agent's to answer; a third time nobody pays for."""
    sites = (Site(key="k1", path="a.py"), Site(key="k2", path="b.py"))
    once = State(axis="x", parked=(doubt("a.py:1"), doubt("b.py:7")))
    twice = State(axis="x", parked=(*once.parked, doubt("a.py:9"), doubt("b.py:1")))

    before = passed(hired(surveyed(*sites)), surveyed(*sites, state=once))
    after = passed(hired(surveyed(*sites)), surveyed(*sites, state=twice))

    assert (before.ending, after.ending) == (None, "exhausted")
    report = after.report("")
    assert [site.why for site in report.remaining] == ["disputed", "disputed"]
    assert len([note for note in report.notes if "yours to decide" in note]) == 2
    assert before.report("").notes == ()


def test_where_each_commit_has_to_be_read_a_reader_that_is_gone_ends_the_run():
    begun = hired(surveyed(*SITES), "each")
    gone = Readings(halt="paused", why="gpt gave no answer: paused")
    batch = Batch(pending=(), confirm="each")

    assert passed(begun, surveyed(*SITES), heard(batch, gone)).ending == "paused"
    optional = batch.model_copy(update={"confirm": "sample"})
    assert passed(begun, surveyed(*SITES), heard(optional, gone)).ending is None
