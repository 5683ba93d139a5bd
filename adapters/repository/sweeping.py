"""Sweeping: what does not belong into a checkout goes, whatever it is; links are never followed."""

import os
import stat
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from adapters.erasing import erase

OURS = ".git"
"""In the root of a checkout, and only there: laid anew at each move."""


COARSE_NS = 2_000_000_000
"""The clock of a file system may stand still for so long: a folder that changed since then may change again unseen."""


class Seen(NamedTuple):
    """What a walk saw of a folder."""

    stamp: tuple[int, int, int]
    """Device, inode, and when the inode changed: no program can set that back."""
    below: frozenset[str]
    """Known folders in it."""


NEVER = Seen((0, 0, 0), frozenset())


def sweep(folder: Path, known: AbstractSet[str]) -> None:
    """Remove all but the `known` paths from the checkout in `folder`."""
    for path in strange(folder, known):
        erase(folder / path)


def strange(
    folder: Path, known: AbstractSet[str], seen: dict[str, Seen] | None = None
) -> Iterator[str]:
    """What is not known; of a whole folder only its own path. A `.git` below the root is strange too.

    Folders that are known get the mode back that they were made with. `seen` is the memory of earlier walks over the
    same checkout, for as long as nothing that was known then is unknown now: what is in a folder that nobody
    wrote to since need not be looked at again.
    """
    seen = {} if seen is None else seen
    # Beside the checkout lies a folder that nobody but us can have changed.
    usual = stat.S_IMODE(folder.parent.stat().st_mode)
    folders = _Folders(known)
    began = time.time_ns()
    waiting = [""]
    while waiting:
        above = waiting.pop()
        here = f"{folder}/{above}"
        status = os.lstat(here)
        _as_made(here, status.st_mode, usual)
        stamp = status.st_dev, status.st_ino, status.st_ctime_ns
        before, below = seen.pop(above, NEVER), list[str]()
        if before.stamp == stamp:
            seen[above] = before
            waiting += before.below
            continue
        with os.scandir(here) as entries:
            for entry in entries:
                path = f"{above}/{entry.name}" if above else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if path == OURS:
                    continue
                if is_folder and (path in before.below or path in folders or path in known):
                    below.append(path)
                elif is_folder or path not in known:
                    yield path
        if began - status.st_ctime_ns > COARSE_NS:
            seen[above] = Seen(stamp, frozenset(below))
        waiting += below


def files_below(path: Path) -> Iterator[Path]:
    """The file itself, or all files in a folder."""
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for above, _, names in os.walk(path):
        for name in names:
            yield Path(above, name)


def _as_made(folder: Path | str, mode: int, usual: int) -> None:
    """One that was closed could be neither looked into nor written to, and git keeps no modes of folders."""
    if stat.S_IMODE(mode) != usual:
        Path(folder).chmod(usual)


class _Folders:
    """The folders that paths lie in, worked out when they are asked for."""

    def __init__(self, paths: AbstractSet[str]) -> None:
        self.paths = paths
        self.found: set[str] | None = None

    def __contains__(self, path: str) -> bool:
        if self.found is None:
            self.found = set(_folders(self.paths))
        return path in self.found


def _folders(paths: AbstractSet[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


def stand(folder: Path) -> None:
    """Make sure that `folder` is a real one. Somebody may have put a link there."""
    if folder.is_symlink() or not folder.is_dir():
        erase(folder)
        folder.mkdir(parents=True)
