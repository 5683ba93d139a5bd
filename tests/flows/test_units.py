"""ADR-055 end to end: a ranked backlog, worked through once, each unit until two reviews find it clean."""

import pytest
from harness import COMPILES
from reviews import BOTH, CLAUDE, HOLDS, attentive, fixed, phase, review

from adapters.processes.sandbox import available
from domain.order import UnitTerms
from domain.value import Refused

pytestmark = pytest.mark.flow
needs_a_sandbox = pytest.mark.skipif(
    not available().works, reason=f"needs a sandbox: {available().why}"
)

SOUND = "VALUE = 1\nOTHER = 2\n"
UNUSED = "import os\n\nVALUE = 1\n"
TWO = "import os\nimport re\n\nVALUE = 1\n"
NO_FIX = "def f(x=[]):\n    return x.missing(y)\n"
RULES = {"only_rules": True, "max_review_chunk_tokens": 14}
"""A unit for each file."""
SCOPE = {"paths": ("a/", "b/", "c/")}


def units(repo, jobs=1, looks=8, max_items=None, **asked):
    return review(repo, units=UnitTerms(jobs=jobs, looks=looks, max_items=max_items), **asked)


@pytest.fixture(name="sources")
def _sources(make):
    def sources(**files):
        repo = make(0, {f"{name.replace('_', '/')}.py": text for name, text in files.items()})
        repo.verify = (COMPILES,)
        return repo

    return sources


@pytest.mark.parametrize("jobs", [1, 3])
def test_units_are_mended_the_worst_first_and_what_is_clean_is_not_looked_at_again(sources, jobs):
    repo = sources(a_one=SOUND, b_one=UNUSED, b_two=SOUND, c_one=TWO)

    report = units(repo, jobs, **RULES, **SCOPE)

    assert (report.ending, report.items) == ("complete", {"landed": 2, "gone": 2}), report.why
    listed = {item.title: item for item in repo.state().worklist.items}
    assert [item.severity for item in listed.values()] == sorted(
        (item.severity for item in listed.values()), reverse=True
    )
    assert sorted(repo.log("%s")) == ["Mend b: 1 finding", "Mend c: 2 findings"]
    assert "import" not in repo.landed("b/one.py") + repo.landed("c/one.py")

    again = units(repo, jobs, **RULES, **SCOPE)
    assert (again.ending, again.gate_runs) == ("nothing-to-do", 0), again.why

    repo.git("merge", "-q", "--ff-only", repo.branch)
    repo.write({"a/one.py": UNUSED}).commit("Break it by hand")
    third = units(repo, jobs, **RULES, **SCOPE)
    assert third.ending == "complete", third.why
    assert repo.log("%s") == ["Mend a: 1 finding"]


def test_what_no_rule_can_mend_is_named_and_does_not_hold_up_the_unit(sources):
    repo = sources(a_one=NO_FIX + UNUSED)

    report = units(repo, only_rules=True, **SCOPE)

    assert report.items == {"landed": 1}, report.why
    assert any("left to a person: a/one.py" in note for note in report.notes)


def test_a_unit_that_the_gate_refuses_is_parked_whole(sources):
    repo = sources(a_one=UNUSED, b_one=UNUSED)
    repo.gate(f"{COMPILES} && grep -q 'import os' a/one.py")

    report = units(repo, 2, **RULES, **SCOPE)

    assert (report.ending, report.items) == ("exhausted", {"landed": 1, "parked": 1}), report.why
    assert [parked.reason for parked in report.parked] == ["red"]
    assert repo.log("%s") == ["Mend b: 1 finding"]
    assert units(repo, 2, **RULES, **SCOPE).ending == "nothing-to-do"


@pytest.fixture(name="texts")
def _texts(make):
    def texts(*planted):
        files = {f"{name}/{nth}.txt": "fine\n" for name in "ab" for nth in ("one", "two")}
        bugs = {f"{name}/two.txt": "fine\nBUG here\n" for name in planted}
        repo = make(0, {"keep.txt": "one\n", **files, **bugs})
        repo.gate(HOLDS)
        repo.sandbox = "required"
        return repo

    return texts


TEXTS = {"paths": ("a/", "b/"), "max_review_chunk_tokens": 8}


@needs_a_sandbox
def test_two_families_take_turns_at_a_unit_and_it_lands_as_one_commit(texts, serve):
    repo = texts("a", "b")
    provider = serve(attentive())

    report = units(repo, 2, hired=BOTH, **TEXTS)

    assert (report.ending, report.items) == ("complete", {"landed": 2}), report.why
    assert sorted(repo.log("%s")) == ["Mend a: 1 finding", "Mend b: 1 finding"]
    assert repo.landed("a/two.txt") == "fine\nright"
    assert report.spend_usd == pytest.approx(provider.bill.usd) == repo.state().spend_usd
    calls = len(provider.requests)
    assert units(repo, 2, hired=BOTH, **TEXTS).ending == "nothing-to-do"
    assert len(provider.requests) == calls


@needs_a_sandbox
def test_a_unit_that_is_never_clean_is_parked_with_what_was_made_of_it(texts, serve):
    """C4: a reviewer that always finds one more. The rationale of a fixer is told to the next reviewer."""
    repo = texts("a")
    told = []

    def argued(seen, paths, nth):
        return fixed(*[{"path": path, "line": 2, "why": "it is spelled so"} for path in paths])

    honest = attentive(argued)

    def stubborn(seen):
        if phase(seen) == "review" and "it is spelled so" in str(seen.body):
            told.append(seen.family)
        turn = honest(seen)
        for call in turn.calls:
            if call.name == "submit_review":
                for one in call.arguments["blockers"]:
                    one["new_evidence"] = f"look again, {seen.conversation}"
        return turn

    serve(stubborn)

    report = units(repo, looks=3, hired=BOTH, **TEXTS)

    assert (report.ending, report.items) == ("exhausted", {"gone": 1, "parked": 1}), report.why
    (parked,) = [item for item in repo.state().worklist.items if item.ended == "parked"]
    assert parked.why.startswith("stubborn: ")
    assert told


@needs_a_sandbox
def test_one_family_alone_looks_twice(texts, serve):
    repo = texts("a")
    provider = serve(attentive())

    report = units(repo, hired=(CLAUDE,), **TEXTS)

    assert (report.ending, report.items) == ("complete", {"landed": 1, "gone": 1}), report.why
    assert {request.seen.family for request in provider.requests} == {"claude"}


def test_no_file_to_review_is_something_else_than_nothing_found(make):
    """T26."""
    repo = make(0, {"keep.txt": "one\n", "a/picture.bin": "\x00\x01"})
    repo.gate("true")

    with pytest.raises(Refused, match="that can be reviewed"):
        units(repo, only_rules=True, paths=("a/",))
