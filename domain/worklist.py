"""The work-list: ranked, finite, and every item of it ends once (ADR-057).

What a second enumeration finds is merged in: an item is known again by its place's key, which survives line drift
and unrelated edits, and equal places are counted. Nothing is lost, nothing is listed twice.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, Self

from pydantic import Field

from domain.value import Refused, Value
from domain.words import counted

Ended = Literal["", "landed", "parked", "declined", "gone"]
NAMED = 12
"""Characters of an id that are shown, and enough to name it."""
MOST_CLEAN = 20_000
MOST_TURNS = 6
"""Times that an item is made, whatever becomes of it."""


class Span(Value):
    """A part of a file."""

    path: str
    line: int = 1
    end_line: int = 1
    symbol: str = ""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Found(Value):
    """What an enumeration names: an item that is not in the list yet, or the same one again."""

    sites: tuple[str, ...]
    """Of the places it is made of, as `recognition.site_key` makes them. The first names the item."""
    targets: tuple[Span, ...]
    title: str = ""
    change: str = ""
    severity: int = 0
    """What is worse goes first; 0 where nobody says."""

    @property
    def name(self) -> str:
        return self.sites[0]


class Item(Value):
    """One entry of the list."""

    id: str
    """The key of its place; the second of equal places is `key#1`."""
    number: int = Field(ge=1)
    """In the order of finding. It is never given twice."""
    sites: tuple[str, ...]
    targets: tuple[Span, ...]
    """Files and ranges, as the enumeration saw them."""
    title: str = ""
    change: str = ""
    """What is to be done there, in words."""
    severity: int = 0
    attempts: int = 0
    """Times that it was made and turned down."""
    turns: int = 0
    """Times that it was made at all: what fits on no tip is made anew, and that is no failure."""
    usd: float = 0.0
    ended: Ended = ""
    why: str = ""

    @property
    def name(self) -> str:
        return self.sites[0]

    @property
    def open(self) -> bool:
        return not self.ended

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(span.path for span in self.targets)

    @property
    def size(self) -> int:
        """Lines that it is about."""
        return sum(span.end_line - span.line + 1 for span in self.targets)

    @property
    def place(self) -> str:
        return self.targets[0].place if self.targets else ""


class Merged(Value):
    """What one enumeration added and took away."""

    new: int = 0
    gone: int = 0


class Worklist(Value):
    """Items, the next one first."""

    items: tuple[Item, ...] = ()
    most_attempts: int = 1
    """An item that was turned down so often is parked."""
    dropped: int = 0
    """What an enumeration named without a target that exists."""
    clean: tuple[str, ...] = ()
    """Contents of units that were found clean twice in a row: not looked at again."""

    @property
    def open(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.open)

    @property
    def settled(self) -> frozenset[str]:
        """Ids of places that are not to be worked on: parked or declined."""
        settled = (item for item in self.items if item.ended in ("parked", "declined"))
        return frozenset(
            site for item in settled for site in (item.sites if len(item.sites) > 1 else (item.id,))
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many ended how; `open` for the others."""
        return dict(Counter(item.ended or "open" for item in self.items))

    def item(self, item_id: str) -> Item:
        return next(item for item in self.items if item.id == item_id)

    def named(self, words: str) -> Item:
        """The item that a person means: its id, or enough of its beginning."""
        exact = [item for item in self.items if item.id == words]
        found = exact or [item for item in self.items if words and item.id.startswith(words)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Refused(
                f"{words!r} begins {counted(len(found), 'item')}: {', '.join(item.id for item in found[:5])}. Say more of it."
            )
        raise Refused(
            f"no item is called {words!r}. `swathe list` shows the ids; their first {NAMED} characters are enough."
        )

    def due(
        self, running: Collection[str], limit: int, *, together: bool = False
    ) -> tuple[Item, ...]:
        """The first open items, as many as may be begun beside those that run: no two touch one file.

        `together`: those that do are made one after the other, by one job, and may all be chosen.
        """
        busy = {path for item in self.items if item.id in running for path in item.paths}
        chosen: list[Item] = []
        for item in self.items:
            if len(chosen) >= limit:
                break
            if item.open and item.id not in running and not (item.paths & busy):
                chosen.append(item)
                busy |= frozenset() if together else item.paths
        return tuple(chosen)

    def merge(
        self, found: Sequence[Found], *, whole: bool, since: Collection[str] = ()
    ) -> tuple["Worklist", Merged]:
        """The list with what an enumeration found; `whole`: it looked everywhere, so that what it lacks is gone.

        `found` is without what was parked or declined: the caller knows those by the state. `since`: items that landed
        while it looked, so that it may name them still. Of equal places as many are new as there are more than these
        and the open ones. What had landed before and is there again is a new item.
        """
        late = Counter(item.name for item in self.items if item.id in since and not item.open)
        there = Counter(one.name for one in found) - late
        known = Counter(item.name for item in self.open)
        new: list[Found] = []
        seen: Counter[str] = Counter()
        for one in found:
            seen[one.name] += 1
            if seen[one.name] > known[one.name] + late[one.name]:
                new.append(one)
        listed = self._moved(found)._with(new)
        lost = listed._lost(there, known) if whole else frozenset[str]()
        ended = listed._end(lost, "gone", "it is not there any more")
        return ended, Merged(new=len(new), gone=len(lost))

    def _moved(self, found: Sequence[Found]) -> "Worklist":
        """Open items where the enumeration saw them last."""
        places: dict[str, list[tuple[Span, ...]]] = {}
        for one in found:
            places.setdefault(one.name, []).append(one.targets)
        items: list[Item] = []
        for item in self.items:
            spans = places.get(item.name) if item.open else None
            items.append(item.model_copy(update={"targets": spans.pop(0)}) if spans else item)
        return self._as(items)

    def _lost(self, there: Counter[str], known: Counter[str]) -> frozenset[str]:
        lost: set[str] = set()
        left = Counter({name: known[name] - there[name] for name in known})
        for item in reversed(self.items):
            if item.open and left[item.name] > 0:
                left[item.name] -= 1
                lost.add(item.id)
        return frozenset(lost)

    def _with(self, new: Iterable[Found]) -> "Worklist":
        """New items behind those that are no less severe."""
        items = list(self.items)
        used: Counter[str] = Counter(item.name for item in items)
        number = max((item.number for item in items), default=0)
        for one in new:
            number += 1
            nth, used[one.name] = used[one.name], used[one.name] + 1
            item = Item(
                id=f"{one.name}#{nth}" if nth else one.name,
                number=number,
                sites=one.sites,
                targets=one.targets,
                title=one.title,
                change=one.change,
                severity=one.severity,
            )
            items.insert(_rank(items, item), item)
        return self._as(items)

    def cleared(self, contents: Iterable[str]) -> "Worklist":
        """Note what needs no look any more; the latest are kept."""
        kept = tuple(dict.fromkeys((*self.clean, *contents)))[-MOST_CLEAN:]
        return self if kept == self.clean else self.model_copy(update={"clean": kept})

    def drop(self, count: int) -> "Worklist":
        """Note what could not be listed, since it names no target."""
        return self.model_copy(update={"dropped": self.dropped + count}) if count else self

    def end(self, item_ids: Iterable[str], ended: Ended, why: str = "") -> "Worklist":
        """End open items. One that has ended stays as it ended."""
        return self._end(frozenset(item_ids), ended, why)

    def _end(self, item_ids: frozenset[str], ended: Ended, why: str) -> "Worklist":
        if not item_ids:
            return self
        return self._as(
            item.model_copy(update={"ended": ended, "why": why})
            if item.open and item.id in item_ids
            else item
            for item in self.items
        )

    def landed(self, item_ids: Iterable[str]) -> "Worklist":
        return self._turned(frozenset(item_ids), {}).end(item_ids, "landed")

    def turned_down(self, reasons: Mapping[str, str]) -> "Worklist":
        """Items that were made and did not land, with why: they are open for another attempt, or parked."""
        turned = self._turned(reasons.keys(), reasons)
        for item in turned.items:
            if item.id in reasons and item.attempts >= self.most_attempts:
                turned = turned.end([item.id], "parked", reasons[item.id])
        return turned

    def redone(self, item_ids: Iterable[str], why: str) -> "Worklist":
        """Items that fit on no tip any more: made anew, which is no failure, but not for ever."""
        turned = self._turned(frozenset(item_ids), {})
        late = [one.id for one in turned.items if one.turns >= MOST_TURNS and one.id in item_ids]
        return turned.end(late, "parked", why)

    def _turned(self, item_ids: AbstractSet[str], failed: Collection[str]) -> "Worklist":
        return self._as(
            item.model_copy(
                update={"turns": item.turns + 1, "attempts": item.attempts + (item.id in failed)}
            )
            if item.open and item.id in item_ids
            else item
            for item in self.items
        )

    def paid(self, usd: Mapping[str, float]) -> "Worklist":
        """With what was spent on items, in US dollars."""
        return self._as(
            item.model_copy(update={"usd": item.usd + usd[item.id]}) if usd.get(item.id) else item
            for item in self.items
        )

    def reopened(self) -> "Worklist":
        """Parked and declined items are open again (`--retry`)."""
        return self._as(
            item.model_copy(update={"ended": "", "why": "", "attempts": 0, "turns": 0})
            if item.ended in ("parked", "declined")
            else item
            for item in self.items
        )

    def strike(self, words: str) -> "Worklist":
        """The operator does not want this item done."""
        item = self.named(words)
        if not item.open:
            raise Refused(
                f"item {item.id} is not open: it is {item.ended}{f' ({item.why})' if item.why else ''}."
            )
        return self.end([item.id], "declined", "struck by the operator")

    def move(self, words: str, *, to_front: bool) -> "Worklist":
        """Do this item first, or last."""
        item = self.named(words)
        others = [one for one in self.items if one.id != item.id]
        return self._as([item, *others] if to_front else [*others, item])

    def _as(self, items: Iterable[Item]) -> Self:
        return self.model_copy(update={"items": tuple(items)})


def _rank(items: Sequence[Item], new: Item) -> int:
    """Behind the last one that is no less severe."""
    for place in range(len(items), 0, -1):
        if items[place - 1].severity >= new.severity:
            return place
    return 0
