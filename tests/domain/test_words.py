import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.words import counted, duration, printable, tallied, without_credentials


@given(st.text())
def test_nothing_a_repository_says_controls_a_terminal(text: str):
    said = printable(text)

    assert said.isprintable()
    assert said == printable(said)


@given(st.text(), st.integers(1, 20))
def test_a_width_is_kept(text: str, width: int):
    assert len(printable(text, width)) <= width


def test_an_escape_sequence_loses_its_escape():
    assert printable("red \x1b[31m and\nmore\t!") == "red [31m and more !"


def test_a_password_in_an_address_is_not_said():
    assert (
        printable("git clone https://me:secret@example.org/x.git")
        == "git clone https://example.org/x.git"
    )
    assert without_credentials("two\nlines ssh://git@host/x") == "two\nlines ssh://host/x"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (185, "3 min 5 s"),
        (3599.6, "1 h 0 min"),
        (7805, "2 h 10 min"),
    ],
)
def test_a_duration_is_said_as_a_person_would(seconds: float, said: str):
    assert duration(seconds) == said


def test_one_is_singular():
    assert [counted(number, "site") for number in (0, 1, 2, 1200)] == [
        "0 sites",
        "1 site",
        "2 sites",
        "1,200 sites",
    ]


def test_a_tally_begins_with_the_most_frequent():
    assert tallied(["scope", "red", "red"]) == "2 red, 1 scope"
    assert tallied([]) == ""
