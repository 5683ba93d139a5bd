"""The ledger never counts too little, and a cap holds to one call."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ledger import Caps, Entry, Ledger, Lost, Released, Reserved, Settled
from domain.prices import Tokens

CENTS = st.integers(0, 200).map(lambda cents: cents / 100)


def reserved(call, usd, number=1, site=""):
    return Reserved(call=call, usd=usd, number=number, site=site)


def test_a_call_is_charged_at_its_reservation_until_it_is_settled():
    ledger = Ledger().record(reserved("a", 0.5))
    assert (ledger.spent_usd, ledger.open) == (0.5, ("a",))

    settled = ledger.record(Settled(call="a", usd=0.2, tokens=Tokens(plain=7, output=3)))
    assert (settled.spent_usd, settled.open, settled.tokens.output) == (0.2, (), 3)


def test_a_lost_call_stays_charged_at_its_reservation():
    ledger = Ledger.of([reserved("a", 0.5), Lost(call="a", why="cut")])
    assert (ledger.spent_usd, ledger.lost) == (0.5, ("a",))


def test_a_call_that_the_provider_refused_costs_nothing():
    assert Ledger.of([reserved("a", 0.5), Released(call="a", why="429")]).spent_usd == 0


def test_an_answer_that_turns_up_late_is_charged_what_it_cost():
    entries = [reserved("a", 0.5), Lost(call="a"), Settled(call="a", usd=0.1)]
    assert Ledger.of(entries).spent_usd == 0.1


@pytest.mark.parametrize("again", [Settled(call="a", usd=9), Released(call="a"), Lost(call="a")])
def test_a_settled_call_is_settled_once(again):
    entries = [reserved("a", 0.5), Settled(call="a", usd=0.2), again, reserved("a", 3)]
    assert Ledger.of(entries).spent_usd == 0.2


def test_what_was_lost_is_not_released_afterwards():
    assert Ledger.of([reserved("a", 0.5), Lost(call="a"), Released(call="a")]).spent_usd == 0.5


def test_an_answer_without_a_reservation_is_charged_all_the_same():
    assert Ledger.of([Settled(call="a", usd=0.2)]).spent_usd == 0.2


def test_an_amount_that_is_no_number_is_no_entry():
    for usd in (float("nan"), float("inf"), -1.0):
        with pytest.raises(ValueError, match="usd"):
            Settled(call="a", usd=usd)


def test_money_is_told_apart_by_pass_and_by_site():
    ledger = Ledger.of(
        [reserved("a", 1, 1, "x"), reserved("b", 2, 2, "x"), reserved("c", 4, 2, "y")], before=8
    )
    assert (ledger.spent_on(2), ledger.spent_on(2, "x"), ledger.spent_usd) == (6, 2, 15)

    caps = Caps(max_usd=20, max_usd_per_pass=6, max_usd_per_site=3)
    run, one_pass, site = ledger.caps(caps, 2, "x")
    assert (run.left, run.reached) == (5, False)
    assert (one_pass.spent, one_pass.reached) == (6, True)
    assert (site.spent, site.reached) == (2, False)
    assert ledger.caps(Caps(), 2, "x") == ()


def test_the_agent_is_warned_while_there_is_still_money_to_bring_work_home_with():
    def cap(spent, dearest=0.01):
        entries = [reserved("a", spent - dearest), reserved("b", dearest)]
        return Ledger.of(entries).caps(Caps(max_usd=10), 1, "")[0]

    assert not Ledger.of([reserved("a", 1)]).caps(Caps(max_usd=10), 1, "")[0].near
    assert cap(9.5).near
    assert not cap(9.5).reached
    # Calls of two dollars: with five left there are two more.
    assert Ledger.of([reserved("a", 2), reserved("b", 3)]).caps(Caps(max_usd=10), 1, "")[0].near


@given(
    calls=st.lists(
        st.tuples(CENTS, st.floats(0, 1), st.sampled_from(["settled", "lost", "released", "open"]))
    ),
    late=st.lists(st.integers(0, 40)),
)
def test_the_ledger_never_counts_less_than_the_provider(calls, late):
    """Whatever becomes of the calls, as long as a reservation is not less than its bill."""
    bill, entries = 0.0, list[Entry]()
    settlements: list[Settled] = []
    for number, (most, share, fate) in enumerate(calls):
        cost = 0.0 if fate == "released" else most * share
        bill += cost
        entries.append(reserved(f"{number}", most))
        settlement = Settled(call=f"{number}", usd=cost)
        if fate == "settled":
            entries.append(settlement)
        elif fate == "lost":
            entries.append(Lost(call=f"{number}"))
            settlements.append(settlement)
        elif fate == "released":
            entries.append(Released(call=f"{number}"))
    entries += [settlements[at] for at in late if at < len(settlements)]

    assert Ledger.of(entries).spent_usd >= bill - 1e-9


@given(
    cap=st.integers(1, 300).map(lambda cents: cents / 100),
    costs=st.lists(st.tuples(CENTS.filter(bool), st.floats(0, 1), st.booleans()), min_size=60),
)
def test_a_cap_holds_to_one_call(cap, costs):
    ledger, bills, ids = Ledger(), list[float](), count()
    for most, share, lost in costs:
        if ledger.caps(Caps(max_usd=cap), 1, "")[0].reached:
            break
        call = str(next(ids))
        bills.append(most * share)
        ledger = ledger.record(reserved(call, most))
        ledger = ledger.record(Lost(call=call) if lost else Settled(call=call, usd=bills[-1]))

    assert sum(bills[:-1]) < cap + 1e-9
    assert ledger.spent_usd >= sum(bills) - 1e-9


@given(entries=st.lists(st.tuples(st.integers(0, 5), st.sampled_from("rslx"), CENTS)))
def test_folding_one_by_one_or_all_at_once_is_the_same(entries):
    made = [
        {
            "r": Reserved(call=f"{call}", usd=usd),
            "s": Settled(call=f"{call}", usd=usd),
            "l": Lost(call=f"{call}"),
            "x": Released(call=f"{call}"),
        }[kind]
        for call, kind, usd in entries
    ]
    ledger = Ledger()
    for entry in made:
        ledger = ledger.record(entry)

    assert ledger == Ledger.of(made)
    assert Ledger.from_json(ledger.to_json()) == ledger
