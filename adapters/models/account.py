"""The account of a run: its ledger, on disk before anything is sent."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock

from pydantic import TypeAdapter, ValidationError

from adapters.models.lines import append, read_lines
from domain.ledger import Cap, Caps, Entry, Ledger, Lost, Reserved, Settled
from domain.prices import Tokens

LEDGER = "ledger.jsonl"
"""In the folder of a run."""
ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


@dataclass
class _Book:
    """One file of entries, whoever in this process writes to it: the jobs of a run share its money."""

    lock: RLock = field(default_factory=RLock)
    ledger: Ledger = field(default_factory=Ledger)


_books: dict[Path, _Book] = {}


class Account:
    """Entries in `path`, one line each. One process writes it at a time: a run holds its target's lock."""

    def __init__(
        self,
        path: Path,
        caps: Caps,
        *,
        before: float = 0.0,
        raised: Callable[[Caps], Caps] = lambda caps: caps,
    ) -> None:
        self.path = path
        self._caps = caps
        self._raised = raised
        self.before = before
        self.book = _books.setdefault(path, _Book())
        with self.book.lock:
            self.book.ledger = Ledger.of(_entries(path))

    @property
    def ledger(self) -> Ledger:
        book = self.book.ledger
        return book.model_copy(update={"before": self.before}) if self.before else book

    @property
    def caps(self) -> Caps:
        """As far as they were raised by now."""
        return self._raised(self._caps)

    def record(self, entry: Entry) -> None:
        """On disk first, and then in our own sum."""
        with self.book.lock:
            append(self.path, entry.model_dump(mode="json"))
            self.book.ledger = self.book.ledger.record(entry)

    def reserve(self, number: int, site: str, reserved: Callable[[], Reserved]) -> Cap | None:
        """Write a reservation down, unless a cap leaves no money for it: no other job may come in between."""
        with self.book.lock:
            cap = self.cap_reached(number, site)
            if cap is None:
                self.record(reserved())
            return cap

    def recover(self, answers: Mapping[str, tuple[float, Tokens]], calls: Iterable[str]) -> None:
        """Settle what a dead process left open of `calls`: found in a conversation, or lost."""
        mine = set(calls)
        for call in self.ledger.open:
            if call in answers:
                usd, tokens = answers[call]
                self.record(Settled(call=call, usd=usd, tokens=tokens))
            elif call in mine:
                self.record(Lost(call=call, why="the run was killed while it was under way"))

    def cap_reached(self, number: int, site: str) -> Cap | None:
        """The widest cap that leaves no money for another call."""
        return next((cap for cap in self.ledger.caps(self.caps, number, site) if cap.reached), None)

    def cap_near(self, number: int, site: str) -> Cap | None:
        return next((cap for cap in self.ledger.caps(self.caps, number, site) if cap.near), None)

    def opened(self, prefix: str) -> list[str]:
        """Calls of one conversation."""
        return [call for call in self.ledger.accounts if call.startswith(prefix)]


def _entries(path: Path) -> list[Entry]:
    found: list[Entry] = []
    for record in read_lines(path):
        try:
            found.append(ENTRY.validate_python(record))
        except ValidationError:
            # A line that a crash tore or joined: the reservation before it stays charged.
            continue
    return found
