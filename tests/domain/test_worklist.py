"""The work-list's laws: nothing is lost, nothing is listed twice, every item ends once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.order import Order, found_in, orders, wanted
from domain.red_rate import RedRate
from domain.report import Landed, Parked
from domain.site import Edit, Site
from domain.state import State
from domain.value import Refused
from domain.worklist import MOST_TURNS, Found, Span, Worklist

KEYS = "abcdef"
founds = st.lists(st.sampled_from(KEYS), max_size=8)
ENDS = ("landed", "parked", "declined", "gone")


def found(key: str, path: str = "", severity: int = 0) -> Found:
    return Found(sites=(key,), targets=(Span(path=path or f"{key}.py"),), severity=severity)


def listed(*keys: str) -> Worklist:
    return Worklist().merge([found(key) for key in keys], whole=True)[0]


def open_names(worklist: Worklist) -> Counter[str]:
    return Counter(item.name for item in worklist.open)


@given(founds, founds)
def test_after_a_whole_enumeration_what_is_open_is_what_is_there(
    first: list[str], second: list[str]
):
    once = listed(*first)
    twice, merged = once.merge([found(key) for key in second], whole=True)

    assert open_names(twice) == Counter(second)
    assert len(twice.items) == len(first) + merged.new
    assert merged.gone == sum((Counter(first) - Counter(second)).values())


@given(founds, founds)
def test_a_partial_one_takes_nothing_away_and_adds_nothing_twice(
    first: list[str], second: list[str]
):
    twice, merged = listed(*first).merge([found(key) for key in second], whole=False)

    assert open_names(twice) == Counter(first) | Counter(second)
    assert merged.gone == 0
    again, none = twice.merge([found(key) for key in second], whole=False)
    assert (again, none.new) == (twice, 0)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("merge"), founds, st.booleans()),
        st.tuples(st.just("end"), st.integers(0, 20), st.sampled_from(ENDS)),
        st.tuples(st.just("turn"), st.integers(0, 20), st.booleans()),
        st.tuples(st.just("move"), st.integers(0, 20), st.booleans()),
    ),
    max_size=30,
)


@given(steps, st.integers(1, 3))
def test_whatever_happens_every_item_is_there_once_and_ends_once(done: list, attempts: int):
    worklist = Worklist(most_attempts=attempts)
    ended: dict[int, str] = {}
    for kind, what, how in done:
        before = worklist
        if kind == "merge":
            worklist, _ = worklist.merge([found(key) for key in what], whole=how)
        elif worklist.items:
            item = worklist.items[what % len(worklist.items)]
            if kind == "end":
                worklist = worklist.end([item.id], how)
            elif kind == "turn" and how:
                worklist = worklist.turned_down({item.id: "red"})
            elif kind == "turn":
                worklist = worklist.redone([item.id], "conflict")
            else:
                worklist = worklist.move(item.id, to_front=how)
        numbers = [item.number for item in worklist.items]
        assert len(set(numbers)) == len(numbers)
        assert len({item.id for item in worklist.items}) == len(numbers)
        assert {item.number for item in before.items} <= set(numbers)
        for item in worklist.items:
            assert ended.get(item.number, item.ended) == item.ended
            if item.ended:
                ended[item.number] = item.ended
            assert item.attempts <= attempts
            assert item.turns <= MOST_TURNS
            assert item.open == (not item.ended)
    assert sum(worklist.counts.values()) == len(worklist.items)


@given(founds, st.lists(st.sampled_from("xyz"), min_size=8, max_size=8), st.integers(0, 5))
def test_no_two_that_touch_one_file_are_due_at_once(keys: list[str], paths: list[str], limit: int):
    worklist, _ = Worklist().merge(
        [found(key, path) for key, path in zip(keys, paths, strict=False)], whole=True
    )
    running = [item.id for item in worklist.items[:1]]

    due = worklist.due(running, limit)

    touched = [path for item in (*due, *worklist.items[: len(running)]) for path in item.paths]
    assert len(touched) == len(set(touched))
    assert len(due) <= limit
    together = worklist.due([], 99, together=True)
    assert together == worklist.open
    groups = orders(together, together=True)
    assert sorted(item for order in groups for item in order.items) == sorted(
        item.id for item in together
    )
    files = [
        {path for item_id in order.items for path in worklist.item(item_id).paths}
        for order in groups
    ]
    assert sum(map(len, files)) == len(set().union(*files) if files else ())


def test_what_is_worse_goes_first_and_equals_keep_their_order():
    worklist, _ = Worklist().merge([found("a"), found("b", severity=2)], whole=True)
    worklist, _ = worklist.merge(
        [found("a"), found("b", severity=2), found("c", severity=2), found("d", severity=1)],
        whole=True,
    )

    assert [item.id for item in worklist.items] == ["b", "c", "d", "a"]


def test_a_place_that_moved_is_the_same_item():
    before = listed("a")
    moved = Found(sites=("a",), targets=(Span(path="a.py", line=40, end_line=41),))

    after, merged = before.merge([moved], whole=True)

    assert (merged.new, merged.gone) == (0, 0)
    assert (after.items[0].id, after.items[0].place, after.items[0].size) == ("a", "a.py:40", 2)


def test_what_landed_while_somebody_looked_is_not_listed_anew():
    landed = listed("a", "b").landed(["a"])
    named = [found("a"), found("b")]

    late, merged = landed.merge(named, whole=True, since=["a"])
    assert (late, merged.new, merged.gone) == (landed, 0, 0)
    assert landed.merge(named, whole=True)[1].new == 1


def test_equal_places_are_told_apart():
    worklist = listed("a", "a")
    assert [item.id for item in worklist.items] == ["a", "a#1"]
    assert worklist.end(["a"], "landed").merge([found("a")], whole=True)[1].new == 0
    assert worklist.settled == frozenset()
    assert worklist.end(["a#1"], "parked").settled == {"a#1"}


@pytest.mark.parametrize(
    ("words", "said"),
    [("zz", "no item is called 'zz'"), ("a", "begins 2 items"), ("", "no item is called ''")],
)
def test_who_names_no_item_or_several_is_told(words: str, said: str):
    with pytest.raises(Refused, match=said):
        listed("abc", "abd").named(words)


def test_a_beginning_that_is_enough_names_an_item():
    assert listed("abc", "abd").named("abd").id == "abd"
    assert listed("abc", "xyz").named("x").id == "xyz"


def test_what_is_struck_is_declined_and_only_what_is_open_can_be():
    struck = listed("a", "b").strike("a")

    assert [item.id for item in struck.open] == ["b"]
    assert (struck.item("a").ended, struck.item("a").why) == ("declined", "struck by the operator")
    with pytest.raises(Refused, match="it is declined"):
        struck.strike("a")
    assert struck.reopened().item("a").open


def test_landing_and_parking_end_items_in_the_state_itself():
    """A kill between the branch and the list would do an item twice: they are one transaction."""
    state = State(axis="x", worklist=listed("a", "b").model_copy(update={"most_attempts": 2}))
    landed = Landed(sha="1" * 40, site="a.py:1", subject="s", verified="alone", item="a")
    parked = Parked(site="b.py:1", reason="red", item="b", sites=("b",))

    once = state.land("1" * 40, [landed], RedRate()).park([parked], RedRate())
    twice = once.park([parked.model_copy(update={"made_from": "2"})], RedRate())

    assert once.worklist
    assert twice.worklist
    assert once.worklist.counts == {"landed": 1, "open": 1}
    assert once.worklist.item("b").attempts == 1
    assert (twice.worklist.item("b").ended, twice.worklist.item("b").why) == ("parked", "red")
    assert twice.settled == {"b"}
    reopened = twice.retried().worklist
    assert reopened
    assert reopened.counts == {"landed": 1, "open": 1}


def site(key: str, path: str = "a.py", nth: int = 0, edits: tuple[Edit, ...] = ()) -> Site:
    return Site(key=key, path=path, nth=nth, rule="R", edits=edits)


def test_findings_that_ask_for_one_edit_are_one_item():
    edit = (Edit(start=0, end=3, text=""),)
    sites = [site("a", edits=edit), site("b", edits=edit), site("c", path="c.py", edits=edit)]

    assert [one.sites for one in found_in(sites, "finding")] == [("a", "b"), ("c",)]
    assert [one.sites for one in found_in(sites, "file")] == [("a", "b"), ("c",)]
    assert [one.sites for one in found_in(sites, "rule")] == [("a", "b", "c")]


def test_of_equal_sites_as_many_are_wanted_as_are_asked_for_and_none_that_was_settled():
    equal = [site("a"), site("a", nth=1), site("a", nth=2), site("b")]

    assert [one.id for one in wanted(equal, ["a", "a"], ())] == ["a", "a#1"]
    assert [one.id for one in wanted(equal, ["a"], ["a"])] == ["a#1"]
    assert wanted(equal, ["c"], ()) == ()


def test_an_order_has_the_same_number_for_whoever_asks_and_another_at_each_turn():
    worklist = listed("a", "b")
    first, second = (Order.of([item]) for item in worklist.items)
    again = Order.of([worklist.redone(["a"], "").item("a")])

    assert len({first.number, second.number, again.number}) == 3
    assert first == Order.of([listed("a", "b").item("a")])
