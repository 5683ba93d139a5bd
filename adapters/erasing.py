"""Removing what other people's code has left: however deep, however long its paths, closed against us or not."""

import os
import stat
import uuid
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def erase(path: Path) -> None:
    """Remove a file, a link or a whole folder. No link is followed; what is not there is no error.

    `shutil.rmtree` calls itself and keeps a file open for every level: a thousand folders in one another,
    which one line of a test makes, end it with a RecursionError.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    path.chmod(stat.S_IRWXU)
    top = os.open(path, FOLDER)
    try:
        _empty(top)
    finally:
        os.close(top)
    path.rmdir()


def _empty(top: int) -> None:
    """Every folder below is moved up into the top one before it is emptied, so that depth costs nothing."""
    new, count = uuid.uuid4().hex, 0
    waiting = _without_files(top)
    while waiting:
        name = waiting.pop()
        folder = os.open(name, FOLDER, dir_fd=top)
        try:
            for inner in _without_files(folder):
                count += 1
                waiting.append(f"{new}-{count}")
                os.rename(inner, waiting[-1], src_dir_fd=folder, dst_dir_fd=top)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)


def _without_files(folder: int) -> list[str]:
    """Unlink all that is no folder; the names of the folders, which can be entered and moved from now on."""
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if is_folder:
            os.chmod(name, stat.S_IRWXU, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
    return [name for name, is_folder in found if is_folder]
