"""Read and write the files of a work tree, byte for byte, and never through a symbolic link."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from domain.lines import Lines, decoded
from domain.sandbox import OPEN, Sandbox
from domain.skipped import (
    NO_MARKS,
    UNMARKED,
    UNSAFE,
    Marks,
    Reason,
    skipped_by_content,
    skipped_by_name,
)

# The surrogates of `surrogateescape` and, for each, a private character of the last plane.
HIDDEN = {0xDC80 + i: 0x10FF00 + i for i in range(128)}
SHOWN = {shown: hidden for hidden, shown in HIDDEN.items()}
PRIVATE = re.compile("[\U0010ff00-\U0010ff7f]")


@dataclass(frozen=True)
class Source:
    """One file as it was read."""

    path: str
    content: bytes

    @cached_property
    def text(self) -> str:
        return decoded(self.content)

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text)

    @cached_property
    def stand_in(self) -> bytes | None:
        """The file for tools that read only UTF-8: each other byte as a character nobody uses.

        It has a character for every character of `text`, so that offsets mean the same. None
        when the file does use such characters.
        """
        if PRIVATE.search(self.text):
            return None
        return self.text.translate(HIDDEN).encode("utf-8")


def restored(text: str) -> str:
    """Text out of a stand-in, with the file's own bytes in it again."""
    return text.translate(SHOWN)


def is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@dataclass
class Reader:
    """Decides which files may be edited, and remembers why the others may not."""

    root: Path
    include_generated: bool = False
    marks: Mapping[str, Marks] = field(default_factory=lambda: NO_MARKS)
    reasons: dict[str, Reason] = field(default_factory=dict[str, Reason])
    held: Sandbox = OPEN
    """What holds back the commands that are run in the tree."""

    @property
    def skipped(self) -> dict[str, int]:
        return dict(sorted(Counter(self.reasons.values()).items()))

    def may_hold_sites(self, path: str) -> bool:
        """Decided by the name and the attributes; the file is not opened."""
        reason = skipped_by_name(path, self.marks.get(path, UNMARKED))
        return self._allows(path, reason)

    def read(self, path: str) -> Source | None:
        """The file, or None when it is to be left alone."""
        if not self.may_hold_sites(path):
            return None
        found = read_regular(self.root, path)
        if not isinstance(found, bytes):
            self.reasons[path] = found
            return None
        reason = skipped_by_content(path, found, self.marks.get(path, UNMARKED))
        return Source(path, found) if self._allows(path, reason) else None

    def _allows(self, path: str, reason: Reason | None) -> bool:
        if reason is None or (self.include_generated and reason not in UNSAFE):
            return True
        self.reasons[path] = reason
        return False


def read_regular(root: Path, path: str) -> bytes | Reason:
    """The content of a regular file inside the tree, or why there is none.

    Opened without following a link and without waiting: a FIFO would block for ever.
    """
    if not _stays_inside(root, path):
        return "symlink"
    try:
        handle = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "symlink" if (root / path).is_symlink() else "not a regular file"
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "not a regular file"
        return file.read()


def write_regular(root: Path, path: str, content: bytes) -> None:
    """Replace the content of a file that exists; its mode and its inode stay."""
    handle = os.open(root / path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def walked(root: Path) -> Iterator[str]:
    """All files below `root` but git's own, in a stable order and at any depth; no link is followed."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with os.scandir(root / folder) as entries:
            inside = sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries)
        yield from (
            f"{folder}{name}" for name, is_folder in inside if not is_folder and name != ".git"
        )
        folders = [f"{folder}{name}/" for name, is_folder in inside if is_folder and name != ".git"]
        waiting += reversed(folders)


def _stays_inside(root: Path, path: str) -> bool:
    """Whether no folder on the way is a link (git keeps no file behind one)."""
    parts = path.split("/")
    if path.startswith("/") or not all(parts) or ".." in parts:
        return False
    folders = PurePosixPath(path).parents
    return not any((root / folder).is_symlink() for folder in folders[:-1])
