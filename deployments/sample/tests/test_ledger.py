from tally.ledger import Ledger, parse_ledger, read_ledger
from tally.money import Money

TEXT = """# March
2024-03-01  food    12.50  bread and cheese
2024-03-02  rent   640.00

2024-04-02  food     3.20  apples
"""


def test_a_ledger_skips_what_is_no_entry():
    assert len(parse_ledger(TEXT)) == 3


def test_a_ledger_adds_up():
    assert parse_ledger(TEXT).total() == Money(65570)


def test_sums_by_category():
    assert parse_ledger(TEXT).sums(lambda entry: entry.category) == {
        "food": Money(1570),
        "rent": Money(64000),
    }


def test_sums_by_month():
    assert sorted(parse_ledger(TEXT).sums(lambda entry: entry.month)) == ["2024-03", "2024-04"]


def test_categories_are_sorted():
    assert parse_ledger(TEXT).categories() == ["food", "rent"]


def test_the_largest_entry():
    assert parse_ledger(TEXT).largest().category == "rent"
    assert Ledger().largest() is None


def test_a_file_that_is_not_there_is_an_empty_ledger(tmp_path):
    assert len(read_ledger(str(tmp_path / "none"))) == 0


def test_a_ledger_is_read_from_a_file(tmp_path):
    (tmp_path / "ledger").write_text(TEXT, encoding="utf-8")
    assert [entry.category for entry in read_ledger(str(tmp_path / "ledger"))] == ["food", "rent", "food"]


def test_scripts_of_version_1_0_still_find_parse_money_here():
    from tally.ledger import parse_money

    assert parse_money("1") == Money(100)
