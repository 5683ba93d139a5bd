"""What counts as shown: lines whole, and long lines once all of their characters were."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chunk import Part
from domain.shown import Shown, whole
from domain.verdict import Engagement

LENGTH = 9_000


def piece(begin, end, line=3):
    return Shown(
        path="a.js", first=line, last=line, ends=True, columns=(begin, end), closes=end >= LENGTH
    )


@pytest.mark.parametrize(
    "shown",
    [
        Shown(path="a.py", first=1, last=9),
        Shown(path="odd: 3-4$@1-2", first=1, last=9, ends=True),
        Shown(path="a.js", first=3, last=3, columns=(1, 2_000)),
        Shown(path="a.js", first=3, last=3, ends=True, columns=(2_001, LENGTH), closes=True),
    ],
)
def test_a_note_says_what_was_shown(shown):
    assert Shown.parse(shown.note) == shown


@given(st.sets(st.integers(2, LENGTH), max_size=6), st.randoms())
def test_a_long_line_is_shown_once_its_pieces_leave_no_gap(cuts, draw):
    edges = [1, *sorted(cuts), LENGTH + 1]
    pieces = [piece(a, b - 1) for a, b in pairwise(edges)]
    draw.shuffle(pieces)

    assert list(whole(pieces)) == [Shown(path="a.js", first=3, last=3, ends=True)]
    for left_out in pieces:
        assert list(whole(one for one in pieces if one is not left_out)) == []


def test_pieces_of_two_lines_make_no_line():
    assert list(whole([piece(1, 2_000, line=3), piece(2_001, LENGTH, line=4)])) == []


def test_a_gap_is_closed_by_the_last_piece_of_a_long_line():
    part = Part(path="a.js", blob="b", bytes=LENGTH + 8, tokens=9, first_line=2, last_line=3)
    begun = (Shown(path="a.js", first=1, last=2), piece(1, 2_000))

    assert Engagement(seen=begun).gap(part) == "a.js:3-3"
    assert Engagement(seen=begun).paths == {"a.js"}, "it was opened all the same"
    assert Engagement(seen=(*begun, piece(2_001, LENGTH))).gap(part) == ""
