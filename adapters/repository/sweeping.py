"""Sweeping: what does not belong into a checkout goes, whatever it is; links are never followed."""

import os
import stat
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from adapters.erasing import erase

OURS = ".git"
"""In the root of a checkout, and only there: laid anew at each move."""


def sweep(folder: Path, known: AbstractSet[str]) -> None:
    """Remove all but the `known` paths from the checkout in `folder`."""
    for path in strange(folder, known):
        erase(folder / path)


def strange(folder: Path, known: AbstractSet[str]) -> Iterator[str]:
    """What is not known; of a whole folder only its own path. A `.git` below the root is strange too.

    Folders that are known get the mode back that they were made with.
    """
    folders = _folders(known)
    # Beside the checkout lies a folder that nobody but us can have changed.
    usual = stat.S_IMODE(folder.parent.stat().st_mode)
    _as_made(folder, folder.stat().st_mode, usual)
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(folder / above) as entries:
            for entry in entries:
                path = f"{above}/{entry.name}" if above else entry.name
                if path == OURS:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if path in folders or path in known:
                        _as_made(entry.path, entry.stat(follow_symlinks=False).st_mode, usual)
                        waiting.append(path)
                    else:
                        yield path
                elif path not in known:
                    yield path


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
