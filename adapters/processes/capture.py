"""Output in bounded memory: its head and its tail, and a log of it on disk up to a cap."""

from collections import deque
from pathlib import Path
from typing import Self

from adapters.redacting import CleanBytes


class Capture:
    """Keeps the first and the last half of `keep_bytes`, counts the rest, and copies all of it to `log`."""

    def __init__(self, keep_bytes: int, log: Path | None, log_bytes: int) -> None:
        self.total = 0
        self._half = max(keep_bytes // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._log = log.open("ab") if log else None
        self._into_log = CleanBytes(self._log.write) if self._log else None
        self._log_room = log_bytes
        self._log_left_out = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._log is None or self._into_log is None:
            return
        with self._log:
            if self._log_left_out:
                self._into_log.take(_note(self._log_left_out))
                self._into_log.take(b"".join(self._tail)[-self._half :])
            self._into_log.finish()

    def take(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self._copy(chunk)
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if not chunk:
            return
        self._tail.append(chunk)
        self._tail_bytes += len(chunk)
        while self._tail_bytes - len(self._tail[0]) >= self._half:
            self._tail_bytes -= len(self._tail.popleft())

    def text(self) -> str:
        tail = b"".join(self._tail)[-self._half :]
        left_out = self.total - len(self._head) - len(tail)
        middle = _note(left_out) if left_out else b""
        return (bytes(self._head) + middle + tail).decode(errors="replace")

    def _copy(self, chunk: bytes) -> None:
        if self._log is None or self._into_log is None:
            return
        fits = chunk[: self._log_room]
        self._into_log.take(fits)
        self._log.flush()
        self._log_room -= len(fits)
        self._log_left_out += len(chunk) - len(fits)


def _note(left_out: int) -> bytes:
    return f"\n... {left_out:,} bytes left out here ...\n".encode()
