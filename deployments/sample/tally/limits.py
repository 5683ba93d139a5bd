"""What a month may cost, by category."""

import json

from typing import Dict, Iterable, List, Mapping, Optional, Tuple

from tally.entry import Entry
from tally.ledger import Ledger
from tally.money import Money, parse_money


class Limits(object):
    """An upper limit for each category; `*` stands for all others."""

    def __init__(self, limits: Mapping[str, Money]) -> None:
        self.limits = dict(limits)

    def of(self, category: str) -> Optional[Money]:
        if category in self.limits.keys():
            return self.limits[category]
        return self.limits.get("*", None)

    def exceeded(self, ledger: Ledger, month: str) -> List[Tuple[str, Money]]:
        """Categories over their limit in that month, with the excess."""
        spent = ledger.where(lambda entry: entry.month == month).sums(lambda entry: entry.category)
        over = []
        for category in sorted(spent.keys()):
            limit = self.of(category)
            if limit is not None and limit < spent[category]:
                over.append((category, spent[category] + -limit))
        return over


def read_limits(path: str) -> Limits:
    try:
        with open(path, "r") as stored:
            return parse_limits(json.load(stored))
    except EnvironmentError:
        return Limits({})


def parse_limits(stored: Dict[str, str]) -> Limits:
    return Limits({name: parse_money(amount) for name, amount in stored.items()})


def warn(over: Iterable[Tuple[str, Money]]) -> List[str]:
    return ["{} is over its limit by {}".format(category, excess) for category, excess in over]
