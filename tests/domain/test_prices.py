"""What tokens cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.prices import Price, Rates, Tier, Tokens, parse_price
from domain.value import Refused

CHEAP = Rates(input=2, output=10, cache_read=0.1, cache_write=2.5)
DEAR = Rates(input=4, output=15, cache_read=0.2, cache_write=5)
TIERED = Price(rates=CHEAP, tiers=(Tier(above=272_000, rates=DEAR),))


def test_each_kind_of_token_has_its_rate():
    tokens = Tokens(plain=1_000_000, read=1_000_000, written=1_000_000, output=1_000_000)
    assert Price(rates=CHEAP).usd(tokens) == pytest.approx(14.6)


def test_above_a_tier_every_token_costs_more():
    assert TIERED.usd(Tokens(plain=272_000)) == pytest.approx(0.544)
    assert TIERED.usd(Tokens(read=272_001)) == pytest.approx(272_001 * 0.2 / 1e6)


@given(
    plain=st.integers(0, 400_000),
    read=st.integers(0, 400_000),
    written=st.integers(0, 400_000),
    output=st.integers(0, 40_000),
    more=st.integers(0, 1000),
)
def test_a_reservation_covers_every_call_within_its_numbers(plain, read, written, output, more):
    tokens = Tokens(plain=plain, read=read, written=written, output=output)
    assert TIERED.most_usd(tokens.input + more, output + more) >= TIERED.usd(tokens)


def test_a_typed_price_is_read():
    assert parse_price("4/20/0.2/8").rates == Rates(
        input=4, output=20, cache_read=0.2, cache_write=8
    )
    assert parse_price(" 4 / 20 ").rates.cache_read == 4


@pytest.mark.parametrize("text", ["", "4", "4/20/1", "4/-1", "4/nan", "$4/$20", "4/20/1/2/3"])
def test_what_is_no_price_is_refused(text):
    with pytest.raises(Refused, match="'4/20'"):
        parse_price(text)
