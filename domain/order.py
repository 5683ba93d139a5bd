"""What is asked of one job of a sweep, and what it hands back."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from pydantic import Field

from domain.change import Grain
from domain.commit import Halt
from domain.recognition import barred
from domain.site import Listing, Site
from domain.value import Value
from domain.worklist import Found, Item, Span

TURNS = 64
"""More than an item can have: the number of an order is its item's and its turn's."""


class SweepTerms(Value):
    """How a sweep is carried out."""

    jobs: int = Field(
        default=1,
        ge=1,
        le=64,
        title="Jobs",
        description="Items that are worked on at the same time, each in a clone of its own.",
    )
    max_items: int | None = Field(
        default=None,
        gt=0,
        title="Items",
        description="At most this many in this run; the others wait for the next.",
    )
    attempts: int = Field(
        default=2,
        ge=1,
        le=5,
        title="Attempts",
        description="How often a model may try an item that was turned down; a rule tries once.",
    )
    list_minutes: float = Field(
        default=30.0,
        gt=0,
        title="Minutes for the list",
        description="How long a model may look for items; work begins with the first that it names.",
    )
    grain: Grain = Field(
        default="finding",
        title="One item is",
        description="Of a rule's findings: one of them, those of a file, or those of a rule.",
    )


class UnitTerms(Value):
    """How units are carried out."""

    jobs: int = Field(
        default=1,
        ge=1,
        le=64,
        title="Jobs",
        description="Units that are worked on at the same time, each in a clone of its own.",
    )
    max_items: int | None = Field(
        default=None,
        gt=0,
        title="Units",
        description="At most this many in this run; the others wait for the next.",
    )
    looks: int = Field(
        default=8,
        ge=2,
        le=40,
        title="Reviews of a unit",
        description="One that is not found clean twice in a row by then is parked.",
    )

    @property
    def sweep(self) -> SweepTerms:
        """As the list and the queue know them: a unit is tried once."""
        return SweepTerms(jobs=self.jobs, max_items=self.max_items, attempts=1)


class Order(Value):
    """Items to be made in one go: one for a model; for a rule those that lie in the same files."""

    number: int
    """The same for the same items at the same turn, whoever asks."""
    turns: tuple[tuple[str, int], ...]
    """Items, each with how often it was made before."""

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(item for item, _ in self.turns)

    @classmethod
    def of(cls, items: Sequence[Item]) -> "Order":
        first = items[0]
        return cls(
            number=first.number * TURNS + first.turns,
            turns=tuple((one.id, one.turns) for one in items),
        )


class Look(Value):
    """A part of an enumeration."""

    number: int
    """Of the enumeration, from 1."""
    part: int = 0
    tip: str


class Enumeration(Value):
    """What a part of an enumeration came to."""

    listing: Listing = Listing()
    found: tuple[Found, ...] = ()
    """Of what is no listing of sites: units."""
    tip: str = ""
    """What was looked at."""
    more: bool = False
    """There is another part."""
    whole: bool = True
    """Everything was looked at."""
    sure: bool = True
    """What is not named is not there: by a rule. A model may have overlooked it."""
    halt: Halt = ""
    why: str = ""
    dropped: int = 0
    """Named without a target that exists."""
    seconds: float = 0.0


UNKNOWN = Enumeration(whole=False, sure=False)
"""Nobody has looked yet: the list is what earlier runs left of it."""


class Made(Value):
    """What an order came to. Its commits lie on the shelf, under its number."""

    order: Order
    base: str
    commits: dict[str, str] = {}
    """By item, the commit that was made of it."""
    gone: dict[str, str] = {}
    """Items of which nothing is to be done any more, with why."""
    unmade: dict[str, str] = {}
    """Items that no commit came of, with why."""
    again: dict[str, str] = {}
    """Items that could not be made beside others, with why: once those have landed, they may."""
    usd: float = 0.0
    seconds: float = 0.0
    halt: Halt = ""
    why: str = ""
    notes: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()
    """Of units: contents that two reviews in a row found clean."""


def orders(items: Sequence[Item], *, together: bool) -> tuple[Order, ...]:
    """The items in orders; `together`: those that share a file are made in one, as commits on top of each other."""
    if not together:
        return tuple(Order.of([item]) for item in items)
    groups: list[list[Item]] = []
    files: list[set[str]] = []
    for item in items:
        mine = [n for n, paths in enumerate(files) if paths & item.paths]
        if not mine:
            groups.append([item])
            files.append(set(item.paths))
            continue
        first, *others = mine
        groups[first].append(item)
        files[first] |= item.paths
        for n in reversed(others):
            groups[first] += groups.pop(n)
            files[first] |= files.pop(n)
    return tuple(Order.of(group) for group in groups)


def found_in(sites: Sequence[Site], grain: Grain) -> tuple[Found, ...]:
    """What a listing names, as items: findings that ask for the very same edit are one."""
    groups: dict[object, list[Site]] = {}
    for site in sites:
        groups.setdefault(_group(site, grain), []).append(site)
    return tuple(
        Found(
            sites=tuple(site.key for site in group),
            targets=tuple(
                Span(path=site.path, line=site.line, end_line=max(site.line, site.end_line))
                for site in group
            ),
            title=f"{group[0].rule} {group[0].message}".strip(),
            change=group[0].message,
        )
        for group in groups.values()
    )


def _group(site: Site, grain: Grain) -> object:
    if grain == "file":
        return site.path
    if grain == "rule":
        return site.rule
    return (site.path, site.edits) if site.edits else site.id


def wanted(
    sites: Sequence[Site], keys: Iterable[str], settled: Collection[str]
) -> tuple[Site, ...]:
    """The sites that items are about: of equal ones as many as are asked for, and none that was settled."""
    out = barred(sites, frozenset(settled))
    left = Counter(keys)
    chosen: list[Site] = []
    for site in sites:
        if site.id not in out and left[site.key] > 0:
            left[site.key] -= 1
            chosen.append(site)
    return tuple(chosen)
