"""Holds back a command by Landlock and seccomp, where no namespace can be made. Weaker than bubblewrap.

A program of its own: `python -I -S -B landlock.py STATUS RULES COMMAND…`, standard library only. RULES is
JSON: `read` and `write` are lists of paths, `network`, `ports` and `file_bytes` as in a profile. It restricts
itself, says so in the file STATUS, and becomes the command. Without `read` files stay as they are and calls are
not filtered: that is for a set-up under bubblewrap, which has this machine's network and is kept to some ports of it.
"""

import ctypes
import errno
import json
import os
import platform
import resource
import stat
import struct
import sys
from typing import Any

OLDEST_ABI, WITH_NETWORK, WITH_SCOPES = 3, 4, 6
"""Versions of Landlock. Before the first of these, `truncate` reaches every file."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH, NET_PORT = 1, 2
ALL_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights on files each version knows."""
READ = 0b1101
"""Execute, read a file, read a folder."""
OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
DEVICES = 1 << 6 | 1 << 11
TCP, CONNECT = 0b11, 0b10
SCOPES = 0b11
"""Abstract sockets and signals stay inside."""

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 38, 22, 24
CAPABILITY_VERSION, LAST_CAPABILITY = 0x20080522, 63
CLONE_NEWUSER, TIOCSTI = 0x10000000, 0x5412
AF_UNIX, NETWORK_FAMILIES = 1, (2, 10, 16)
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000
CLONE3 = 435
MPTCP, MSG_FASTOPEN = 262, 0x20000000
"""Two ways to a TCP service past the rules for TCP's `connect`."""
FLAGS_AT = {"sendto": (44, 206, 40), "sendmsg": (46, 211, 32), "sendmmsg": (307, 269, 40)}
"""Numbers on the two kinds of machine, and where the flags are."""
MACHINES: dict[str, dict[str, int]] = {
    "x86_64": {"arch": 0xC000003E, "socket": 41, "socketpair": 53, "clone": 56, "ioctl": 16},
    "aarch64": {"arch": 0xC00000B7, "socket": 198, "socketpair": 199, "clone": 220, "ioctl": 29},
}
DENIED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
}
"""System calls, by their numbers on the two kinds of machine."""
libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock in this kernel; 0 when there is none, or none for this kind of machine."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return 0
    return max(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1), 0)


def checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def drop_capabilities() -> None:
    """For good: a program that root starts would get back what is in the bounding set."""
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("Ii", CAPABILITY_VERSION, 0)
    checked(libc.capset(header, bytes(24)))
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def restrict(rules: dict[str, Any]) -> None:
    version = abi()
    every = (1 << ALL_RIGHTS.get(version, 16)) - 1 if "read" in rules else 0
    net = (CONNECT if rules["network"] else TCP) if version >= WITH_NETWORK else 0
    wanted = struct.pack("QQQ", every, net, SCOPES if version >= WITH_SCOPES else 0)
    size = 24 if version >= WITH_SCOPES else 16 if version >= WITH_NETWORK else 8
    ruleset = checked(libc.syscall(CREATE_RULESET, wanted, ctypes.c_size_t(size), 0))
    for name, rights in (("read", READ), ("write", every & ~DEVICES)):
        for path in rules.get(name, ()):
            allow(ruleset, path, rights)
    for port in rules["ports"] if rules["network"] and net else ():
        rule = struct.pack("QQ", CONNECT, port)
        checked(libc.syscall(ADD_RULE, ruleset, NET_PORT, rule, 0))
    checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        rights &= OF_FILES
    rule = struct.pack("=Qi", rights, fd)
    checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, rule, 0))
    os.close(fd)


def load(offset: int) -> tuple[int, int, int, int]:
    return (0x20, 0, 0, offset)


def unless(value: int, skip: int) -> tuple[int, int, int, int]:
    """Skip so many instructions when the loaded word is not `value`."""
    return (0x15, 0, skip, value)


def end(action: int) -> tuple[int, int, int, int]:
    return (0x06, 0, 0, action)


def program(
    families: tuple[int, ...], allowed: tuple[str, ...] = ()
) -> list[tuple[int, int, int, int]]:
    """The filter of system calls; the argument words are the low halves.

    Sockets can be made of `families` alone; `allowed` are those of the denied calls that are not.
    """
    machine = list(MACHINES).index(platform.machine())
    calls = MACHINES[platform.machine()]
    denied, absent = end(FAIL | errno.EPERM), end(FAIL | errno.ENOSYS)
    code = [load(4), (0x15, 1, 0, calls["arch"]), end(KILL), load(0)]
    # Above this bit lie x86-64's calls with 32-bit pointers, under other numbers.
    code += [(0x35, 0, 1, 0x40000000), denied]
    for name, numbers in DENIED.items():
        if name not in allowed:
            code += [unless(numbers[machine], 1), denied]
    # Its flags lie behind a pointer. A C library that hears it is not there uses `clone`.
    code += [unless(CLONE3, 1), absent]
    code += [unless(calls["clone"], 3), load(16), (0x45, 0, 1, CLONE_NEWUSER), denied, load(0)]
    code += [
        unless(calls["socket"], 4),
        load(32),
        unless(MPTCP, 1),
        end(FAIL | errno.EPROTONOSUPPORT),
        load(0),
    ]
    for *numbers, at in FLAGS_AT.values():
        code += [unless(numbers[machine], 4), load(at), (0x45, 0, 1, MSG_FASTOPEN), denied, load(0)]
    code += [unless(calls["ioctl"], 3), load(24), unless(TIOCSTI, 1), denied, load(0)]
    body = [load(16)]
    for family in families:
        body += [unless(family, 1), end(ALLOW)]
    code += [unless(calls["socket"], len(body) + 1), *body, denied]
    code += [unless(calls["socketpair"], 3), load(16), (0x15, 1, 0, AF_UNIX), denied]
    return [*code, end(ALLOW)]


def packed(code: list[tuple[int, int, int, int]]) -> bytes:
    """As the kernel reads it."""
    return b"".join(struct.pack("HBBI", *line) for line in code)


def restrict_calls(rules: dict[str, Any]) -> None:
    code = program(NETWORK_FAMILIES if rules["network"] else ())
    kept = ctypes.create_string_buffer(packed(code))
    head = struct.pack("HxxxxxxP", len(code), ctypes.addressof(kept))
    checked(libc.prctl(PR_SET_SECCOMP, 2, head, 0, 0))


def main() -> None:
    status = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    rules: dict[str, Any] = json.loads(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (rules["file_bytes"], rules["file_bytes"]))
    drop_capabilities()
    restrict(rules)
    if "read" in rules:
        restrict_calls(rules)
    os.write(status, f'{{"child-pid": {os.getpid()}}}\n{{"confined": 1}}\n'.encode())
    try:
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - it becomes the command
    except FileNotFoundError:
        sys.exit(127)
    except OSError:
        sys.exit(126)


if __name__ == "__main__":
    main()
