"""The argument list of bubblewrap: what a command sees of this machine, mount by mount."""

import os
import platform
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from adapters.processes import landlock
from domain.sandbox import Mount, Profile

MEGABYTE = 1 << 20
TMPFS = {
    "/tmp": 1024 * MEGABYTE,  # noqa: S108 - the sandbox's own
    "/dev/shm": 512 * MEGABYTE,  # noqa: S108 - the sandbox's own
    "/run": 16 * MEGABYTE,
    "/var": 16 * MEGABYTE,
    "/home/agent": 512 * MEGABYTE,
}
"""Sizes, since the default is half of the machine's memory for each."""
HOME = "/home/agent"
TEMPORARY = "/tmp"  # noqa: S108 - the sandbox's own

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
)
ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "group",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "protocols",
    "services",
    # Not all of ssl: root's command owns what lies in ssl/private.
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
)
OF_THE_KERNEL = ("sys", "irq", "bus", "fs", "mtrr", "acpi", "sysrq-trigger")
"""Below /proc: for root they are writable in any namespace, and `kernel/core_pattern` is a way out."""

ALONE = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--hostname", "sandbox", "--clearenv"),
)
QUIET_GIT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
"""A read-only `.git` cannot be locked, and `git status` is fine without."""


OWN_FAMILIES = (landlock.AF_UNIX, *landlock.NETWORK_FAMILIES)
"""Of sockets. The others are of no use to a test, and not all of them end with a namespace (vsock)."""
OF_DEBUGGERS = ("ptrace", "process_vm_readv", "process_vm_writev")
"""In a pid namespace of its own a command may trace what it started."""


class Unsafe(Exception):
    """A mount that would not be what it was meant to be."""


def filtered() -> bool:
    """Whether there is a filter of system calls for this kind of machine."""
    return platform.machine() in landlock.MACHINES


@cache
def _filter() -> int:
    """A descriptor of it, in memory, for as long as this process lives."""
    fd = os.memfd_create("sandbox-filter")
    os.write(fd, landlock.packed(landlock.program(OWN_FAMILIES, OF_DEBUGGERS)))
    return fd


def filter_path() -> str:
    """For a process that is to read it; nothing, where there is none."""
    return f"/proc/{os.getpid()}/fd/{_filter()}" if filtered() else os.devnull


def arguments(
    profile: Profile, tools: Sequence[Path], env: Mapping[str, str], cwd: str
) -> list[str]:
    """All but the program, its status descriptor and the command. `tools` are bound read-only."""
    words = [*ALONE, *([] if profile.network else ["--unshare-net"])]
    for name, value in {**QUIET_GIT, **_environment(profile, env)}.items():
        words += ["--setenv", name, value]
    words += _system(network=profile.network)
    words += ["--dev", "/dev"]
    folder = _temporary(profile)
    for place, size in TMPFS.items():
        if place == TEMPORARY and folder:
            words += ["--bind", folder, place]
        else:
            words += ["--size", str(size), "--tmpfs", place]
    writable = [mount.path for mount in profile.mounts if mount.writable]
    # What is seen already stays as it is: the set-up puts the environment it makes on its PATH.
    unseen = [tool for tool in tools if not any(_below(tool, folder) for folder in writable)]
    read = tuple(Mount(path=str(tool)) for tool in unseen)
    ours = profile.model_copy(update={"mounts": (*read, *profile.mounts)})
    for mount in ours.in_order:
        words += _mount(mount, profile)
    return [*words, "--remount-ro", "/", "--chdir", profile.sees(cwd)]


def _environment(profile: Profile, env: Mapping[str, str]) -> dict[str, str]:
    """The command's own, but for a HOME and a TMPDIR that are there."""
    home = env.get("HOME", "")
    inside = any(mount.writable and _below(home, mount.place) for mount in profile.mounts)
    return {**env, "HOME": home if inside else HOME, "TMPDIR": TEMPORARY}


@cache
def _system(*, network: bool) -> list[str]:
    words: list[str] = []
    for place in map(Path, SYSTEM):
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            words += ["--ro-bind", str(place), str(place)]
    names = [*ETC, *(java.name for java in Path("/etc").glob("java-*"))]
    for place in (Path("/etc", name) for name in (*names, *(["resolv.conf"] if network else []))):
        if place.exists():
            words += ["--ro-bind", str(place.resolve()), str(place)]
    words += ["--proc", "/proc"]
    for place in (Path("/proc", name) for name in OF_THE_KERNEL):
        if place.exists():
            words += ["--ro-bind", str(place), str(place)]
    return words


def _temporary(profile: Profile) -> str:
    """The folder to see as /tmp, unless a mount lies below: its mount point would be made in that folder."""
    below = any(_below(mount.place, TEMPORARY) for mount in profile.mounts)
    if not profile.temporary or below:
        return ""
    check(Path(profile.temporary), profile)
    return profile.temporary


def _mount(mount: Mount, profile: Profile) -> Iterator[str]:
    """Both at the path as it was given and, for a folder behind a link, at the real one."""
    source = Path(mount.path)
    if not mount.writable and not os.path.lexists(source):
        return
    check(source, profile)
    for outer in profile.mounts:
        if outer.writable and mount.place != outer.place and _below(mount.place, outer.place):
            # Bubblewrap would make a mount point that is not there, out here.
            check(Path(outer.path) / Path(mount.place).relative_to(outer.place), profile)
    real = source.resolve(strict=True)
    bind = "--bind" if mount.writable else "--ro-bind"
    yield from (bind, str(real), mount.place)
    if not mount.at and str(real) != mount.path:
        yield from (bind, str(real), str(real))


def check(source: Path, profile: Profile) -> None:
    """Refuse what a command may have put there: a link, or anything else but a file or a folder.

    The link would be followed out here, by bubblewrap or by the kernel.
    """
    for outer in profile.mounts:
        if not outer.writable or source == Path(outer.path) or not _below(source, outer.path):
            continue
        inner = source.relative_to(outer.path)
        for path in (source, *list(source.parents)[: len(inner.parts) - 1]):
            mode = path.lstat().st_mode
            if not (stat.S_ISDIR(mode) or (path == source and stat.S_ISREG(mode))):
                raise Unsafe(
                    f"{str(path)!r} is neither a file nor a folder: it could lead anywhere"
                )


def _below(path: str | Path, folder: str) -> bool:
    return Path(path).is_relative_to(folder)
