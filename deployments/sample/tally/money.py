# -*- coding: utf-8 -*-
"""Amounts of money in whole cents, so that sums are exact."""

import math
import re

from typing import Iterable, Optional, Union

AMOUNT = re.compile(r"^(?P<sign>-?)(?P<units>\d+)(?:\.(?P<cents>\d{1,2}))?$")


class BadAmount(ValueError):
    """The text is not an amount."""

    def __init__(self, text: str, reason: Optional[str] = None) -> None:
        super(BadAmount, self).__init__(text)
        self.text = text
        self.reason = reason

    def __str__(self) -> str:
        if self.reason:
            return "{!r} is not an amount: {}".format(self.text, self.reason)
        return "{!r} is not an amount".format(self.text)


class Money(object):
    """An amount, in cents."""

    def __init__(self, cents: int = 0) -> None:
        self.cents = cents

    def __add__(self, other: "Money") -> "Money":
        return Money(self.cents + other.cents)

    def __neg__(self) -> "Money":
        return Money(-self.cents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    def __lt__(self, other: "Money") -> bool:
        return self.cents < other.cents

    def __hash__(self) -> int:
        return hash(self.cents)

    def __repr__(self) -> str:
        return "Money({})".format(self.cents)

    def __str__(self) -> str:
        sign = "-" if self.cents < 0 else ""
        return "{}{}.{:02d}".format(sign, abs(self.cents) // 100, abs(self.cents) % 100)


def parse_money(text: Union[str, int]) -> Money:
    """`12`, `12.5` and `12.50` are twelve and a half or so; an int is whole units."""
    if isinstance(text, int):
        return Money(text * 100)
    found = AMOUNT.match(text.strip())
    if found is None:
        raise BadAmount(text, "write it as 12.50" if "," in text else None)
    cents = int(found.group("units")) * 100 + int((found.group("cents") or "").ljust(2, "0"))
    return Money(-cents if found.group("sign") else cents)


def total(amounts: Iterable[Money]) -> Money:
    result = Money()
    for amount in amounts:
        result = result + amount
    return result


def share(part: Money, whole: Money) -> Optional[float]:
    """Which part of the whole, in percent; None when there is no whole."""
    if not whole.cents:
        return None
    return round(100.0 * part.cents / whole.cents, 1)
