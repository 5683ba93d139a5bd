import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.edits import applied, drift, planned, successive
from domain.lines import ROW_END, Lines, byte_offsets, decoded, encoded
from domain.recognition import barred, carried_over, numbered, site_key, without
from domain.site import Edit, Site


def site(*edits: tuple[int, int, str], key: str = "k", line: int = 1) -> Site:
    return Site(
        key=key,
        path="a.py",
        line=line,
        edits=tuple(Edit(start=a, end=b, text=t) for a, b, t in edits),
    )


@st.composite
def texts_with_sites(draw: st.DrawFn) -> tuple[str, list[Site]]:
    text = draw(st.text(alphabet="ab\r\n\ufeff😀é", max_size=60))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
        lambda p: tuple(sorted(p))
    )
    edits = draw(st.lists(st.tuples(places, st.text(alphabet="xy\n", max_size=3)), max_size=12))
    return text, [site((a, b, t)) for (a, b), t in edits]


@given(case=texts_with_sites())
def test_each_text_holds_all_earlier_edits_and_the_last_one_all_of_them(
    case: tuple[str, list[Site]],
):
    text, sites = case
    steps = planned(sites).steps
    contents = list(successive(text, steps))

    for count, content in enumerate(contents, start=1):
        assert content == applied(text, [edit for step in steps[:count] for edit in step[0].edits])


@given(case=texts_with_sites())
def test_every_site_is_in_one_step_or_waits(case: tuple[str, list[Site]]):
    _, sites = case
    plan = planned(sites)

    assert sorted(
        [*(s.edits for step in plan.steps for s in step), *(s.edits for s in plan.waiting)], key=str
    ) == sorted((s.edits for s in sites), key=str)


def test_a_site_inside_another_waits():
    outer, inner, after = site((0, 9, "x")), site((3, 4, "y")), site((12, 13, "z"))

    plan = planned([after, inner, outer])

    assert plan.steps == ((outer,), (after,))
    assert plan.waiting == (inner,)


def test_a_site_that_touches_another_waits():
    assert planned([site((0, 3, "x")), site((3, 5, "y"))]).waiting == (site((3, 5, "y")),)
    assert planned([site((0, 3, "x")), site((4, 5, "y"))]).waiting == ()


def test_findings_that_ask_for_the_same_edit_are_one_step():
    one, other = site((0, 3, "x"), key="a"), site((0, 3, "x"), key="b")

    assert planned([one, other]).steps == ((one, other),)


def test_a_site_whose_own_edits_overlap_is_never_applied():
    assert planned([site((0, 5, "x"), (3, 7, "y"))]).steps == ()
    assert planned([site((0, 3, "x"), (3, 7, "y"))]).steps != ()


def test_an_edit_outside_the_text_is_an_error():
    assert applied("abc", [Edit(start=3, end=3, text="d")]) == "abcd"
    with pytest.raises(ValueError, match="leaves the text"):
        applied("abc", [Edit(start=2, end=4, text="d")])


def test_four_hundred_sites_in_one_file_take_no_time():
    text = "value = 1\n" * 40_000
    sites = [site((at * 1000, at * 1000 + 5, "other")) for at in range(400)]
    began = time.process_time()

    *_, last = successive(text, planned(sites).steps)

    assert last.count("other") == 400
    assert time.process_time() - began < 2


@given(content=st.binary(max_size=200))
def test_no_byte_is_lost_between_a_file_and_its_text(content: bytes):
    assert encoded(decoded(content)) == content


@given(text=st.text(alphabet="a\r\n\x0c\u2028é\ufeff", max_size=40))
def test_rows_are_what_linters_call_rows(text: str):
    lines = Lines(text)

    assert len(lines.starts) == len(ROW_END.findall(text)) + 1
    for row, start in enumerate(lines.starts, start=1):
        assert lines.row(start) == row


def test_a_byte_order_mark_takes_no_column():
    assert Lines("\ufeffab\ncd").offset(1, 1) == 1
    assert Lines("ab\ncd").offset(1, 1) == 0
    assert Lines("\ufeffab\ncd").offset(2, 1) == 4
    assert Lines("ab").offset(9, 1) == 2


@given(text=st.text(alphabet="aé😀\n", max_size=40))
def test_byte_offsets_become_offsets_of_characters(text: str):
    at = {len(text[:i].encode()): i for i in range(len(text) + 1)}

    assert byte_offsets(text, set(at)) == at


def test_a_key_survives_drift_and_indentation_and_nothing_else():
    lines = Lines("\n\n    x = 1\n").between(3, 3)

    assert site_key("R", "a.py", lines) == site_key("R", "a.py", Lines("x = 1").between(1, 1))
    assert site_key("R", "a.py", lines) != site_key("R", "b.py", lines)
    assert site_key("R", "a.py", lines) != site_key("S", "a.py", lines)


def equal_sites(count: int) -> tuple[Site, ...]:
    return numbered(site((at, at + 1, "x"), line=at + 1) for at in range(count))


def test_equal_sites_are_told_apart_by_number():
    assert [s.id for s in equal_sites(3)] == ["k", "k#1", "k#2"]


@given(count=st.integers(1, 6), data=st.data())
def test_the_excluded_site_stays_excluded_when_others_with_its_key_are_gone(
    count: int, data: st.DataObject
):
    sites = equal_sites(count)
    number = data.draw(st.integers(0, count - 1))
    gone = data.draw(st.sets(st.integers(0, count - 1).filter(lambda n: n != number)))
    excluded = {sites[number].id}

    after = carried_over(sites, {sites[n].id for n in gone}, excluded)

    left = [n for n in range(count) if n not in gone]
    assert after == {equal_sites(len(left))[left.index(number)].id}


@given(count=st.integers(1, 6), numbers=st.sets(st.integers(0, 9), max_size=4))
def test_as_many_are_barred_as_were_excluded(count: int, numbers: set[int]):
    out = barred(equal_sites(count), {f"k#{n}" if n else "k" for n in numbers})

    assert len(out) == min(count, len(numbers))
    assert out <= {s.id for s in equal_sites(count)}
    if all(n < count for n in numbers):
        assert out == {f"k#{n}" if n else "k" for n in numbers}


def test_what_is_said_of_other_files_is_kept():
    assert without({"k", "k#1", "other#1"}, equal_sites(2)) == {"other#1"}


ROWS = st.lists(st.sampled_from("abc"), min_size=1, max_size=8)


@given(head=ROWS, old=ROWS, new=ROWS, tail=ROWS)
def test_rows_outside_an_edit_are_found_where_they_went(
    head: list[str], old: list[str], new: list[str], tail: list[str]
):
    before, after = head + old + tail, head + new + tail
    moved = drift(before, after)

    for row, said in enumerate(before, start=1):
        if now := moved.moved(row, row):
            assert after[now[0] - 1] == said
    # Among equal rows one may be taken for another; rows that occur once are never lost.
    marked = drift([*head, "d", *old, "e", *tail], [*head, "d", *new, "e", *tail])
    first, last = len(head) + 1, len(head) + len(old) + 2
    assert marked.moved(first, first) == (first, first)
    assert marked.moved(last, last) == (last - len(old) + len(new),) * 2


def test_a_row_that_was_edited_is_not_followed():
    assert drift(["a", "b", "c"], ["a", "x", "c"]).moved(2, 2) is None
    assert drift(["a", "b", "c"], ["a", "x", "c"]).moved(1, 3) is None
