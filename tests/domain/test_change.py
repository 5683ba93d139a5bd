from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.change import counted, some, subject
from domain.site import Site


def site(
    path: str = "sqlparse/lexer.py", line: int = 41, rule: str = "UP032", message: str = ""
) -> Site:
    return Site(key="k", path=path, line=line, rule=rule, message=message)


@pytest.mark.parametrize(
    ("sites", "line"),
    [
        (
            [site(message="Use f-string instead of `format` call")],
            "Fix UP032 in sqlparse/lexer.py:41: use f-string instead of format call",
        ),
        (
            [site(message="SQL is built by hand")],
            "Fix UP032 in sqlparse/lexer.py:41: SQL is built by hand",
        ),
        ([site(rule="", message="x")], "Fix in sqlparse/lexer.py:41: x"),
        ([site(line=1), site(line=2, rule="C4")], "Fix UP032, C4 in sqlparse/lexer.py (2 sites)"),
        ([site(), site("b.py")], "Fix UP032 in 2 files (2 sites)"),
        ([site("a\nb\x1b[0m.py")], "Fix UP032 in a b?[0m.py:41"),
    ],
)
def test_a_subject_says_what_was_done_and_where(sites: list[Site], line: str):
    assert subject(sites) == line


@given(
    path=st.text(min_size=1, max_size=300),
    rule=st.text(max_size=40),
    message=st.text(max_size=300),
    count=st.integers(1, 3),
)
def test_every_subject_is_one_printable_line_of_at_most_72_characters(
    path: str, rule: str, message: str, count: int
):
    line = subject([site(path, at, rule, message) for at in range(1, count + 1)])

    assert 0 < len(line) <= 72
    assert line.isprintable()


def test_notes_count_and_name():
    assert counted(Counter({"F841": 12}), "have no safe fix") == ("12 of F841 have no safe fix",)
    assert some(["a.py"]) == "a.py"
    assert some(["a.py", "b.py", "c.py", "d.py"]) == "4 files (a.py, b.py, c.py, …)"
