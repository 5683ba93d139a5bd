"""How a site is known again: by its rule, its file and the lines it covers, never by its row."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256

from domain.site import Site

KEY_DIGITS = 16


def site_key(rule: str, path: str, lines: Sequence[str]) -> str:
    """A digest that survives line drift and a change of indentation."""
    said = "\0".join((rule, path, *lines)).encode("utf-8", "surrogatepass")
    return sha256(said).hexdigest()[:KEY_DIGITS]


def numbered(sites: Iterable[Site]) -> tuple[Site, ...]:
    """`sites` in the order of their places, those with one key told apart by `nth`."""
    seen = Counter[str]()
    result: list[Site] = []
    for site in sorted(sites, key=lambda site: (site.path, first_offset(site), site.line)):
        nth = seen[site.key]
        seen[site.key] += 1
        result.append(site if site.nth == nth else site.model_copy(update={"nth": nth}))
    return tuple(result)


def first_offset(site: Site) -> int:
    return min((edit.start for edit in site.edits), default=0)


def barred(sites: Sequence[Site], exclude: AbstractSet[str]) -> frozenset[str]:
    """The ids among `sites` that `exclude` means.

    Of three equal sites the third was excluded and the first two have landed since: the one
    that is left is called the first, and is still the excluded one.
    """
    counts = Counter(site.key for site in sites)
    numbers = defaultdict[str, list[int]](list)
    for excluded in exclude:
        key, _, nth = excluded.partition("#")
        if key in counts:
            numbers[key].append(int(nth or 0))
    result = set[str]()
    for key, excluded_numbers in numbers.items():
        free = counts[key]
        for nth in sorted(excluded_numbers, reverse=True)[:free]:
            free = min(nth, free - 1)
            result.add(_id(key, free))
    return frozenset(result)


def without(exclude: AbstractSet[str], sites: Sequence[Site]) -> set[str]:
    """`exclude` less everything that it says of `sites`."""
    keys = {site.key for site in sites}
    return {excluded for excluded in exclude if excluded.partition("#")[0] not in keys}


def carried_over(
    before: Sequence[Site], gone: AbstractSet[str], marked: AbstractSet[str]
) -> frozenset[str]:
    """The ids that the sites `marked` bear once those in `gone` are no longer listed."""
    ranks = defaultdict[str, int](int)
    result = set[str]()
    for site in sorted(before, key=lambda site: site.nth):
        if site.id in gone:
            continue
        if site.id in marked:
            result.add(_id(site.key, ranks[site.key]))
        ranks[site.key] += 1
    return frozenset(result)


def _id(key: str, nth: int) -> str:
    return f"{key}#{nth}" if nth else key
