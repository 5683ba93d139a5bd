"""A review by rules alone: no key, no money, and the same loop (ADR-011)."""

import json

import pytest
from harness import COMPILES, sh
from reviews import review
from stub_script import Fault

from domain.value import Refused

pytestmark = pytest.mark.flow

SOUND = "VALUE = 1\nOTHER = 2\n"
UNUSED = "import os\n\nVALUE = 1\n"
NEGATED = "def f(x, y):\n    return not x in y\n"
NO_FIX = "def f(x=[]):\n    return x.missing(y)\n"
RULES = {"only_rules": True}
SMALL = {**RULES, "max_review_chunk_tokens": 14}
"""A chunk for each file."""


@pytest.fixture(name="sources")
def _sources(make):
    def sources(**files):
        repo = make(0, {f"{name.replace('_', '/')}.py": text for name, text in files.items()})
        repo.verify = (COMPILES,)
        return repo

    return sources


def scope(*globs):
    return {"paths": globs or ("a/", "b/", "c/")}


def test_two_rule_books_mend_what_they_can_and_a_second_run_has_nothing_to_do(sources):
    repo = sources(a_one=UNUSED, a_two=SOUND, b_one=NEGATED, c_one=SOUND)

    report = review(repo, **SMALL, **scope())

    assert report.ending == "complete", report.why
    assert "import" not in repo.landed("a/one.py")
    assert "x not in y" in repo.landed("b/one.py")
    assert report.spend_usd == 0
    assert "reviewed by ruff and ast-grep (as asked)" in report.notes
    assert not any("no fix that may be applied" in note for note in report.notes)

    again = review(repo, **SMALL, **scope())

    assert (again.ending, again.passes, again.gate_runs) == ("nothing-to-do", 0, 0), again.why


def test_what_no_rule_can_mend_is_named_and_left_to_a_person(sources):
    repo = sources(a_one=NO_FIX, a_two=UNUSED)

    report = review(repo, **RULES, **scope())

    assert report.ending == "exhausted", report.why
    assert [(left.rule, left.site) for left in report.remaining] == [
        ("finding", "a/one.py:1"),
        ("finding", "a/one.py:2"),
    ]
    assert all("left to a person" in left.why for left in report.remaining)
    assert repo.log("%s"), "the others were mended all the same"


def test_a_fix_that_the_gate_refuses_is_parked_and_left_to_a_person(sources):
    repo = sources(a_one=UNUSED, a_two=SOUND)
    repo.gate(f"{COMPILES} && grep -q 'import os' a/one.py")

    report = review(repo, **RULES, **scope())

    assert repo.log() == []
    assert [parked.reason for parked in report.parked] == ["red"]
    assert report.ending == "exhausted", report.why
    (left,) = report.remaining
    assert "its fix did not hold (red" in left.why


def test_a_file_broken_by_hand_is_reviewed_again_and_only_its_chunk(sources):
    """C3, with what else is asked for: another scope, another size of chunks, another axis."""
    repo = sources(a_one=SOUND, b_one=SOUND, c_one=SOUND)
    first = review(repo, **SMALL, **scope())
    assert (first.ending, first.passes) == ("complete", 6), first.why

    repo.write({"b/one.py": UNUSED}).commit("Break it by hand")
    second = review(repo, **SMALL, **scope())

    assert second.ending == "complete", second.why
    assert second.passes == 3, "found by one, then read by both"
    read = [e["what"] for e in repo.events(second) if " reads " in str(e.get("what"))]
    assert {line.split(" reads ")[1].split()[0] for line in read} == {"b"}
    assert review(repo, **SMALL, **scope()).ending == "nothing-to-do"
    for otherwise in (
        {**SMALL, **scope("a/", "b/")},
        {**RULES, "max_review_chunk_tokens": 15, **scope()},
        {**SMALL, **scope(), "axis": {"text": "unused imports"}},
        {**SMALL, **scope(), "stop_when": "streak"},
    ):
        report = review(repo, **otherwise)
        assert report.ending in ("complete", "nothing-to-do"), report.why
        narrowed = otherwise["paths"] == ("a/", "b/")
        assert (report.ending == "nothing-to-do") == narrowed, (otherwise, report.why)


def test_keys_that_are_set_are_not_used_where_rules_were_asked_for(sources, serve):
    provider = serve(lambda _: Fault("auth"))
    repo = sources(a_one=UNUSED)

    report = review(repo, **RULES, **scope())

    assert report.ending == "complete", report.why
    assert provider.requests == []


def test_a_scope_without_a_file_is_refused(sources):
    repo = sources(a_one=SOUND)

    with pytest.raises(Refused, match=r"no file of .* matches 'nowhere/'"):
        review(repo, **RULES, paths=("nowhere/",))


DAMAGED = {
    "[]": "is damaged",
    "null": "is damaged",
    '{"axis": "x", "review": {"cursor": 1': "is not JSON",
    '{"axis": "x", "review": {"cursor": 1e400}}': "is damaged",
    '{"axis": "x", "review": {"turn": -1}}': "is damaged",
    '{"axis": "x", "version": 99}': "written by a newer Swathe",
}


def test_a_damaged_state_is_refused_with_the_way_out(sources):
    """C8."""
    repo, ref = sources(a_one=UNUSED), "refs/swathe/review/state"
    for damage, said in DAMAGED.items():
        (repo.tools / "damage").write_text(damage)
        blob = repo.git("hash-object", "-w", str(repo.tools / "damage"))
        made = sh(f"printf '100644 blob {blob}\\tstate.json\\n' | git mktree", repo.folder)
        repo.git("update-ref", ref, repo.git("commit-tree", made.output.strip(), "-m", "damaged"))

        with pytest.raises(Refused, match=said):
            review(repo, **RULES, **scope())

    repo.git("update-ref", "-d", ref)
    assert review(repo, **RULES, **scope()).ending == "complete"


def test_the_earlier_systems_state_is_a_cursor_and_no_more(sources):
    repo = sources(a_one=SOUND, b_one=SOUND, c_one=SOUND)
    earlier = {"cursor": 2, "clean_streak": 99, "num_chunks": 3}
    (repo.folder / ".whole_improve_loop.state").write_text(json.dumps(earlier))

    report = review(repo, **SMALL, **scope())

    assert (report.ending, report.passes) == ("complete", 6), report.why
    read = [e["what"] for e in repo.events(report) if " reads " in str(e.get("what"))]
    assert [line.split(" reads ")[1].split()[0] for line in read] == [*"cabcab"]
