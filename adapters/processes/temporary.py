"""Temporary folders: what a killed run left of them, the next run removes.

Each is held by a lock on the folder itself. The kernel drops it with the process, so that a free one is
abandoned, whatever process ids say in whichever namespace.
"""

import atexit
import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from adapters.erasing import erase

PREFIX = "swathe."
"""Short: the path of a socket that a test makes in the folder has 108 bytes at the most."""


LASTING = Path("/var/tmp")  # noqa: S108 -- folders there are made as safely as anywhere
"""Where a sandbox, which has a /tmp of its own, can be given a folder."""


@contextmanager
def temporary_folder(above: Path | None = None) -> Generator[str]:
    """A folder for the block; `above` is the usual place, `LASTING`, or the operator's HOME."""
    path, handle = _held(above)
    try:
        yield path
    finally:
        _let_go(path, handle)


@cache
def private_home() -> str:
    """An empty HOME, for as long as we live."""
    path, handle = _held()
    atexit.register(_let_go, path, handle)
    return path


def forget_abandoned() -> None:
    """Remove the folders of processes that died."""
    places = (Path(tempfile.gettempdir()), LASTING, Path.home())
    for path in (path for place in places for path in place.glob(f"{_prefix(place)}*")):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(handle).st_uid != os.getuid():
                    continue
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                erase(path)
            finally:
                os.close(handle)


def _prefix(above: Path | None) -> str:
    """Nobody wants to see it in their HOME."""
    return f".{PREFIX}" if above == Path.home() else PREFIX


def _held(above: Path | None = None) -> tuple[str, int]:
    """A new folder and the handle that holds it; made again when somebody took it for abandoned before it was held."""
    while True:
        path = tempfile.mkdtemp(prefix=_prefix(above), dir=above)
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.isdir(path):  # noqa: PTH112 -- a plain path for the environment of commands
                return path, handle
            os.close(handle)


def _let_go(path: str, handle: int) -> None:
    with suppress(OSError):
        erase(Path(path))
    os.close(handle)
