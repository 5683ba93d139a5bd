"""Confirming: who is read, what a word does, and that whatever stays was seen by the gate as it stands."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.batch import Batch
from domain.commit import Change, Commit
from domain.confirming import heard, unread
from domain.gate import Failure, Verdict
from domain.reading import Confirm, Reading, Readings, to_be_read
from domain.role import Finding, Opinion

GREEN = Verdict(kind="green")
RED = Verdict(kind="red", failures=(Failure(test="t"),))


def commit(name: str, *paths: str, tree: str = "00000001") -> Commit:
    changes = tuple(
        Change(path=path, old_mode="", new_mode="", old_blob="", new_blob="") for path in paths
    )
    return Commit(sha=name, tree=tree, parents=(), subject=name, changes=changes)


def said(verdict: str, *commits: str, **more: object) -> Readings:
    read = [
        Reading.model_validate({"commit": c, "by": "gpt-x", "verdict": verdict, **more})
        for c in commits
    ]
    return Readings(read=tuple(read))


def waiting(*commits: str, confirm: Confirm = "each") -> Batch:
    return Batch(pending=commits, confirm=confirm, to_read=frozenset(commits))


def test_a_sample_has_the_first_of_every_kind_and_one_in_five_by_their_trees():
    commits = [
        commit("a", "x.py"),
        commit("b", "y.py"),
        commit("c", "z.py", "z.md"),
        commit("d", "Makefile"),
        commit("e", "y.py", tree="00000005"),
    ]

    assert to_be_read("sample", commits) == {"a", "c", "d", "e"}
    assert to_be_read("each", commits) == {"a", "b", "c", "d", "e"}
    assert to_be_read("off", commits) == frozenset()


def test_a_sample_of_many_is_about_a_fifth_and_the_same_for_the_same_trees():
    draw = random.Random(7)
    trees = [f"{draw.getrandbits(160):040x}" for _ in range(1000)]
    first = to_be_read("sample", [commit(f"a{n}", "x.py", tree=t) for n, t in enumerate(trees)])
    again = to_be_read("sample", [commit(f"b{n}", "x.py", tree=t) for n, t in enumerate(trees)])

    assert 150 < len(first) < 250
    assert {name[1:] for name in first} == {name[1:] for name in again}


def test_only_what_is_green_is_read_and_only_once():
    batch = waiting("a", "b")
    assert unread(batch) == ()

    batch = batch.learn(GREEN)
    assert unread(batch) == ("a", "b")

    batch = heard(batch, said("holds", "a", "b"))
    assert unread(batch) == ()
    assert batch.good == ("a", "b")
    assert batch.outcome.read["a"].confirmed_by == "gpt-x"


def test_what_breaks_is_parked_and_the_others_of_its_batch_go_before_the_gate_again():
    """The gate was green on all three together: nobody knows of two without the third."""
    batch = waiting("a", "b", "c").learn(GREEN)
    batch = heard(batch, said("holds", "a", "c"))
    batch = heard(
        batch, said("breaks", "b", findings=[{"path": "b.py", "line": 3, "what": "drops  it"}])
    )

    assert batch.good == ()
    assert batch.probe == ("a", "c")
    assert batch.refused == {"b": "gpt-x says it breaks: b.py:3 drops it"}

    batch = batch.learn(GREEN)

    assert (batch.good, batch.probe, unread(batch)) == (("a", "c"), (), ())


def test_what_was_green_before_the_last_answer_stays():
    batch = Batch(pending=("a", "b"), each=True, confirm="each", to_read=frozenset("ab"))
    batch = heard(batch.learn(GREEN), said("holds", "a")).learn(GREEN)
    batch = heard(batch, said("breaks", "b", note="no"))

    assert (batch.good, batch.probe) == (("a",), ())
    assert batch.refused == {"b": "gpt-x says it breaks: no"}


@pytest.mark.parametrize(
    ("confirm", "good", "refused"),
    [("sample", ("a",), {}), ("each", (), {"a": "unreviewed: gpt gave no answer"})],
)
def test_a_reader_that_is_dead_blocks_only_where_every_commit_has_to_be_read(
    confirm, good, refused
):
    """cases.md, M8."""
    words = said("unreviewed", "a", note="gpt gave no answer").model_copy(
        update={"halt": "paused", "why": "a wait"}
    )
    batch = heard(waiting("a", confirm=confirm).learn(GREEN), words)

    assert (batch.good, batch.refused) == (good, refused)
    assert (batch.halt, batch.halted) == (("paused", "a wait") if confirm == "each" else ("", ""))
    assert batch.read["a"].unconfirmed == "unreviewed: gpt gave no answer"


def test_a_verdict_that_could_not_be_checked_parks_nothing_and_is_told():
    """cases.md, C7."""
    opinion = Opinion(verdict="breaks", sure=False, findings=(Finding(path="a.py", what="odd"),))
    reading = Reading.of("a", "gpt-x", opinion)
    batch = heard(waiting("a").learn(GREEN), Readings(read=(reading,)))

    assert batch.good == ("a",)
    assert batch.read["a"].unconfirmed == "unsure: gpt-x says a.py:1 odd"
    assert Reading.of("a", "gpt-x", opinion.model_copy(update={"sure": True})).verdict == "breaks"


@given(
    n=st.integers(1, 24),
    seed=st.integers(0, 999),
    share=st.floats(0, 0.6),
    doubts=st.floats(0, 0.6),
    each=st.booleans(),
)
def test_whatever_stays_was_green_as_it_stands(n, seed, share, doubts, each):
    draw = random.Random(seed)
    order = tuple(f"c{i}" for i in range(n))
    bad = {c for c in order if draw.random() < share}
    doubted = {c for c in order if draw.random() < doubts}
    batch = Batch(pending=order, each=each, confirm="each", to_read=frozenset(order))
    seen_green, paid, gates = {frozenset[str]()}, list[str](), 0
    while batch.probe:
        gates += 1
        assert gates < 500
        tree = frozenset({*batch.good, *batch.probe})
        if bad & tree:
            batch = batch.learn(RED)
        else:
            seen_green.add(tree)
            batch = batch.learn(GREEN)
        if waits := unread(batch):
            paid += waits
            words = [
                Reading(commit=c, by="gpt-x", verdict="breaks" if c in doubted else "holds")
                for c in waits
            ]
            batch = heard(batch, Readings(read=tuple(words)))
        assert frozenset(batch.good) in seen_green
    assert set(batch.good) == set(order) - bad - doubted
    assert {blame.commit for blame in batch.bad} == bad
    assert set(batch.refused) == doubted - bad
    assert len(paid) == len(set(paid))
