import datetime

import pytest

from tally.entry import BadLine, Entry, parse_line
from tally.money import Money


def test_a_line_has_a_day_a_category_an_amount_and_a_note():
    entry = parse_line(1, "2024-03-01  food  12.50  bread and cheese")
    assert (entry.day, entry.category, entry.amount) == (datetime.date(2024, 3, 1), "food", Money(1250))
    assert entry.note == "bread and cheese"


def test_a_note_may_be_missing():
    assert parse_line(1, "2024-03-01 rent 640").note is None


@pytest.mark.parametrize("line", ["", "   ", "# a comment", "  # another"])
def test_blank_lines_and_comments_are_no_entries(line):
    assert parse_line(1, line) is None


@pytest.mark.parametrize("line", ["2024-03-01 food", "yesterday food 1", "2024-03-01 food much"])
def test_a_line_that_cannot_be_read_names_its_number(line):
    with pytest.raises(BadLine, match="line 7: "):
        parse_line(7, line)


def test_an_entry_knows_its_month():
    entry = Entry(datetime.date(2024, 3, 1), "food", Money(100))
    assert entry.month == "2024-03"
    assert repr(entry) == "Entry(2024-03-01 food 1.00)"


def test_an_entry_is_found_by_its_note():
    entry = Entry(datetime.date(2024, 3, 1), "food", Money(100), "Apples")
    assert entry.mentions("apple")
    assert not Entry(entry.day, "food", Money(100)).mentions("apple")
