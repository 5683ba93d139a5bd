"""What a person types."""

import argparse
import sys

from typing import Optional, Sequence

from tally.ledger import Ledger, read_ledger
from tally.limits import read_limits, warn
from tally.money import share
from tally.render import render

KEYS = {
    "category": lambda entry: entry.category,
    "month": lambda entry: entry.month,
    "day": lambda entry: entry.day.isoformat(),
}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parser().parse_args(arguments)
    ledger = read_ledger(options.ledger)
    if options.about is not None:
        ledger = ledger.where(lambda entry: entry.mentions(options.about))
    print(render(ledger.sums(KEYS[options.by]), options.format))
    if options.limits is not None:
        return report_limits(ledger, options.limits)
    return 0


def report_limits(ledger: Ledger, path: str) -> int:
    limits = read_limits(path)
    found = 0
    for month in sorted({entry.month for entry in ledger}):
        for line in warn(limits.exceeded(ledger, month)):
            sys.stderr.write("{}: {}\n".format(month, line))
            found = 1
    return found


def summary(ledger: Ledger) -> str:
    largest = ledger.largest()
    if largest is None:
        return "nothing spent"
    part = share(largest.amount, ledger.total())
    return "{} in {} entries; the largest is {} ({} %)".format(
        ledger.total(), len(ledger), largest.category, part
    )


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="tally", description="Adds up what a household spends.")
    result.add_argument("ledger")
    result.add_argument("--by", choices=sorted(KEYS.keys()), default="category")
    result.add_argument("--format", default="plain")
    result.add_argument("--about", default=None)
    result.add_argument("--limits", default=None)
    return result
