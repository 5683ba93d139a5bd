"""What a sweep does next, and why it ends: without Prefect, git or time."""

from typing import Any

import pytest

from domain.batch import Batch
from domain.budget import Budget
from domain.commit import ChainOnShelf
from domain.gate import Baseline, GatePlan, GateRun
from domain.hired import Hired
from domain.journal import Journal
from domain.order import UNKNOWN, Enumeration, Made, Order, SweepTerms
from domain.report import Landed
from domain.site import Listing
from domain.state import State
from domain.survey import Start, Survey
from domain.sweep_journal import IDLE_LISTS, SweepJournal
from domain.worklist import Found, Merged, Span, Worklist

NONE = Merged()


def worklist(*keys: str) -> Worklist:
    found = [Found(sites=(key,), targets=(Span(path=f"{key}.py"),)) for key in keys]
    return Worklist().merge(found, whole=True)[0]


def surveyed(listed: Worklist, landed: int = 0, **more: Any) -> Survey:
    commits = tuple(
        Landed(sha=f"s{n}", site="a.py:1", subject="x", verified="alone", run="r")
        for n in range(landed)
    )
    state = State(axis="ruff:UP", landed=commits, worklist=listed)
    return Survey(state=state, listing=Listing(), tip="t", landed=landed, **more)


def sweep(
    listed: Worklist, *, hired: bool = False, budget: dict[str, Any] | None = None, **terms: Any
) -> SweepJournal:
    start = Start(
        run="r",
        axis="ruff:UP",
        target="repo",
        base="b",
        branch="refs/heads/swathe/ruff-up",
        plan=GatePlan(verify=("pytest",)),
        baseline=Baseline(run=GateRun(status="passed")),
        survey=surveyed(listed),
        hired=Hired(family="claude") if hired else None,
    )
    campaign = Journal.begin(start, Budget(**(budget or {})), "finding")
    return SweepJournal.begin(campaign, SweepTerms(**terms))


def looked(journal: SweepJournal, listed: Worklist, new: int = 0, landed: int = 0) -> SweepJournal:
    return journal.listed(Enumeration(), (surveyed(listed, landed), Merged(new=new)))


def delivered(journal: SweepJournal, listed: Worklist, landed: int = 0) -> SweepJournal:
    orders = journal.orders(())
    for order in orders:
        journal = journal.made(Made(order=order, base="b"))
    chain = ChainOnShelf(number=1, base="b", head="h", count=1)
    return journal.delivered(chain, Batch(pending=()), surveyed(listed, landed))


def test_a_rule_has_all_in_hand_that_one_gate_run_can_take_and_a_model_as_many_as_there_are_jobs():
    by_rule = looked(sweep(worklist(*"abcdef"), jobs=2), worklist(*"abcdef"), new=6)
    by_model = looked(sweep(worklist(*"abcdef"), jobs=2, hired=True), worklist(*"abcdef"), new=6)

    assert sum(len(order.items) for order in by_rule.orders(())) == 6
    first = by_model.orders(())
    assert [order.items for order in first] == [("a",), ("b",)]
    assert by_model.orders(first) == ()
    waiting = by_model.made(Made(order=first[0], base="b"))
    assert waiting.orders(first[1:]) == ()


def test_no_more_items_are_taken_in_hand_than_a_run_is_allowed():
    listed = worklist(*"abcdef")
    journal = looked(sweep(listed, max_items=2), listed, new=6)

    assert sum(len(order.items) for order in journal.orders(())) == 2
    after = delivered(journal, listed.landed(["a", "b"]), landed=2)
    assert after.orders(()) == ()
    assert after.ending == "budget"
    assert "2 items were allowed" in after.why


def test_the_list_is_made_anew_when_all_is_worked_on_until_it_names_nothing_new():
    listed = worklist("a")
    journal = looked(sweep(listed), listed, new=1)
    assert journal.looked_for(busy=False).look is None
    assert journal.looked_for(busy=False).ending is None

    done = listed.landed(["a"])
    after = delivered(journal, done, landed=1).looked_for(busy=False)
    assert after.look
    assert after.look.number == 2
    assert after.ending is None

    over = looked(after, done, landed=1)
    assert over.looked_for(busy=False).look is None
    assert over.ending == "complete"


def test_what_stays_parked_is_exhausted():
    listed = worklist("a", "b")
    journal = looked(sweep(listed), listed, new=2)
    done = listed.landed(["a"]).end(["b"], "parked", "red")
    after = delivered(journal, done, landed=1).looked_for(busy=False)

    assert looked(after, done, landed=1).ending == "exhausted"


def test_lists_of_which_nothing_lands_come_to_an_end():
    """C4: whoever always names one more."""
    journal = sweep(Worklist(), hired=True)
    listed = Worklist()
    for number in range(10):
        journal = journal.looked_for(busy=False)
        if journal.look is None:
            break
        listed, _ = listed.merge(
            [Found(sites=(f"k{number}",), targets=(Span(path="a.py"),))], whole=False
        )
        journal = looked(journal, listed, new=1)
        listed = listed.end([f"k{number}"], "parked", "no edit")
        journal = delivered(journal, listed)

    assert journal.ending == "stalled"
    assert journal.looks == IDLE_LISTS


def test_before_anybody_looked_the_items_of_earlier_runs_are_begun_and_the_list_is_made_beside_them():
    listed = worklist("a")
    journal = sweep(listed, hired=True).listed(UNKNOWN, (surveyed(listed), NONE))

    assert journal.orders(())
    assert journal.looked_for(busy=True).look
    assert journal.looked_for(busy=True).ending is None


@pytest.mark.parametrize(
    ("more", "ending"),
    [({"enough": True}, "enough"), ({"elapsed": 120.0}, "budget")],
)
def test_nothing_new_is_begun_once_it_was_enough_or_the_time_is_spent(
    more: dict[str, Any], ending: str
):
    listed = worklist("a", "b")
    journal = sweep(listed, budget={"max_minutes": 1})
    told = journal.listed(Enumeration(), (surveyed(listed, **more), Merged(new=2)))

    assert told.orders(()) == ()
    assert told.looked_for(busy=False).look is None
    assert told.ending == ending


@pytest.mark.parametrize("halt", ["budget", "paused", "refused"])
def test_a_model_that_cannot_be_asked_any_more_ends_the_run_with_its_words(halt: Any):
    listed = worklist("a")
    journal = looked(sweep(listed, hired=True), listed, new=1)
    (order,) = journal.orders(())

    stopped = journal.made(Made(order=order, base="b", halt=halt, why="the key was refused"))

    assert stopped.closed
    assert stopped.ending == halt
    assert "the key was refused" in stopped.why


def test_units_are_listed_once():
    listed = worklist("a", "b")
    campaign = sweep(listed).campaign
    journal = looked(SweepJournal.of_units(campaign, SweepTerms(jobs=1)), listed, new=2)

    assert [order.items for order in journal.orders(())] == [("a",), ("b",)]
    after = delivered(journal, listed.landed(["a", "b"]), landed=2)
    assert after.looked_for(busy=False).look is None
    assert after.ending == "complete"


def test_an_order_under_way_is_not_given_again():
    listed = worklist("a", "b")
    journal = looked(sweep(listed, hired=True, jobs=2), listed, new=2)
    first, second = journal.orders(())

    assert journal.orders((first,)) == (second,)
    assert journal.orders((Order.of([listed.item("b")]),)) == (first,)
