"""Moving a checkout that others write to, by what differs.

Git's own way (`read-tree --reset -u`) stats every file and reads every tree. But as soon as nobody
writes to the checkout any more it can be looked over, beside whatever the engine does next; the move
then mends what was altered and writes what differs between the two commits. Measured at 7,000 files:
17 ms instead of 43, at 100,000: 130 instead of 600. Where no look was made (in a new process), and for
all that is not a plain file written or changed, git moves the checkout.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from adapters.erasing import erase
from adapters.repository.git import Place, git
from adapters.repository.sweeping import stand, strange, sweep

FILES = (b"100644", b"100755")
ABSENT = b"000000"
ATTRIBUTES = b".gitattributes"


@dataclass(frozen=True)
class Look:
    """What was found in a checkout after somebody worked in it."""

    commit: str
    """That it stands on."""
    known: frozenset[str]
    """Its tracked files, and those that are to be kept."""
    altered: tuple[bytes, ...]
    """Tracked files that are not as they were checked out."""
    strangers: tuple[str, ...]


_looking: dict[Path, "Future[Look]"] = {}
_beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="look")


def look_over(place: Place, folder: Path, commit: str, keep: frozenset[str]) -> None:
    """Begin to look over the checkout of `commit`. From now on nobody but `put` may write there."""
    _looking[folder] = _beside.submit(_look, place, folder, commit, keep)


def put(place: Place, folder: Path, commit: str, keep: frozenset[str] = frozenset()) -> None:
    """Put the checkout on `commit`: tracked files exact, nothing else but what is in `keep`."""
    look = _look_at(folder)
    if look and _stepped(place, folder, look, commit, keep):
        return
    stand(folder)
    # Sweep first: a link in the place of a folder must be gone when git writes into that folder.
    sweep(folder, known(place) | keep)
    git(place, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit)


def known(place: Place) -> frozenset[str]:
    """The files of the place's index."""
    listed = git(place, "ls-files", "-z")
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)


def _look_at(folder: Path) -> Look | None:
    looking = _looking.pop(folder, None)
    # A look that failed is none: git finds out what is wrong with the checkout, or mends it.
    return None if looking is None or looking.exception() else looking.result()


def _look(place: Place, folder: Path, commit: str, keep: frozenset[str]) -> Look:
    known_here = known(place) | keep
    # First, since it opens folders that were closed against us: git sees no change in those.
    strangers = tuple(strange(folder, known_here))
    altered = git(place, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
    return Look(
        commit=commit,
        known=known_here,
        altered=tuple(path for path in altered.split(b"\0") if path),
        strangers=strangers,
    )


def _stepped(place: Place, folder: Path, look: Look, commit: str, keep: frozenset[str]) -> bool:
    """Whether the checkout could be moved file by file."""
    rows = dict(_differences(place, look.commit, commit))
    paths = {*rows, *look.altered}
    plain = all(old in {*FILES, ABSENT} and new in FILES for old, new, _ in rows.values())
    attributes = any(path.rpartition(b"/")[2] == ATTRIBUTES for path in paths)
    if not plain or attributes or not keep <= look.known or folder.is_symlink():
        return False
    for path in look.strangers:
        erase(folder / path)
    if rows:
        entries = (b"%s %s\t%s\0" % (mode, blob, path) for path, (_, mode, blob) in rows.items())
        git(place, "update-index", "-z", "--index-info", stdin=b"".join(entries))
    if paths:
        written = b"".join(path + b"\0" for path in sorted(paths))
        git(
            place, "checkout-index", "--force", "--index", "--quiet", "-z", "--stdin", stdin=written
        )
    return True


def _differences(
    place: Place, old: str, new: str
) -> Iterator[tuple[bytes, tuple[bytes, bytes, bytes]]]:
    """By path: its mode before, its mode now, its blob now."""
    fields = git(place, "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split(b"\0")
    for head, path in zip(fields[0::2], fields[1::2], strict=False):
        before, now, _, blob, _ = head.removeprefix(b":").split(b" ")
        yield path, (before, now, blob)
