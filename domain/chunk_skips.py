"""Which files are in a plan, by what git's listing says of them: nothing is read.

The name, the size, the mode and the repository's attributes decide here. What only the content tells (binary
data under a telling name, a pointer of LFS, a comment that says `generated`) is known for every content that was
read before, by its id; the rest stands in the plan until it is about to be shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from domain.chunk import Part
from domain.chunk_tokens import kind_of
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


def _literals(patterns: Iterable[str]) -> tuple[tuple[str, ...], frozenset[str], str]:
    """Globs as endings, whole names, and what is in every other name that matches: a hundred times quicker."""
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
    return tuple(endings), frozenset(names), _common_end(fragments)


def _common_end(texts: list[str]) -> str:
    end = texts[0]
    while not all(text.endswith(end) for text in texts):
        end = end[1:]
    return end


ENDINGS, NAMES, FRAGMENT = _literals((*GENERATED_NAMES, *MINIFIED_NAMES, *LOCK_NAMES))


class _Look(NamedTuple):
    """What is to be looked at in a name, by its extension."""

    ratio: int
    binary: bool
    endings: tuple[str, ...]


def _look(extension: str) -> _Look:
    kind = kind_of(extension)
    endings = tuple(end for end in ENDINGS if end.rpartition(".")[2] == extension)
    return _Look(kind.ratio, kind.binary, endings)


def telling(name: str) -> bool:
    """Whether a name may be one that is skipped; `skipped_by_name` knows."""
    endings = _look(name[name.rfind(".") + 1 :]).endings
    return name.endswith(endings) or name in NAMES or FRAGMENT in name


def sift(entries: Iterable[Entry], sieve: Sieve) -> Sifted:
    """One pass over the listing. Its order is kept within a folder."""
    packages: dict[str, list[Part]] = {}
    skipped: Counter[str] = Counter()
    looks: dict[str, _Look] = {}
    within, marks, known = sieve.within, sieve.marks, sieve.known
    last, vendored = None, False
    package: list[Part] = []
    new = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- half the time of `Part(...)`
    for mode, blob, size, path in entries:
        if within and not within(path):
            skipped[OUT_OF_SCOPE] += 1
            continue
        if not size or mode in ODD:
            skipped[ODD.get(mode, EMPTY)] += 1
            continue
        folder, _, name = path.rpartition("/")
        if folder != last:
            last, vendored = folder, not VENDOR_FOLDERS.isdisjoint(folder.split("/"))
            package = packages.setdefault(folder, [])
        extension = name[name.rfind(".") + 1 :]
        look = looks.get(extension)
        if look is None:
            look = looks[extension] = _look(extension)
        ratio, binary, endings = look
        if (
            binary
            or vendored
            or (endings and name.endswith(endings))
            or FRAGMENT in name
            or name in NAMES
            or (marks and path in marks)
        ):
            reason = sieve.reason(path, binary)
            if reason:
                skipped[reason] += 1
                continue
        found = known.get(blob) if known else None
        if found is None:
            tokens = -(-size * 100 // ratio)
        elif found.reason and not sieve.opens(path, found.reason):
            skipped[found.reason] += 1
            continue
        else:
            tokens = found.tokens
        package.append(new(Part, (path, blob, 1, 0, size, tokens)))  # pyright: ignore[reportUnknownArgumentType]
    return Sifted({folder: parts for folder, parts in packages.items() if parts}, skipped)
