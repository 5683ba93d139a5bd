"""A ledger: all entries of a file, in order."""

import collections
import io
import sys

from typing import Callable, Dict, Iterator, List, Optional

from tally.entry import Entry, parse_line
from tally.money import Money, parse_money, total


class Ledger(object):
    """Entries, and the questions one asks about them."""

    def __init__(self, entries: Optional[List[Entry]] = None) -> None:
        self.entries = entries or []

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def total(self) -> Money:
        return total(entry.amount for entry in self.entries)

    def where(self, wanted: Callable[[Entry], bool]) -> "Ledger":
        return Ledger([entry for entry in self.entries if wanted(entry)])

    def categories(self) -> List[str]:
        return sorted({entry.category for entry in self.entries})

    def sums(self, key: Callable[[Entry], str]) -> Dict[str, Money]:
        """The sum of each group of entries with the same key."""
        sums: Dict[str, Money] = {}
        for entry in self.entries:
            name = key(entry)
            if name in sums.keys():
                sums[name] = sums[name] + entry.amount
            else:
                sums[name] = entry.amount
        return sums

    def largest(self) -> Optional[Entry]:
        return max(self.entries, key=lambda entry: entry.amount.cents, default=None)


def read_ledger(path: str) -> Ledger:
    """Read a ledger; a file that is not there is an empty one."""
    try:
        with io.open(path, "r", encoding="utf-8") as lines:
            return parse_ledger(lines.read())
    except IOError:
        return Ledger()


def parse_ledger(text: str) -> Ledger:
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = parse_line(number, line)
        if entry is not None:
            entries.append(entry)
    return Ledger(entries)
