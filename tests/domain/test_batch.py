"""What the batch promises, whatever the draw: all culprits, only culprits, in few gate runs."""

import random
from math import comb, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.batch import Batch
from domain.gate import Failure, Verdict
from domain.report import UNFIT

GREEN = Verdict(kind="green")


def red(*tests: str) -> Verdict:
    return Verdict(kind="red", failures=tuple(Failure(test=t) for t in tests or ("make test",)))


def commits(n: int) -> tuple[str, ...]:
    return tuple(f"c{i}" for i in range(n))


def pointing(*guilty: str) -> dict[str, tuple[Failure, ...]]:
    return {c: (Failure(test=f"test_{c}"),) for c in guilty}


def decide(batch: Batch, bad: set[str], *, names: int = 0) -> tuple[Batch, int]:
    """Run the gate until everything is decided; a red one names the first `names` culprits."""
    gates = 0
    while batch.probe:
        guilty = [c for c in batch.probe if c in bad]
        gates += 1
        assert gates < 2000
        verdict = red(*(f"test_{c}" for c in guilty)) if guilty else GREEN
        batch = batch.learn(verdict, pointing(*guilty[:names]), sure=guilty[:names])
    return batch, gates


@given(
    n=st.integers(1, 60), seed=st.integers(0, 999), share=st.floats(0, 1), names=st.integers(0, 3)
)
def test_the_good_land_and_only_the_culprits_are_blamed(n, seed, share, names):
    order = commits(n)
    draw = random.Random(seed)
    bad = {c for c in order if draw.random() < share}
    batch, _ = decide(Batch(pending=order), bad, names=names)

    assert set(batch.good) == set(order) - bad
    assert {blame.commit for blame in batch.bad} == bad
    assert not batch.flaky


@given(k=st.integers(1, 3), seed=st.integers(0, 999))
def test_eight_commits_with_k_culprits_cost_k_times_four_plus_one_runs(k, seed):
    """cases.md, V8."""
    order = commits(8)
    bad = set(random.Random(seed).sample(order, k))

    _, gates = decide(Batch(pending=order), bad)

    assert gates <= k * (log2(8) + 1) + 1


def test_a_green_batch_costs_one_run():
    batch, gates = decide(Batch(pending=commits(400)), set())

    assert gates == 1
    assert len(batch.good) == 400


def test_a_gate_that_names_all_culprits_costs_three_runs():
    batch, gates = decide(
        Batch(pending=commits(400)), {"c3", "c77", "c200", "c398", "c399"}, names=9
    )

    assert gates == 3
    assert [b.commit for b in batch.bad] == ["c3", "c77", "c200", "c398", "c399"]


def test_a_gate_that_names_one_culprit_a_run_costs_k_plus_two_runs():
    bad = {"c3", "c77", "c200", "c398", "c399"}
    batch, gates = decide(Batch(pending=commits(400)), bad, names=1)

    assert gates == len(bad) + 2
    assert {b.commit for b in batch.bad} == bad


@pytest.mark.parametrize(("n", "k"), [(400, 5), (400, 20)])
def test_a_silent_gate_costs_near_the_entropy_of_the_draw(n, k):
    runs = []
    for seed in range(60):
        order = commits(n)
        _, gates = decide(Batch(pending=order), set(random.Random(seed).sample(order, k)))
        runs.append(gates)

    assert sum(runs) / len(runs) <= 1.2 * log2(comb(n, k))


def test_a_red_that_does_not_come_back_blames_nobody_and_is_called_flaky():
    batch = Batch(pending=commits(1)).learn(red("test_moody"))

    assert batch.nth == 2
    assert not batch.bad

    batch = batch.learn(GREEN)

    assert batch.good == ("c0",)
    assert batch.flaky == ("test_moody",)


def test_a_named_suspect_that_is_green_alone_lands_and_its_test_is_flaky():
    batch = Batch(pending=commits(4)).learn(red("test_moody"), pointing("c2"))

    assert batch.probe == ("c0", "c1", "c3")

    batch = batch.learn(GREEN)

    assert batch.probe == ("c2",)
    assert batch.nth == 2  # the tree of the first red: its kept answer would not be a second one

    batch = batch.learn(GREEN)

    assert set(batch.good) == set(commits(4))
    assert batch.flaky == ("test_moody",)
    assert not batch.bad


def test_an_innocent_suspect_among_guilty_ones_is_asked_again_and_lands():
    batch = Batch(pending=commits(8)).learn(red("a", "b"), pointing("c1", "c2"))
    batch = batch.learn(GREEN).learn(red("a"), pointing("c1"), sure=["c1"])

    assert batch.suspects == ("c1",)
    assert batch.probe == ("c2",)

    batch = batch.learn(GREEN).learn(red("a"), pointing("c1"), sure=["c1"])

    assert [b.commit for b in batch.bad] == ["c1"]
    assert "c2" in batch.good


def test_a_test_that_fails_every_time_is_never_called_flaky():
    batch = Batch(pending=commits(1)).learn(red("t")).learn(red("t"))

    assert [b.commit for b in batch.bad] == ["c0"]
    assert batch.bad[0].failures == (Failure(test="t"),)
    assert not batch.flaky


def test_verify_each_probes_one_commit_at_a_time():
    batch = Batch(pending=commits(3), each=True)
    batch, gates = decide(batch, {"c1"})

    assert gates == 4
    assert batch.good == ("c0", "c2")


def test_a_commit_that_does_not_replay_is_made_anew_and_blames_nobody():
    batch = Batch(pending=commits(3)).drop(("c1",))

    assert batch.probe == ("c0", "c2")
    assert batch.again == ("c1",)


def test_a_commit_of_a_model_that_does_not_replay_is_parked_and_not_lost():
    batch = Batch(pending=commits(3), written=True).drop(("c1",))
    assert (batch.probe, batch.again) == (("c0", "c2"), ())

    batch = batch.learn(GREEN)
    assert batch.probe == ("c1",)

    assert batch.drop(("c1",)).outcome.refused == {"c1": UNFIT}


@given(n=st.integers(2, 30), seed=st.integers(0, 9999), width=st.integers(0, 6))
def test_what_stands_on_a_suspect_that_turns_out_good_lands_with_it(n, seed, width):
    """It does not replay as long as the suspect is set aside; only what stands on a culprit does not fit."""
    order, draw = commits(n), random.Random(seed)
    bad = set(draw.sample(order, min(n, 2)))
    below = {c: order[draw.randrange(i)] for i, c in enumerate(order) if i and draw.random() < 0.4}
    batch, gates = Batch(pending=order, written=True), 0
    while batch.probe:
        gates += 1
        assert gates < 500
        applied, unfit = list[str](), list[str]()
        for commit in batch.probe:
            fits = commit not in below or below[commit] in {*batch.good, *applied}
            (applied if fits else unfit).append(commit)
        batch = batch.drop(tuple(unfit)) if unfit else batch
        if not applied:
            continue
        guilty = [c for c in applied if c in bad]
        near = {
            applied[(applied.index(c) + s) % len(applied)] for c in guilty for s in range(width)
        }
        batch = batch.learn(
            red("t") if guilty else GREEN, pointing(*near), tuple(applied),
            sure=near if len(near) == 1 else (),
        )  # fmt: skip

    def lost(commit: str) -> bool:
        return commit in bad or (commit in below and lost(below[commit]))

    assert set(batch.good) == {c for c in order if not lost(c)}
    assert {blame.commit for blame in batch.bad} | batch.refused.keys() == set(filter(lost, order))
    assert {blame.commit for blame in batch.bad} <= bad


def test_the_blame_carries_the_failures_of_the_run_that_named_the_commit():
    batch = Batch(pending=commits(8)).learn(red("test_c1", "other"), pointing("c1"))
    batch = batch.learn(GREEN).learn(red("test_c1", "other"), pointing("c1"))

    assert batch.bad[0].failures == (Failure(test="test_c1"),)


@given(n=st.integers(2, 40), seed=st.integers(0, 999), width=st.integers(1, 12))
def test_a_gate_that_names_innocents_too_gets_no_innocent_blamed(n, seed, width):
    """A failure that names a file points at every commit to that file."""
    order = commits(n)
    draw = random.Random(seed)
    bad = set(draw.sample(order, min(n, 3)))
    batch = Batch(pending=order)
    while batch.probe:
        probe = batch.probe
        guilty = [c for c in probe if c in bad]
        near = {
            probe[(probe.index(c) + step) % len(probe)] for c in guilty for step in range(width)
        }
        named = {c: (Failure(test="t"),) for c in near}
        batch = batch.learn(
            red("t") if guilty else GREEN, named, sure=near if len(near) == 1 else ()
        )

    assert {blame.commit for blame in batch.bad} == bad
    assert set(batch.good) == set(order) - bad


def test_what_is_decided_is_settled_at_a_green_verdict_but_not_in_the_middle_of_a_split():
    """A landing is a step of its own in the UI: not one for every half."""
    batch = Batch(pending=commits(64)).learn(red())
    assert not batch.ripe

    batch = batch.learn(GREEN)
    assert batch.group
    assert not batch.ripe

    while batch.group:
        batch = batch.learn(red())
    assert not batch.ripe

    batch = batch.learn(GREEN)
    assert batch.ripe == bool(batch.probe)


def test_what_is_red_only_with_the_bases_tests_is_blamed_for_that():
    """design.md §3, step 1: the rest of its batch lands, and says that it was pinned."""
    order, bad = commits(4), {"c2"}
    batch = Batch(pending=order)
    while batch.probe:
        held = bad.intersection(batch.probe)
        failures = (Failure(test="t"),) if held else ()
        verdict = Verdict(kind="red" if held else "green", failures=failures, pinned=True)
        batch = batch.learn(verdict)

    assert [(blame.commit, blame.pinned) for blame in batch.bad] == [("c2", True)]
    assert set(batch.good) == set(batch.pinned) == set(order) - bad
