"""Files for an agent: read and changed beneath one folder, whatever the names say and whoever races us.

What the agent's own commands can put there (links, pipes, a folder swapped for a link between two calls) leads
nowhere: a path is resolved by the kernel in one step, or by us one component at a time, never through a link.
"""

import errno
import os
import stat
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from adapters.models.beneath import folder_beneath, open_beneath
from adapters.models.forms import BOM, FileRefused, Form, Text, text_of

MOST_BYTES = 10_000_000
MOST_NAME, MOST_FOLDERS = 4_095, 100
"""Bytes of a path, and its depth: `shutil.rmtree` is recursive, and our own clean-up would fail on more."""
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
"""Not blocking: a pipe has nobody at its other end."""


class Files:
    """The files beneath `root`. Paths are relative to it."""

    def __init__(self, root: Path, most_bytes: int = MOST_BYTES) -> None:
        self.root = root
        self.most_bytes = most_bytes

    def read(self, path: str) -> Text:
        return text_of(path, self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        with self._opened(path) as (fd, _):
            return self._content(path, fd)

    def edit(self, path: str, old: str, new: str, *, every: bool = False) -> int:
        """Put `new` where `old` is, exactly and once, or everywhere; how often. All other bytes stay."""
        if not old or old == new:
            raise FileRefused("`old` must be some text of the file, and `new` another one")
        with self._opened(path, to_write=True) as (fd, seen):
            data = self._content(path, fd)
            form = text_of(path, data).form
            wanted, replacement = form.bytes_of(old), form.bytes_of(new)
            found = data.count(wanted)
            if not found:
                raise FileRefused(f"{path!r} does not hold this text. Read it, and copy exactly.")
            # Counted so, overlapping ones are one; `again` tells them apart.
            again = data.find(wanted, data.find(wanted) + 1) >= 0
            if again and not every:
                raise FileRefused(
                    f"{path!r} holds this text more than once. Give more of what stands around it, or change all."
                )
            self._replace(path, data.replace(wanted, replacement), stat.S_IMODE(seen.st_mode))
        return found

    def write(self, path: str, text: str) -> bool:
        """Write the whole file, in the form it had; True when it is new. Folders are made on the way."""
        try:
            with self._opened(path, to_write=True, may_miss=True) as (fd, seen):
                form = text_of(path, self._content(path, fd)).form
                data = form.bytes_of(text.removeprefix("\ufeff"))
                whole = BOM + data if form.bom else data
                self._replace(path, whole, stat.S_IMODE(seen.st_mode))
        except FileNotFoundError:
            self._replace(path, Form().bytes_of(text), None)
            return True
        return False

    def delete(self, path: str) -> None:
        """Take a regular file away; the name alone, so that nothing behind a link is touched."""
        *folders, name = _parts(path, to_write=True)
        with self._opened(path, to_write=True):
            pass
        with _told(path), self._root() as root, folder_beneath(root, folders) as folder:
            os.unlink(name, dir_fd=folder)

    def _content(self, path: str, fd: int) -> bytes:
        data = bytearray()
        # It may grow while it is read.
        while chunk := os.read(fd, self.most_bytes + 1 - len(data)):
            data += chunk
            if len(data) > self.most_bytes:
                raise FileRefused(f"{path!r} is larger than {self.most_bytes:,} bytes")
        return bytes(data)

    @contextmanager
    def _opened(
        self, path: str, *, to_write: bool = False, may_miss: bool = False
    ) -> Generator[tuple[int, os.stat_result]]:
        """A regular file that is open to be read. `may_miss`: its absence is the caller's to tell."""
        parts = _parts(path, to_write=to_write)
        with _told(path, may_miss=may_miss), self._root() as root:
            fd = open_beneath(root, parts, FILE)
            try:
                seen = os.fstat(fd)
                if not stat.S_ISREG(seen.st_mode):
                    raise FileRefused(f"{path!r} is no regular file")
                if seen.st_size > self.most_bytes:
                    raise FileRefused(f"{path!r} is larger than {self.most_bytes:,} bytes")
                if to_write and seen.st_nlink > 1:
                    raise FileRefused(f"{path!r} has other names (hard links), maybe outside")
                yield fd, seen
            finally:
                os.close(fd)

    def _replace(self, path: str, data: bytes, mode: int | None) -> None:
        """A new file in the old one's place: nothing is written through what the name leads to."""
        if len(data) > self.most_bytes:
            raise FileRefused(f"that is more than {self.most_bytes:,} bytes")
        *folders, name = _parts(path, to_write=True)
        draft = b".swathe-" + uuid.uuid4().hex.encode()
        with (
            _told(path),
            self._root() as root,
            folder_beneath(root, folders, make=mode is None) as folder,
        ):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            fd = os.open(draft, flags, 0o666, dir_fd=folder)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    if mode is not None:
                        os.fchmod(file.fileno(), mode & 0o777)
                if mode is None:
                    # Unlike a rename, a link takes no name that is there by now.
                    os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
                else:
                    os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)

    @contextmanager
    def _root(self) -> Generator[int]:
        fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)


def _parts(path: str, *, to_write: bool) -> list[bytes]:
    """The components of a path that a model gave."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise FileRefused(f"{path!r} is no path") from None
    parts = [part for part in name.split(b"/") if part != b"."]
    too_long = len(name) > MOST_NAME or len(parts) > MOST_FOLDERS
    # An empty part: absolute, a doubled slash, or a folder's name with a slash behind it.
    if too_long or not parts or not all(parts) or b".." in parts or b"\0" in name:
        raise FileRefused(
            f"{path!r} is no path of a file in the repository. "
            "Give one relative to its root, without `..`, as in 'src/module.py'."
        )
    if to_write and any(part.lower() == b".git" for part in parts):
        raise FileRefused(f"{path!r} belongs to git. Use its commands.")
    return parts


@contextmanager
def _told(path: str, *, may_miss: bool = False) -> Generator[None]:
    """What the system says, in words for a model."""
    try:
        yield
    except FileNotFoundError:
        if may_miss:
            raise
        raise FileRefused(f"there is no file {path!r}") from None
    except OSError as error:
        why = {errno.ELOOP: "it leads through a symbolic link", errno.EXDEV: "it leads outside"}
        what = why.get(error.errno or 0, error.strerror or "")
        raise FileRefused(f"{path!r} cannot be used: {what}") from None
