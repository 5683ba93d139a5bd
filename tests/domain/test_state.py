import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.red_rate import RedRate
from domain.report import Landed, Parked, Remaining
from domain.site import Site
from domain.state import KEPT_RUNS, RunSummary, State, read, way_out, written
from domain.value import Refused

REF = "refs/swathe/x/state"
RATE = RedRate()
FRESH = State(axis="ruff:UP")
TIP = "a" * 40


def landed(*sites, sha="1" * 40):
    return Landed(sha=sha, site="a.py:1", sites=sites, subject="x", verified="alone")


def parked(*sites):
    return Parked(site="a.py:1", sites=sites, reason="red")


def site(key, nth=0):
    return Site(key=key, nth=nth, path="a.py")


def left(*keys):
    return tuple(Remaining(site="a.py:1", key=key) for key in keys)


def test_landing_moves_the_tip_and_adds_to_what_landed():
    state = FRESH.land(TIP, [landed("a")], RATE).land("b" * 40, [landed("b"), landed("c")], RATE)

    assert state.tip == "b" * 40
    assert [one.sites for one in state.landed] == [("a",), ("b",), ("c",)]
    assert FRESH.landed == ()


def test_landed_sites_are_remaining_no_more_one_for_one():
    state = FRESH.model_copy(update={"remaining": left("a", "a", "b")})

    assert state.land(TIP, [landed("a#1")], RATE).remaining == left("a", "b")


def test_parking_counts_an_attempt_for_each_site():
    """R3."""
    state = FRESH.park([parked("a", "b")], RATE).park([parked("b"), parked("c")], RATE)

    assert state.attempts == {"a": 1, "b": 2, "c": 1}
    assert state.settled == {"a", "b", "c"}


def test_a_site_that_was_landed_and_is_there_again_is_declined():
    """R7."""
    state = FRESH.land(TIP, [landed("a"), landed("b")], RATE)

    assert state.decline([site("a"), site("new")]).declined == ("a",)
    assert state.decline([site("new")]) is state


def test_declining_twice_is_declining_once():
    state = FRESH.land(TIP, [landed("a")], RATE).decline([site("a")])

    assert state.decline([site("a")]) is state


def test_of_equal_lines_only_as_many_are_declined_as_came_back():
    """Two equal sites, one landed and one left over: the one that is there was never done."""
    state = FRESH.land(TIP, [landed("a")], RATE).model_copy(update={"remaining": left("a")})

    assert state.decline([site("a")]).declined == ()
    assert state.decline([site("a"), site("a", 1)]).declined == ("a#1",)


def test_trying_again_opens_what_was_settled():
    state = FRESH.land(TIP, [landed("a")], RATE).decline([site("a")]).park([parked("b")], RATE)

    assert state.retried().settled == frozenset()
    assert state.retried().attempts == {}
    assert state.retried().tip == TIP


def test_only_the_last_runs_are_kept():
    state = FRESH
    for number in range(KEPT_RUNS + 5):
        state = state.close(RunSummary(run=str(number), ending="complete", why="", at=""))

    assert [run.run for run in state.runs] == [str(number) for number in range(5, KEPT_RUNS + 5)]


def test_a_state_is_written_one_line_for_each_commit():
    state = FRESH.land(TIP, [landed("a"), landed("b")], RATE)

    assert sum('"verified": "alone"' in row for row in written(state).splitlines()) == 2
    assert json.loads(written(state)) == json.loads(state.to_json())


def test_names_that_are_not_utf_8_survive():
    """F9."""
    state = FRESH.park(
        [Parked(site="caf\udcff.py:1", sites=("k",), reason="red", ref="r\udcff")], RATE
    )

    assert written(state).isascii()
    assert read(written(state).encode(), REF) == state


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"1",
        b'"x"',
        b"{",
        b"\xff",
        b"{}",
        b"[" * 50_000,
        b'{"axis": 1}',
        b'{"axis": "x", "runs": {}}',
    ],
)
def test_a_damaged_state_is_refused_with_the_way_out(text):
    """C8."""
    with pytest.raises(Refused) as refusal:
        read(text, REF)

    assert way_out(REF) in str(refusal.value)


@pytest.mark.parametrize("version", [2, 10**40])
def test_a_newer_state_is_refused_with_another_way_out(version):
    with pytest.raises(Refused, match="Upgrade Swathe"):
        read(json.dumps({"version": version}).encode(), REF)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(list(State.model_fields)) | st.text(max_size=3), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_document_is_read_or_refused(document):
    """Law: never another exception."""
    try:
        state = read(json.dumps(document).encode(), REF)
    except Refused:
        return
    assert read(written(state).encode(), REF) == state


KEYS = st.sampled_from(["a", "b", "c", "a#1", "b#1"])


@given(
    st.lists(st.lists(KEYS, min_size=1, max_size=3), max_size=6),
    st.lists(st.lists(KEYS, min_size=1, max_size=3), max_size=6),
)
def test_what_was_landed_and_parked_is_all_there_and_written_whole(lands, parks):
    """Law."""
    state = FRESH
    for sites in lands:
        state = state.land(TIP, [landed(*sites)], RATE)
    for sites in parks:
        state = state.park([parked(*sites)], RATE)

    assert [list(one.sites) for one in state.landed] == lands
    assert [list(one.sites) for one in state.parked] == parks
    assert state.attempts == {
        key: n
        for key in ["a", "b", "c", "a#1", "b#1"]
        if (n := sum(key in sites for sites in parks))
    }
    assert read(written(state).encode(), REF) == state


@given(
    st.lists(KEYS, unique=True),
    st.lists(KEYS, unique=True),
    st.lists(st.sampled_from("abc"), max_size=3),
)
def test_never_more_is_declined_than_was_landed(done, there, remaining):
    """Law: and nothing that is not there."""
    sites = [
        site(*((key.split("#")[0], int(key.split("#")[1])) if "#" in key else (key,)))
        for key in there
    ]
    state = FRESH.land(TIP, [landed(*done)], RATE) if done else FRESH
    state = state.model_copy(update={"remaining": left(*remaining)}).decline(sites)

    assert set(state.declined) <= {one.id for one in sites}
    for key in "abc":
        assert sum(one.startswith(key) for one in state.declined) <= sum(
            one.startswith(key) for one in done
        )
    assert state.decline(sites).declined == state.declined
