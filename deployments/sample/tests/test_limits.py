import json

from tally.ledger import parse_ledger
from tally.limits import Limits, parse_limits, read_limits, warn
from tally.money import Money

LEDGER = parse_ledger("2024-03-01 food 12.50\n2024-03-02 fun 30\n2024-04-01 food 99\n")


def test_a_category_over_its_limit_is_named_with_the_excess():
    assert parse_limits({"food": "10"}).exceeded(LEDGER, "2024-03") == [("food", Money(250))]


def test_a_star_is_the_limit_of_all_others():
    limits = parse_limits({"food": "20", "*": "25"})
    assert limits.of("fun") == Money(2500)
    assert limits.exceeded(LEDGER, "2024-03") == [("fun", Money(500))]


def test_without_a_limit_nothing_is_exceeded():
    assert Limits({}).of("food") is None
    assert Limits({}).exceeded(LEDGER, "2024-03") == []


def test_limits_are_read_from_a_file(tmp_path):
    (tmp_path / "limits").write_text(json.dumps({"food": "10"}))
    assert read_limits(str(tmp_path / "limits")).of("food") == Money(1000)
    assert read_limits(str(tmp_path / "none")).of("food") is None


def test_a_warning_is_a_sentence():
    assert warn([("food", Money(250))]) == ["food is over its limit by 2.50"]
