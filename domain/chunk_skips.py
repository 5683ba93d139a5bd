"""Which files are in a plan, by what git's listing says of them: nothing is read.

The name, the size, the mode and the repository's attributes decide here. What only the content tells (binary
data under a telling name, a pointer of LFS, a comment that says `generated`) is known for every content that was
read before, by its id; the rest stands in the plan until it is about to be shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from domain.chunk import Part
from domain.chunk_tokens import Kind, kind_of
from domain.skipped import (
    GENERATED_NAMES,
    LOCK_NAMES,
    MINIFIED_NAMES,
    NO_MARKS,
    UNMARKED,
    UNSAFE,
    VENDOR_FOLDERS,
    Marks,
    Reason,
    skipped_by_name,
)

ODD = {"120000": "symlink", "160000": "submodule"}
"""Modes of what is no file."""
OUT_OF_SCOPE, EMPTY = "outside of --paths", "empty"

Entry = tuple[str, str, int, str]
"""Mode, blob, size and path, as git lists a file."""


class Known(NamedTuple):
    """What a content turned out to be when it was read."""

    tokens: int
    reason: str = ""
    """Why it is skipped; empty: it is text that somebody wrote."""


NOTHING_KNOWN: Mapping[str, Known] = {}


class Sieve(NamedTuple):
    """What decides besides the listing."""

    within: Callable[[str], bool] | None = None
    """The scope; None: everything."""
    marks: Mapping[str, Marks] = NO_MARKS
    known: Mapping[str, Known] = NOTHING_KNOWN
    include_generated: bool = False

    def opens(self, path: str, reason: str) -> bool:
        """Whether a file is in the plan although its content says that nobody wrote it by hand."""
        denied = reason == "generated" and self.marks.get(path, UNMARKED).generated is False
        return denied or (self.include_generated and reason not in UNSAFE)

    def reason(self, path: str, binary: bool) -> str:
        """Why a file with content is skipped; empty: it is not. For names that may say something."""
        found: Reason | None = skipped_by_name(path, self.marks.get(path, UNMARKED))
        if found and not (self.include_generated and found not in UNSAFE):
            return found
        return "binary" if binary else ""


class Sifted(NamedTuple):
    """The files of a plan, by their folders, and what was left out."""

    packages: dict[str, list[Part]]
    skipped: Counter[str]


def _literals(patterns: Iterable[str]) -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    """Globs as endings, whole names and fragments, one of which is in every name that matches: a hundred times quicker."""
    endings: list[str] = []
    names: list[str] = []
    fragments: list[str] = []
    for pattern in patterns:
        pieces = pattern.split("*")
        if len(pieces) == 1:
            names.append(pattern)
        elif len(pieces) == 2 and not pieces[0]:  # noqa: PLR2004 -- `*` and an ending
            endings.append(pieces[1])
        else:
            fragments.append(max(pieces, key=len))
    return tuple(endings), frozenset(names), tuple(fragments)


ENDINGS, NAMES, FRAGMENTS = _literals((*GENERATED_NAMES, *MINIFIED_NAMES, *LOCK_NAMES))


def telling(name: str) -> bool:
    """Whether a name may be one that is skipped; `skipped_by_name` knows."""
    return name.endswith(ENDINGS) or name in NAMES or any(part in name for part in FRAGMENTS)


def sift(entries: Iterable[Entry], sieve: Sieve) -> Sifted:  # noqa: C901 -- one loop, for a million files
    """One pass over the listing. Its order is kept within a folder."""
    packages: dict[str, list[Part]] = {}
    skipped: Counter[str] = Counter()
    kinds: dict[str, Kind] = {}
    vendored: dict[str, bool] = {}
    within, marks, known = sieve.within, sieve.marks, sieve.known
    for mode, blob, size, path in entries:
        if within and not within(path):
            skipped[OUT_OF_SCOPE] += 1
            continue
        folder, _, name = path.rpartition("/")
        extension = name[name.rfind(".") + 1 :]
        kind = kinds.get(extension)
        if kind is None:
            kind = kinds[extension] = kind_of(extension)
        if folder not in vendored:
            vendored[folder] = not VENDOR_FOLDERS.isdisjoint(folder.split("/"))
        if not size or mode in ODD:
            skipped[ODD.get(mode, EMPTY)] += 1
            continue
        if kind.binary or vendored[folder] or path in marks or telling(name):
            reason = sieve.reason(path, kind.binary)
            if reason:
                skipped[reason] += 1
                continue
        found = known.get(blob)
        if found is None:
            tokens = -(-size * 100 // kind.ratio)
        elif found.reason and not sieve.opens(path, found.reason):
            skipped[found.reason] += 1
            continue
        else:
            tokens = found.tokens
        part = Part(path, blob, 1, 0, size, tokens)
        try:
            packages[folder].append(part)
        except KeyError:
            packages[folder] = [part]
    return Sifted(packages, skipped)
