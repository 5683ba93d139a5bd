"""Why a run of the review loop ends: T10, T14, T17, C1 to C4, R8, R10, R11."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import CLEAN, blocked, chunks, kept, path, planned, sweep

from domain.assignment import Checked, Heard
from domain.batch import Batch
from domain.budget import Budget
from domain.commit import ChainOnShelf
from domain.gate import Baseline, GatePlan, GateRun
from domain.journal import Journal
from domain.report import EXIT_CODES, Landed
from domain.review_journal import ReviewJournal
from domain.review_state import Look, ReviewState
from domain.site import Listing
from domain.standing import stand
from domain.state import State
from domain.survey import Start, Survey
from domain.sweep import Sweep, Terms
from domain.verdict import Count


def surveyed(landed: int = 0, **more: Any) -> Survey:
    commits = tuple(
        Landed(sha=f"s{n}", site="a.py:1", subject="x", verified="alone", run="r")
        for n in range(landed)
    )
    return Survey(
        state=State(axis="review", landed=commits),
        listing=Listing(),
        tip="t",
        landed=landed,
        **more,
    )


def begun(
    where: Sweep, state: ReviewState | None = None, most: int = 15, **budget: Any
) -> ReviewJournal:
    start = Start(
        run="r",
        axis="review",
        target="repo",
        base="b",
        branch="refs/heads/swathe/review",
        plan=GatePlan(verify=("pytest",)),
        baseline=Baseline(run=GateRun(status="passed")),
        survey=surveyed(),
    )
    campaign = Journal.begin(start, Budget(**budget), "finding")
    return ReviewJournal.begin(campaign, stand(state or ReviewState(), where), most)


MADE = ChainOnShelf(number=1, base="b", head="h", count=1)
DECIDED = Batch(pending=())


class World:
    """A repository whose files have a content each, and a fixer."""

    def __init__(self, size: int, fix: str = "landed", **terms: Any) -> None:
        self.contents = dict.fromkeys(range(size), 1)
        self.fix, self.terms, self.landed = fix, terms, 0
        self.state = ReviewState()

    @property
    def sweep(self) -> Sweep:
        blobs = {f"p{n}": str(content) for n, content in self.contents.items()}
        return sweep(*chunks(len(self.contents), **blobs), **self.terms)

    def run(self, reviewer: Callable[[Look], Count], most: int = 15) -> ReviewJournal:
        """As the flow does it."""
        self.state = kept(self.state).asked_anew()
        journal = begun(self.sweep, self.state, most)
        while look := journal.look:
            count = reviewer(look)
            self.state = kept(self.state.record(self.sweep, look, count))
            journal = journal.record(look, Heard(count=count), self.checked)
            due = self.state.to_fix(self.sweep, look.chunk)
            if count.kind == "blocked" and due and journal.may_mend:
                if self.fix == "landed":
                    self.contents[look.chunk] += 1
                    self.landed += 1
                outcomes = {one.id: self.fix for one in due}
                self.state = kept(self.state.settle(self.sweep, outcomes, {}))
                journal = journal.fixed(MADE, DECIDED, self.checked)
        return journal

    @property
    def checked(self) -> Checked:
        return Checked(standing=stand(self.state, self.sweep), survey=surveyed(self.landed))


def finds_one_more(look: Look) -> Count:
    return blocked(f"{path(look.chunk)}:{look.turn + 1}")


def insists(look: Look) -> Count:
    return blocked(f"{path(0)}:1") if look.chunk == 0 else CLEAN


def test_a_clean_repository_is_complete():
    journal = World(3).run(lambda _: CLEAN)

    assert (journal.ending, journal.passes) == ("complete", 3)
    assert "3 chunks are clean after 3 passes" in journal.why


def test_c3_t04_a_second_run_has_nothing_to_do_and_asks_nobody():
    world = World(3)
    world.run(lambda _: CLEAN)

    journal = world.run(lambda _: pytest.fail("somebody was asked"))

    assert (journal.ending, journal.passes) == ("nothing-to-do", 0)


def test_a_blocker_is_fixed_and_its_chunk_looked_at_again():
    world = World(3)

    def once(look: Look) -> Count:
        wrong = look.chunk == 1 and world.contents[1] == 1
        return blocked(f"{path(1)}:1") if wrong else CLEAN

    journal = world.run(once)

    assert (journal.ending, journal.passes, world.landed) == ("complete", 4, 1)


@pytest.mark.parametrize("stop_when", ["streak", "covered", "covered_by_both"])
def test_t01_c1_more_chunks_than_passes_are_finished_by_a_second_run(stop_when: str):
    world = World(10, stop_when=stop_when)

    first, second = world.run(lambda _: CLEAN, 9), world.run(lambda _: CLEAN, 15)

    assert (first.ending, second.ending) == ("passes", "complete")
    assert EXIT_CODES["passes"] == 3
    assert "goes on from there" in first.why


@pytest.mark.parametrize("most", [1, 2, 15])
def test_t17_r8_the_bound_is_the_number_of_passes(most: int):
    assert World(30).run(lambda _: CLEAN, most).passes == most


@pytest.mark.parametrize("stop_when", ["streak", "covered", "covered_by_both"])
def test_t10_c4_a_reviewer_that_always_finds_one_more_ends_with_commits_and_what_remains(
    stop_when: str,
):
    world = World(2, stop_when=stop_when)

    journal = world.run(finds_one_more)
    report = journal.report("git merge")

    assert journal.ending == "passes"
    assert len(report.landed) >= 14
    assert {left.rule for left in report.remaining} >= {"chunk"}


@pytest.mark.parametrize("stop_when", ["streak", "covered", "covered_by_both"])
def test_t14_the_same_blocker_after_an_attempt_ends_the_run_long_before_its_bound(stop_when: str):
    world = World(2, "no edit", stop_when=stop_when)

    journal = world.run(insists)

    assert journal.ending == "stalled"
    assert journal.passes <= 5
    assert "--retry" in journal.why
    (left,) = [one for one in journal.report("").remaining if one.rule == "blocker"]
    assert (left.site, "no edit" in left.why) == (f"{path(0)}:1", True)


def test_t15_after_that_another_run_asks_nobody():
    world = World(2, "no edit")
    world.run(insists)

    journal = world.run(lambda _: pytest.fail("somebody was asked"))

    assert (journal.ending, journal.passes) == ("stalled", 0)


def test_only_red_fixes_are_red_unless_something_landed():
    assert World(2, "red").run(insists).ending == "red"

    world = World(2, "red")
    world.landed = 1
    assert world.run(insists).ending == "exhausted"


def test_c7_an_unsure_reviewer_sends_no_fixer_and_ends_stalled_with_its_reason():
    world = World(1)
    unsure = Count(kind="unsure", reason="a rejection of low confidence")

    journal = world.run(lambda _: unsure)

    assert (journal.ending, journal.passes, world.landed) == ("stalled", 2, 0)
    assert "low confidence" in journal.report("").remaining[0].why


@pytest.mark.parametrize("stop_when", ["streak", "covered", "covered_by_both"])
def test_the_doubt_of_a_family_that_has_to_be_heard_is_named(stop_when: str):
    """The other one found all of it clean, and that is not enough."""
    unsure = Count(kind="unsure", reason="a rejection of low confidence")

    journal = World(1, stop_when=stop_when).run(
        lambda look: unsure if look.family == "claude" else CLEAN
    )

    assert journal.ending == "stalled"
    assert "claude: a rejection of low confidence" in journal.report("").remaining[0].why


def test_t12_reviewers_without_a_verdict_never_end_a_run_as_a_success():
    journal = World(3).run(lambda _: Count(kind="void", reason="no verdict"), 100)

    assert (journal.ending, journal.passes) == ("stalled", 12)


def test_c6_what_was_not_shown_is_in_the_report():
    cut = Count(kind="unsure", reason="not shown", not_shown=("p0/f.py:80-90",))

    report = World(1).run(lambda _: cut).report("")

    assert any("p0/f.py:80-90" in note for note in report.notes)


def test_t07_r11_an_empty_plan_is_refused_with_what_was_skipped_and_nobody_is_asked():
    empty = Sweep(planned(skipped={"binary": 3, "out of scope": 40}), Terms(families=("claude",)))

    journal = begun(empty)

    assert (journal.ending, journal.look) == ("refused", None)
    assert EXIT_CODES["refused"] == 2
    assert "40 out of scope" in journal.why


def test_r10_enough_is_heard_after_the_pass():
    where, state = sweep(*chunks(3)), ReviewState()
    journal = begun(where)
    look = journal.look
    assert look
    state = state.record(where, look, CLEAN)

    checked = Checked(standing=stand(state, where), survey=surveyed(enough=True))
    journal = journal.record(look, Heard(count=CLEAN), checked)

    assert (journal.ending, journal.passes, journal.look) == ("enough", 1, None)
    assert "2 chunks without a clean verdict left" in journal.why


@pytest.mark.parametrize("halt", ["budget", "paused", "refused"])
def test_who_cannot_be_asked_any_more_ends_the_run_in_his_words(halt: Any):
    journal = begun(sweep(*chunks(3))).halted_by(halt, "come back at 9")

    assert journal.ending == halt
    assert "come back at 9" in journal.why


def test_the_last_pass_that_converges_is_complete_whatever_else_is_reached():
    journal = World(3).run(lambda _: CLEAN, 3).halted_by("budget", "spent")

    assert journal.ending == "complete"


def test_time_is_a_budget():
    journal = begun(sweep(*chunks(3)), max_minutes=1)
    assert journal.ending is None

    late = journal.fixed(
        MADE, DECIDED, Checked(standing=journal.standing, survey=surveyed(elapsed=61.0))
    )

    assert late.ending == "budget"
    assert "1.0 of 1.0 minutes" in late.why


def test_a_broken_gate_is_red_even_where_all_is_clean():
    journal = World(1).run(lambda _: CLEAN)
    broken = journal.campaign.model_copy(update={"stopped": "no module named pytest"})

    journal = journal.model_copy(update={"campaign": broken})

    assert (journal.ending, journal.why) == ("red", "no module named pytest")


def test_what_remains_is_known_to_the_rest_of_the_engine_as_sites():
    journal = World(2, "no edit").run(insists)

    (site,) = journal.survey.listing.sites
    assert (site.place, site.rule) == (f"{path(0)}:1", "blocker")


@settings(deadline=None)
@given(st.integers(1, 6), st.sampled_from(["streak", "covered", "covered_by_both"]), st.data())
def test_honest_reviewers_and_a_fixer_that_can_do_it_get_there(
    size: int, rule: str, data: st.DataObject
):
    """What has to be done can be done: no order of turns keeps two such families from an end."""
    world = World(size, stop_when=rule)
    bad = data.draw(st.sets(st.integers(0, size - 1)))

    def honest(look: Look) -> Count:
        wrong = look.chunk in bad and world.contents[look.chunk] == 1
        return blocked(f"{path(look.chunk)}:1") if wrong else CLEAN

    journal = world.run(honest, 100)

    assert journal.ending == "complete"
    assert world.landed == len(bad)
    assert journal.passes <= {"streak": 3 * size + 2, "covered": size + len(bad) + 1}.get(
        rule, 2 * size + 2 * len(bad)
    )
