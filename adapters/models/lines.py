"""Files of JSON lines that survive a kill: appended whole, synced, and read without their torn last line."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from adapters.whole import write_whole


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add one line, and return when it is on the disk."""
    data = json.dumps(record, separators=(",", ":")).encode() + b"\n"
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _ends_whole(fd):
            # A kill left half a line; ours must not be joined to it.
            data = b"\n" + data
        while data:
            data = data[os.write(fd, data) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write the file anew, with these lines."""
    write_whole(path, "".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in records))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All whole lines. One that is no JSON object is left out: it was torn by a kill."""
    if not path.exists():
        return []
    found: list[dict[str, Any]] = []
    for line in path.read_bytes().split(b"\n"):
        try:
            record: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(cast("dict[str, Any]", record))
    return found


def _ends_whole(fd: int) -> bool:
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"
