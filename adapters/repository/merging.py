"""Merging blobs: by our own arithmetic where it can tell, else by `git merge-file`."""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from adapters.processes.temporary import temporary_folder
from adapters.repository.git import GitFailed, Place, ask, started
from adapters.repository.writing import write_blobs
from domain.merging import merged

MAX_MERGE = 5_000_000
"""Bytes of a file that is merged; a larger one counts as a conflict."""

MAX_HELD = 50_000_000
"""Bytes of blobs that are kept in memory, about."""

BINARY_AT = 8000
"""git takes a file with a NUL among its first bytes for a binary one."""

CONFLICTS = 127
"""`git merge-file` ends with the number of conflicts, up to this; above, with an error."""

_known: dict[tuple[Path, str, str, str], str | None] = {}


class Merger:
    """One reader of blobs for many merges; what was merged is in the object store when it is left."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.texts: dict[str, bytes] = {}
        self.made: dict[str, bytes] = {}

    def __enter__(self) -> Self:
        self._reader = started(self.place, "cat-file", "--batch")
        self._streams: tuple[IO[bytes] | None, IO[bytes] | None] | None = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._streams:
            self._reader.__exit__(kind, error, trace)
        if kind:
            _known.clear()  # it may name what was not written
        else:
            write_blobs(self.place, list(self.made.values()))

    def merge(self, ours: str, base: str, theirs: str) -> str | None:
        """The blob of ours with their change in it, or None on a conflict."""
        key = (self.place.git_dir, ours, base, theirs)
        if key not in _known:
            if len(_known) >= 100_000:  # noqa: PLR2004 -- a bound, no more
                _known.clear()
            _known[key] = self._merged(ours, base, theirs)
        return _known[key]

    def _merged(self, ours: str, base: str, theirs: str) -> str | None:
        texts = [self._read(blob) for blob in (ours, base, theirs)]
        if any(len(text) > MAX_MERGE or b"\0" in text[:BINARY_AT] for text in texts):
            return None
        text = merged(*texts)
        if text is None:
            text = self._by_git(*texts)
        if text is None:
            return None
        blob = _blob_id(text, ours)
        self.made[blob] = text
        return blob

    def _by_git(self, *texts: bytes) -> bytes | None:
        with temporary_folder() as folder:
            names = [Path(folder) / name for name in ("ours", "base", "theirs")]
            for name, text in zip(names, texts, strict=True):
                name.write_bytes(text)
            status, out, err = ask(self.place, "merge-file", "-p", "-q", *map(str, names))
        if status > CONFLICTS:
            raise GitFailed("merge-file", status, err.decode(errors="replace"))
        return out if status == 0 else None

    def _read(self, blob: str) -> bytes:
        if blob in self.made:
            return self.made[blob]
        if blob not in self.texts:
            if sum(map(len, self.texts.values())) > MAX_HELD:
                self.texts.clear()
            self.texts[blob] = self._fetched(blob)
        return self.texts[blob]

    def _fetched(self, blob: str) -> bytes:
        if self._streams is None:
            process = self._reader.__enter__()
            self._streams = process.stdout, process.stdin
        reader, writer = self._streams
        if reader is None or writer is None:
            raise GitFailed("cat-file", 1, "its streams are closed")
        writer.write(f"{blob}\n".encode())
        writer.flush()
        row = reader.readline().split()
        if len(row) != 3:  # noqa: PLR2004 -- id, kind, size
            raise GitFailed("cat-file", 1, f"no blob {blob}")
        return reader.read(int(row[2]) + 1)[:-1]


def _blob_id(text: bytes, like: str) -> str:
    """The id git gives to this content, in the format that another id has."""
    digest = hashlib.sha256 if len(like) == 64 else hashlib.sha1  # noqa: PLR2004
    return digest(b"blob %d\0" % len(text) + text).hexdigest()
