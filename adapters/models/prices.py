"""Prices of models, from the list that genai-prices ships: no network, and as old as the installation."""

from decimal import Decimal
from typing import Any

from domain.prices import Price, Rates, Tier

INPUT, OUTPUT = "input_mtok", "output_mtok"
READ, WRITE, LONG_WRITE = "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok"


def price_of(model: str, provider: str) -> Price | None:
    """The price of a provider's model, or None when the list does not have it, or not all of it."""
    from genai_prices import Usage, calc_price  # noqa: PLC0415 -- slow to import

    try:
        found: Any = calc_price(Usage(), model_ref=model, provider_id=provider).model_price
    except LookupError:
        return None
    base = _rates(found, 0)
    if base is None:
        return None
    tiers: list[Tier] = []
    for start in sorted(_starts(found)):
        rates = _rates(found, start + 1)
        if rates is not None:
            tiers.append(Tier(above=start, rates=rates))
    return Price(rates=base, tiers=tuple(tiers))


def _rates(found: Any, input_tokens: int) -> Rates | None:
    price, output = _at(found, INPUT, input_tokens), _at(found, OUTPUT, input_tokens)
    if price is None or output is None:
        return None
    read, write = _at(found, READ, input_tokens), _at(found, WRITE, input_tokens)
    # We ask Claude's cache to keep things for an hour, which costs more than the usual five minutes.
    long = _at(found, LONG_WRITE, input_tokens)
    return Rates(
        input=price,
        output=output,
        cache_read=price if read is None else read,
        cache_write=max(price if write is None else write, long or 0.0),
    )


def _at(found: Any, name: str, input_tokens: int) -> float | None:
    value = getattr(found, name, None)
    if value is None or isinstance(value, Decimal | int | float):
        return None if value is None else float(value)
    reached = [tier.price for tier in value.tiers if input_tokens > tier.start]
    return float(reached[-1] if reached else value.base)


def _starts(found: Any) -> set[int]:
    values = (getattr(found, name, None) for name in (INPUT, OUTPUT, READ, WRITE, LONG_WRITE))
    return {tier.start for value in values for tier in getattr(value, "tiers", ())}
