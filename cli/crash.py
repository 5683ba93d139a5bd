"""The log of a defect of ours: what a bug report needs. And what is no defect: a disk that takes no more."""

import errno
import os
import platform
import shutil
import sys
import tempfile
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from adapters.home import swathe_home
from adapters.redacting import clean
from domain.value import Refused
from domain.words import without_credentials

DISK = (
    *map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)),
    "Out of diskspace",  # git's own words, of an index or a pack
)

LEAST_BYTES = 1_000_000
"""What a disk has left that counts as full."""

PARTS = ("swathe", "prefect", "gitpython", "pydantic", "typer", "rich", "ruff")


def disk_trouble(trouble: BaseException) -> str:
    """What the disk said, by itself or through git; empty when it was something else.

    git tells most failures to write without their cause, so that the disk is asked too.
    """
    from adapters.repository.git import GitFailed

    said = str(trouble)
    if any(words in said for words in DISK):
        return said
    return said if isinstance(trouble, OSError | GitFailed) and _is_full() else ""


def _is_full() -> bool:
    with suppress(OSError, Refused):
        return shutil.disk_usage(swathe_home()).free < LEAST_BYTES
    return False


def write_log(defect: BaseException) -> Path | None:
    """Write what happened to a file of its own, and return its path; None where nothing can be written."""
    now = datetime.now(UTC)
    lines = [
        f"at: {now.isoformat(timespec='seconds')}",
        f"command: {sys.argv[1:]!r}",
        f"python: {platform.python_version()} on {platform.platform()}",
        f"versions: {', '.join(f'{part} {_version(part)}' for part in PARTS)}",
        "",
        "".join(traceback.format_exception(defect)),
    ]
    text = clean(without_credentials("\n".join(lines))).encode("utf-8", "backslashreplace")
    for folder in (_ours, _temporary):
        with suppress(OSError, Refused):
            log = folder() / f"{now:%Y%m%d-%H%M%S-%f}.log"
            log.write_bytes(text)
            return log
    return None


def _ours() -> Path:
    folder = swathe_home() / "crashes"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="swathe-crash-"))


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "missing"
