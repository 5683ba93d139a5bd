"""The laws of a lesson: what proves a rule, what it is shown, and what it is said to have saved."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.edits import applied
from domain.hired import Hired
from domain.lesson import Lesson, plain_rule, reproduces, rule_name, summed_up, wrongly
from domain.message import clean
from domain.red_rate import RedRate
from domain.report import Landed, Parked
from domain.site import Edit, Site
from domain.state import State, read, written
from domain.teaching import (
    Example,
    Tried,
    first_words,
    judged,
    landed_by_model,
    lesson_due,
    matches_itself,
    objection,
    proven,
    split,
    still_to_teach,
    teachable,
    to_open,
)
from domain.value import Refused

TEXTS = st.text(alphabet="ab\n", max_size=30)


@st.composite
def edited(draw):
    """A text, disjoint edits of it, and which of them somebody made."""
    text = draw(TEXTS)
    marks = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = zip(marks[0::2], marks[1::2], strict=False)
    edits = [Edit(start=a, end=b, text=draw(TEXTS)) for a, b in spans]
    edits = [e for n, e in enumerate(edits) if not n or e.start > edits[n - 1].end]
    made = [draw(st.booleans()) for _ in edits]
    return text, edits, [edit for edit, one in zip(edits, made, strict=True) if one]


@given(edited())
def test_a_rule_that_does_what_was_done_and_could_do_more_reproduces_it(given_):
    before, edits, made = given_
    after = applied(before, made)
    assume(after != before)

    assert reproduces(before, after, edits)


@given(edited(), TEXTS)
def test_what_no_choice_of_its_edits_makes_is_not_reproduced(given_, after):
    before, edits, _ = given_
    choices = [
        [e for n, e in enumerate(edits) if bits >> n & 1] for bits in range(1, 1 << len(edits))
    ]
    possible = {applied(before, chosen) for chosen in choices} - {before}

    assert reproduces(before, after, edits) == (after in possible)


@given(edited(), st.data())
def test_an_edit_that_made_the_difference_is_never_called_no_match(given_, data):
    before, edits, _ = given_
    assume(edits)
    after = applied(before, [data.draw(st.sampled_from(edits))])
    assume(after != before)

    assert wrongly(before, after, edits) is not None
    assert wrongly(before, after, []) is None


def example(n: int, before: str = "old\n", after: str = "new\n") -> Example:
    files = ((f"m{n}.py", before.encode(), after.encode()),)
    return Example(sha=f"{n:040x}", place=f"m{n}.py:1", files=files)


@given(st.integers(2, 40))
def test_no_example_is_both_shown_and_held_out_and_there_are_some_of_each(count):
    known = [example(n, f"old{n}x\n") for n in range(count)]
    chosen = split(known)

    assert sorted([*chosen.shown, *chosen.held], key=lambda one: one.sha) == known
    assert chosen.shown
    assert chosen.held
    told = first_words("call new", chosen)
    assert all(f"old{int(one.sha, 16)}x" not in told for one in chosen.held)
    assert all(f"old{int(one.sha, 16)}x" in told for one in chosen.shown[:5])


VERDICTS = st.sampled_from(["same", "nothing", "other", "again"])


@given(st.lists(VERDICTS, min_size=2, max_size=12))
def test_a_rule_that_once_did_otherwise_or_did_no_held_out_site_is_never_proved(verdicts):
    chosen = split([example(n) for n in range(len(verdicts))])
    tried = [
        Tried(example=one, verdict=verdict)
        for one, verdict in zip((*chosen.shown, *chosen.held), verdicts, strict=True)
    ]
    held = verdicts[len(chosen.shown) :]

    good = not {"other", "again"} & set(verdicts) and held.count("same") * 2 >= len(held)
    assert proven(tried, chosen) == good
    if not good:
        said = objection(tried, chosen)
        assert said
        mine = [one for one in tried if one.example in chosen.held]
        assert not any(re.search(rf"{one.example.place}\b", said) for one in mine)


@given(st.lists(VERDICTS, min_size=2, max_size=12))
def test_a_held_out_site_is_shown_only_while_another_one_stays_held_out(verdicts):
    chosen = split([example(n) for n in range(len(verdicts))])
    tried = [
        Tried(example=one, verdict=verdict)
        for one, verdict in zip((*chosen.shown, *chosen.held), verdicts, strict=True)
    ]
    opened = chosen.opened(to_open(tried, chosen))

    assert opened.held
    assert len(opened.held) >= len(chosen.held) - 1
    assert {*opened.shown, *opened.held} == {*chosen.shown, *chosen.held}


def test_each_verdict_on_one_example():
    one = example(1, "x = old(1)\ny = 1\n", "x = new(1)\ny = 1\n")
    texts = [(before.decode(), after.decode()) for _, before, after in one.files]

    def verdict(*edits: Edit) -> str:
        return judged(one, texts, [list(edits)]).verdict

    right = Edit(start=4, end=10, text="new(1)")
    assert verdict(right) == "same"
    assert verdict(right, Edit(start=15, end=16, text="2")) == "same", "another site of the file"
    assert verdict(Edit(start=15, end=16, text="2")) == "nothing"
    assert verdict() == "nothing"
    two = [*texts, ("a\n", "b\n")]
    both = example(1).model_copy(update={"files": (*one.files, ("b.py", b"a\n", b"b\n"))})
    assert judged(both, two, [[right], []]).verdict == "other", "half of what landed"
    assert judged(both, two, [[], []]).verdict == "nothing"
    other = judged(one, texts, [[Edit(start=4, end=10, text="newer(1)")]])
    assert other.verdict == "other"
    assert "-x = new(1)" in other.made
    assert "+x = newer(1)" in other.made
    assert matches_itself(texts, [[Edit(start=4, end=10, text="new(new(1))")]])
    assert not matches_itself(texts, [[Edit(start=15, end=16, text="2")]])


def landed(n: int, rule: str = "", run: str = "r") -> Landed:
    return Landed(
        sha=f"{n:040x}", site=f"m{n}.py:1", sites=(f"k{n}",), subject="s", verified="alone",
        run=run, rule=rule,
    )  # fmt: skip


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_a_rule_is_due_once_as_many_sites_landed_as_were_to_be_taught_and_never_with_sites_to_teach(
    teach, by_model, by_rule
):
    commits = [landed(n) for n in range(by_model)] + [landed(n, "r") for n in range(by_rule)]
    state = State(axis="a", landed=tuple(commits))

    assert len(landed_by_model(state)) == by_model
    assert lesson_due(teach, state) == (0 < teach <= by_model)
    assert still_to_teach(teach, state) == max(0, teach - by_model)
    known = state.model_copy(update={"lesson": Lesson(rule="x\n", taught=by_model)})
    assert not lesson_due(teach, known)
    assert still_to_teach(teach, known) == 0
    in_vain = state.model_copy(update={"lesson": Lesson(why="no", taught=by_model)})
    assert not lesson_due(teach, in_vain), "given up: not asked again for the same sites"
    assert still_to_teach(by_model + 1, in_vain) == 1, "but for more"


@given(st.integers(0, 9), st.integers(2, 9), st.integers(0, 9), st.integers(0, 9), st.booleans())
def test_what_is_saved_is_said_as_an_estimate_from_what_a_taught_site_cost(
    swept, taught, since, remaining, mine
):
    lesson = Lesson(rule="x\n", taught=taught, usd=0.5, usd_each=0.25, run="r" if mine else "q")
    before = taught if mine else 0
    commits = [landed(n) for n in range(before + since)] + [landed(n, "r") for n in range(swept)]
    parked = [Parked(site="a", reason="red", rule="r", run="r"), Parked(site="a", reason="red")]

    told = summed_up(lesson, "r", commits, parked, remaining)

    assert told is not None
    assert (told.taught, told.compiled, told.parked) == (taught, swept, 1)
    assert told.left == since + remaining
    assert told.saved_usd == pytest.approx(swept * 0.25 - (0.5 if mine else 0))
    assert summed_up(None, "r", commits, parked, remaining) is None


def site(key: str) -> Site:
    return Site(key=key, path="a.py")


def test_a_site_of_the_rule_that_has_not_landed_yet_is_no_site_that_was_taken_back():
    """Equal lines share a key: of three, one landed before a kill, and two are still there."""
    lesson = Lesson(rule="x\n", taught=2, left=("k", "k", "k", "other"))
    state = State(axis="a", lesson=lesson)
    commit = landed(1, "r").model_copy(update={"sites": ("k",)})

    after = state.land("f" * 40, [commit], RedRate())

    assert after.lesson is not None
    assert after.lesson.left == ("k", "k", "other")
    assert after.decline([site("k"), site("k").model_copy(update={"nth": 1})]).declined == ()
    back = [site("k").model_copy(update={"nth": n}) for n in range(3)]
    assert after.decline(back).declined == ("k#2",), "the operator took one back"


def test_the_state_keeps_a_lesson_and_one_in_vain_is_forgotten_when_all_is_tried_again():
    good = State(axis="a", lesson=Lesson(rule="id: x\nfix: y\n", taught=3, left=("k",)))

    assert read(written(good).encode(), "ref") == good
    assert good.retried().lesson == good.lesson
    assert State(axis="a", lesson=Lesson(why="no", taught=3)).retried().lesson is None


@given(st.text(max_size=50))
def test_a_rule_is_never_mistaken_for_the_name_of_a_file_and_its_name_holds_nothing_of_it(text):
    rule = plain_rule(text)

    assert rule == "" or rule.endswith("\n")
    assert re.fullmatch(r"[0-9a-f]{12}", rule_name(rule))
    assert clean(rule_name(rule))[0] == rule_name(rule)


def test_teaching_needs_a_model_and_two_sites():
    hired = Hired(family="claude")
    assert teachable(0, None) == 0
    assert teachable(2, hired) == 2
    with pytest.raises(Refused, match="no model was asked for"):
        teachable(5, None)
    with pytest.raises(Refused, match="Give 2 or more"):
        teachable(1, hired)
