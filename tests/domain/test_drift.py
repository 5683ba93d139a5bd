"""Where a line is after an edit, by the hunks of git's own diff."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from domain.drift import Hunk, hunks, moved


def test_hunks_are_read_from_a_diff_without_context():
    diff = "--- a\n+++ b\n@@ -3 +3,2 @@ def f():\n-x\n+y\n+z\n@@ -9,0 +11 @@\n+w\n@@ -12,2 +13,0 @@\n-u\n-v\n"

    assert hunks(diff) == (Hunk(3, 1, 2), Hunk(9, 0, 1), Hunk(12, 2, 0))


def test_a_changed_line_is_nowhere_and_its_neighbours_move():
    changed = (Hunk(3, 1, 2), Hunk(9, 0, 1), Hunk(12, 2, 0))

    assert [moved(line, changed) for line in (2, 3, 4, 9, 10, 11, 12, 13, 14)] == [
        2,
        None,
        5,
        10,
        12,
        13,
        None,
        None,
        14,
    ]


@given(
    st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12)
)
def test_a_line_that_is_somewhere_reads_there_as_before(old, new):
    changed = tuple(
        Hunk(a + 1 if b > a else a, b - a, d - c)
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    )

    for line, text in enumerate(old, start=1):
        at = moved(line, changed)
        assert at is None or new[at - 1] == text
