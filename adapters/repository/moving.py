"""Moving a checkout that others write to, by what differs.

Git's own way (`read-tree --reset -u`) stats every file and reads every tree. But as soon as nobody
writes to the checkout any more it can be looked over, beside whatever the engine does next; the move
then mends what was altered and writes what differs between the two commits. Measured at 7,000 files:
17 ms instead of 43, at 100,000: 130 instead of 600. Where no look was made (in a new process), and for
all that is not a plain file written or changed, git moves the checkout.
"""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from adapters.erasing import erase
from adapters.repository.git import Place, git, started
from adapters.repository.sweeping import Seen, stand, strange, sweep

FILES = (b"100644", b"100755")
ABSENT = b"000000"
ATTRIBUTES = b".gitattributes"
ALTERED = ("diff-files", "-z", "--name-only", "--ignore-submodules=all")

Row = tuple[bytes, bytes, bytes]
"""Of a path that differs: its mode before, its mode now, its blob now."""
Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Look:
    """What was found in a checkout after somebody worked in it."""

    known: frozenset[str]
    """Its tracked files, and those that are to be kept."""
    altered: tuple[bytes, ...]
    """Tracked files that are not as they were checked out."""
    strangers: tuple[str, ...]


_looking: dict[Path, "tuple[str, Future[Look]]"] = {}
"""By folder: the commit it stands on, and the look that was begun."""
_seen: dict[Path, tuple[frozenset[str], dict[str, Seen]]] = {}
"""What looks at a checkout remember of its folders, while the same is to be kept and until git moves it."""
_beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="look")


def look_over(place: Place, folder: Path, commit: str, keep: frozenset[str]) -> None:
    """Begin to look over the checkout of `commit`. From now on nobody but `put` may write there."""
    _looking[folder] = commit, _beside.submit(_look, place, folder, keep)


def put(place: Place, folder: Path, commit: str, keep: frozenset[str] = frozenset()) -> None:
    """Put the checkout on `commit`: tracked files exact, nothing else but what is in `keep`."""
    if folder in _looking:
        standing, looking = _looking.pop(folder)
        rows = dict(_differences(place, standing, commit))
        # A look that failed is none: git finds out what is wrong with the checkout, or mends it.
        if not looking.exception() and _stepped(place, folder, looking.result(), rows, keep):
            return
    _seen.pop(folder, None)
    stand(folder)
    # Sweep first: a link in the place of a folder must be gone when git writes into that folder.
    sweep(folder, known(place) | keep)
    git(place, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit)


def known(place: Place) -> frozenset[str]:
    """The files of the place's index."""
    stamp, files = _listed.get(_index(place), (None, frozenset[str]()))
    if stamp and stamp == _stamp(place):
        return files
    text = git(place, "ls-files", "-z")
    return _remember(place, frozenset(os.fsdecode(path) for path in text.split(b"\0") if path))


_listed: dict[Path, tuple[Stamp | None, frozenset[str]]] = {}
"""The files of an index, as long as that has not been written anew: git puts a new file in its place."""


def _remember(place: Place, files: frozenset[str]) -> frozenset[str]:
    _listed[_index(place)] = _stamp(place), files
    return files


def _index(place: Place) -> Path:
    return place.index or place.git_dir / "index"


def _stamp(place: Place) -> Stamp | None:
    try:
        seen = _index(place).stat()
    except FileNotFoundError:
        return None
    return seen.st_ino, seen.st_mtime_ns, seen.st_size


def _look(place: Place, folder: Path, keep: frozenset[str]) -> Look:
    known_here = known(place) | keep
    if folder not in _seen or _seen[folder][0] != keep:
        _seen[folder] = keep, {}
    with started(place, *ALTERED) as comparing:
        strangers = tuple(strange(folder, known_here, _seen[folder][1]))
        altered, trouble = comparing.communicate()
    if trouble or comparing.returncode:
        # A folder was closed against us; by now it is open.
        altered = git(place, *ALTERED)
    return Look(
        known=known_here,
        altered=tuple(path for path in altered.split(b"\0") if path),
        strangers=strangers,
    )


def _stepped(
    place: Place, folder: Path, look: Look, rows: Mapping[bytes, Row], keep: frozenset[str]
) -> bool:
    """Whether the checkout could be moved file by file."""
    paths = {*rows, *look.altered}
    plain = all(old in {*FILES, ABSENT} and new in FILES for old, new, _ in rows.values())
    attributes = any(path.rpartition(b"/")[2] == ATTRIBUTES for path in paths)
    if not plain or attributes or not keep <= look.known or folder.is_symlink():
        return False
    for path in look.strangers:
        erase(folder / path)
    files = known(place)
    if rows:
        entries = (b"%s %s\t%s\0" % (mode, blob, path) for path, (_, mode, blob) in rows.items())
        git(place, "update-index", "-z", "--index-info", stdin=b"".join(entries))
    if paths:
        written = b"".join(path + b"\0" for path in sorted(paths))
        git(
            place, "checkout-index", "--force", "--index", "--quiet", "-z", "--stdin", stdin=written
        )
    _remember(place, files.union(map(os.fsdecode, rows)))
    return True


def _differences(place: Place, old: str, new: str) -> Iterator[tuple[bytes, Row]]:
    fields = git(place, "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split(b"\0")
    for head, path in zip(fields[0::2], fields[1::2], strict=False):
        before, now, _, blob, _ = head.removeprefix(b":").split(b" ")
        yield path, (before, now, blob)
