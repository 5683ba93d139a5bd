"""What is taken over from a killed run: its last pass, if the task is the same; its money, once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.commit import Chain, Commit
from domain.report import Landed, Parked
from domain.state import RunSummary, State
from domain.takeover import Begun, Task, objection, settles

TASK = Task(axis="count from zero", paths=("src/",), gate=("pytest",), executor="claude")
LEFT = Begun.anew(TASK, "a" * 40, "r1", 3)


def test_the_same_task_on_the_same_tip_is_gone_on_with_under_its_old_name():
    assert objection(LEFT, TASK, LEFT.tip) == ""
    taken = LEFT.gone_on("r2", 1).gone_on("r3", 1)
    assert (taken.talk, taken.mark) == (LEFT.talk, LEFT.mark)
    assert (taken.by, taken.number) == ("r3", 1)
    assert taken.note == "goes on with pass 1 of run r2, which was killed"


@pytest.mark.parametrize(
    "more",
    [
        {"axis": "count from one"},
        {"paths": ()},
        {"branch": "main"},
        {"allow": ("tests",)},
        {"gate": ("make test",)},
        {"executor": "gpt"},
        {"teach": 3},
    ],
)
def test_another_task_is_another_work(more):
    other = TASK.model_copy(update=more)
    assert f"({','.join(more)})" in objection(LEFT, other, LEFT.tip)
    # How many sites it was to do changes nothing of those that it did.
    assert TASK.same_work(other) == ("teach" in more)


def test_another_tip_is_another_work():
    assert "stood on aaaaaaaaaaaa" in objection(LEFT, TASK, "b" * 40)


def commit(sha: str) -> Commit:
    return Commit(sha=sha, tree="t", parents=("p",), subject=sha)


CHAIN = Chain(number=1, base="base", commits=(commit("x"), commit("y"), commit("z")))


def state(landed: str = "", parked: str = "") -> State:
    return State(
        axis="a",
        landed=tuple(
            Landed(sha=f"ours-{c}", site="s:1", subject=c, verified="alone", made_from=c)
            for c in landed
        ),
        parked=tuple(Parked(site="s:1", reason="red", made_from=c) for c in parked),
    )


@pytest.mark.parametrize(
    ("tip", "landed", "parked", "settled"),
    [
        ("base", "", "", True),
        ("base", "", "x", True),
        ("ours-x", "x", "", True),
        ("ours-y", "xy", "", True),
        ("ours-z", "xz", "y", False),
        ("base", "", "xyz", False),
        ("elsewhere", "", "", False),
        ("elsewhere", "x", "", False),
    ],
)
def test_a_chain_is_settled_where_it_stands_while_something_of_it_is_left(
    tip, landed, parked, settled
):
    assert settles(CHAIN, tip, state(landed, parked)) == settled


def test_a_claim_that_nothing_is_left_is_something_of_it():
    claimed = CHAIN.model_copy(update={"claimed": True})
    assert settles(claimed, "ours-z", state("xz", "y"))
    assert not settles(claimed, "elsewhere", state("xz", "y"))
    halted = claimed.model_copy(update={"halt": "paused"})
    assert not settles(halted, "ours-z", state("xz", "y"))


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.lists(st.sampled_from(["spend", "settle"])), st.booleans()),
        max_size=6,
    )
)
def test_every_dollar_is_in_the_state_once_whichever_runs_are_killed(runs):
    """Each run spends, settles as often as it likes, and is killed or ends; what is killed is taken over."""
    found, total = State(axis="a"), 0
    killed: list[str] = []
    taken = 0
    for number, (cost, deeds, ends) in enumerate(runs):
        run, mine = f"r{number}", taken
        for deed in deeds:
            if deed == "spend":
                mine, total = mine + cost, total + cost
            else:
                found = found.spend(run, mine, killed)
                assert found.spend_usd == total
        if ends:
            summary = RunSummary(run=run, ending="passes", why="", at="")
            found = found.spend(run, mine, killed).close(summary)
            assert found.spend_usd == total
            assert found.spend(run, mine, killed) == found, "said again"
            killed, taken = [], 0
        else:
            killed, taken = [run, *killed], mine
    assert found.spend_usd <= total
    assert found.spend("last", taken, killed).spend_usd == total
