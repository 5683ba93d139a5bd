"""One line of a ledger."""

import datetime
import os

from typing import List, Optional

from tally.money import Money, parse_money


class BadLine(ValueError):
    """A line of a ledger that cannot be read."""

    def __init__(self, number: int, line: str, reason: str) -> None:
        super(BadLine, self).__init__("line {}: {}: {!r}".format(number, reason, line))
        self.number = number


class Entry(object):
    """What was spent, when, and on what."""

    def __init__(self, day: datetime.date, category: str, amount: Money, note: Optional[str] = None) -> None:
        self.day = day
        self.category = category
        self.amount = amount
        self.note = note

    @property
    def month(self) -> str:
        return "{}-{:02d}".format(self.day.year, self.day.month)

    def mentions(self, word: str) -> bool:
        return word.lower() in (self.note or u"").lower()

    def __repr__(self) -> str:
        return "Entry({} {} {})".format(self.day, self.category, self.amount)


def parse_line(number: int, line: str) -> Optional[Entry]:
    """The entry of a line; None for a blank line or a comment."""
    if not line.strip() or line.lstrip().startswith("#"):
        return None
    parts: List[str] = line.split(None, 3)
    if len(parts) < 3:
        raise BadLine(number, line, "expected day, category and amount")
    try:
        day = datetime.date.fromisoformat(parts[0])
        amount = parse_money(parts[2])
    except ValueError as error:
        raise BadLine(number, line, str(error))
    note = parts[3].strip() if len(parts) > 3 else None
    return Entry(day, parts[1], amount, note)
