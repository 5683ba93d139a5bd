"""Opening what lies below a folder, whoever swaps a name for a link meanwhile."""

import ctypes
import errno
import os
import struct
from collections.abc import Generator
from contextlib import contextmanager, suppress

OPENAT2 = 437
BENEATH, NO_SYMLINKS, NO_MAGICLINKS = 0x08, 0x04, 0x02
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
ABSENT = {errno.ENOSYS, errno.EPERM, errno.EINVAL}
"""What a kernel without `openat2` says, or a filter that does not know it."""

libc = ctypes.CDLL(None, use_errno=True)


def open_beneath(root: int, parts: list[bytes], flags: int) -> int:
    """Open what lies at `parts` below the folder `root`, never through a link."""
    how = struct.pack("QQQ", flags, 0, BENEATH | NO_SYMLINKS | NO_MAGICLINKS)
    fd = libc.syscall(OPENAT2, root, b"/".join(parts), how, ctypes.c_size_t(len(how)))
    if fd >= 0:
        return fd
    number = ctypes.get_errno()
    if number in ABSENT:
        return walk_beneath(root, parts, flags)
    raise OSError(number, os.strerror(number))


def walk_beneath(root: int, parts: list[bytes], flags: int) -> int:
    """The same, one component at a time, each opened in the folder opened before."""
    *folders, name = parts
    with folder_beneath(root, folders) as folder:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)


@contextmanager
def folder_beneath(root: int, parts: list[bytes], *, make: bool = False) -> Generator[int]:
    fd = os.dup(root)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            inner = os.open(part, FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)
