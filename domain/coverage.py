"""The stop rules `covered` and `covered_by_both`: every file has a clean verdict on the content it has now.

The clean set names contents, so that nothing in it can be stale: an edit, another axis or other
settings ask for another key, and what they do not touch is not reviewed again.
"""

from collections.abc import Iterable, Mapping

from domain.sweep import Sweep
from domain.value import Value


class Mark(Value):
    """A clean verdict on one part of one content."""

    key: str
    families: tuple[str, ...]


CleanSet = Mapping[str, tuple[Mark, ...]]
"""Marks by path."""


def marked(clean: CleanSet, sweep: Sweep, index: int, family: str) -> dict[str, tuple[Mark, ...]]:
    """With a clean pass of `family` over what it was to look at in a chunk. Of those files, marks on earlier contents go."""
    result, looked_at = dict(clean), news(clean, sweep, index, family)
    for part, key in zip(sweep.chunk(index).parts, sweep.keys[index], strict=True):
        if part.path not in looked_at:
            continue
        current = {home.key for home in sweep.homes[part.path]}
        marks = {mark.key: mark for mark in result.get(part.path, ()) if mark.key in current}
        before = marks[key].families if key in marks else ()
        marks[key] = Mark(key=key, families=tuple(sorted({*before, family})))
        result[part.path] = tuple(marks[key] for key in sorted(marks))
    return result


def revoked(clean: CleanSet, paths: Iterable[str]) -> dict[str, tuple[Mark, ...]]:
    """Without the marks of these files: somebody found something in them."""
    gone = frozenset(paths)
    return {path: marks for path, marks in clean.items() if path not in gone}


def lacks(clean: CleanSet, sweep: Sweep, index: int, family: str) -> bool:
    """Whether a look of `family` at this chunk would bring a verdict that is missing."""
    both = sweep.terms.stop_when == "covered_by_both"
    wanted = frozenset([family] if both else sweep.terms.families)
    return any(
        wanted.isdisjoint(_families(clean, part.path, key))
        for part, key in zip(sweep.chunk(index).parts, sweep.keys[index], strict=True)
    )


def news(clean: CleanSet, sweep: Sweep, index: int, family: str) -> frozenset[str]:
    """The files of a chunk that `family` is to look at: those it is needed for.

    All of them where it is needed for none in particular, where every byte has to be shown, and where clean passes in a
    row are counted.
    """
    parts, terms = sweep.chunk(index).parts, sweep.terms
    everything = frozenset(part.path for part in parts)
    if terms.coverage == "full" or terms.stop_when == "streak":
        return everything
    wanted = frozenset([family] if terms.stop_when == "covered_by_both" else terms.families)
    found = {
        part.path
        for part, key in zip(parts, sweep.keys[index], strict=True)
        if wanted.isdisjoint(_families(clean, part.path, key))
    }
    return frozenset(found) or everything


def absent(clean: CleanSet, sweep: Sweep) -> tuple[str, ...]:
    """Families without a clean verdict on anything that is in the plan."""
    there: set[str] = set()
    for path, homes in sweep.homes.items():
        for home in homes:
            there |= _families(clean, path, home.key)
        if there.issuperset(sweep.terms.families):
            break
    return tuple(family for family in sweep.terms.families if family not in there)


def covered(clean: CleanSet, sweep: Sweep) -> bool:
    """Every file by somebody (or by both), and nobody who was asked stayed away. An empty plan is not covered."""
    missing = (
        lacks(clean, sweep, index, family)
        for index in range(sweep.size)
        for family in sweep.terms.families
    )
    return bool(sweep.size) and not any(missing) and not absent(clean, sweep)


def _families(clean: CleanSet, path: str, key: str) -> frozenset[str]:
    marks = clean.get(path, ())
    return frozenset(family for mark in marks if mark.key == key for family in mark.families)
