"""The provider's own bill: every answer it made, on disk, whatever became of it on the way to the client."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from stub_cache import Count

MILLION = 1_000_000


@dataclass(frozen=True)
class Rates:
    """US dollars for a million tokens."""

    plain: float
    output: float
    read: float
    written: float


RATES = {"claude": Rates(4, 20, 0.2, 8), "gpt": Rates(2, 10, 0.1, 2.5)}


@dataclass
class Bill:
    """`rates`: instead of the usual ones, for every family."""

    path: Path
    rates: Rates | None = None
    lock: Lock = field(default_factory=Lock)

    def charge(self, family: str, count: Count, output: int, **more: Any) -> float:
        rates = self.rates or RATES[family]
        usd = (
            count.plain * rates.plain
            + count.read * rates.read
            + count.written * rates.written
            + output * rates.output
        ) / MILLION
        row = {
            "family": family,
            "plain": count.plain,
            "read": count.read,
            "written": count.written,
            "output": output,
            "usd": usd,
            **more,
        }
        with self.lock, self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        return usd

    @property
    def rows(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    @property
    def usd(self) -> float:
        return sum(row["usd"] for row in self.rows)
