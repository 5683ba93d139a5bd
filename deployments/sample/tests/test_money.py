import pytest

from tally.money import BadAmount, Money, parse_money, share, total


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12", 1200), ("12.5", 1250), ("12.50", 1250), ("-3.20", -320), (" 0.05 ", 5), (7, 700)],
)
def test_an_amount_is_read(text, cents):
    assert parse_money(text) == Money(cents)


@pytest.mark.parametrize("text", ["", "twelve", "1.234", "--1", "1."])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(BadAmount, match="is not an amount"):
        parse_money(text)


def test_a_comma_gets_advice():
    with pytest.raises(BadAmount) as refused:
        parse_money("12,50")
    assert str(refused.value) == "'12,50' is not an amount: write it as 12.50"


@pytest.mark.parametrize(("cents", "text"), [(0, "0.00"), (5, "0.05"), (1250, "12.50"), (-320, "-3.20")])
def test_an_amount_is_written(cents, text):
    assert str(Money(cents)) == text


def test_amounts_compare_and_hash_by_value():
    assert Money(1) < Money(2)
    assert len({Money(1), Money(1), Money(2)}) == 2
    assert Money(1) != 1
    assert repr(Money(3)) == "Money(3)"


def test_a_sum_is_exact():
    assert total([Money(10)] * 3) == Money(30)
    assert -Money(5) == Money(-5)


def test_a_share_is_in_percent():
    assert share(Money(1), Money(3)) == 33.3
    assert share(Money(1), Money(0)) is None
