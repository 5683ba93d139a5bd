"""The sandbox around every command of the target or of a model: what it cannot see, it cannot take.

The supervisor stays outside, as the parent of bubblewrap. From inside it cannot be seen, stopped or
killed; it is one thread that lives as long as the command, which `--die-with-parent` counts on; and its
death, or the engine's, ends the namespace and everything in it.
"""

import json
import os
import shlex
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from adapters.processes import bubblewrap, canary, landlock, shell
from adapters.processes.bubblewrap import Unsafe
from adapters.processes.child import INTERRUPT_SECONDS
from adapters.processes.temporary import temporary_folder
from adapters.processes.toolchains import toolchains
from adapters.processes.watchdog import Status, Watch
from domain.choice import Policy
from domain.sandbox import Backend, Mount, Profile, SandboxReport

CLEAN = {"PATH": "/usr/bin:/bin"}
"""Bubblewrap's own environment, which the command can read at /proc/1/environ."""
STATUS_FD, FILTER_FD = "9", "8"
START = f'ulimit -f "$1"; filter="$2"; shift 2; exec "$@" {FILTER_FD}<"$filter" {STATUS_FD}>>"$0"'
"""Run by a shell that becomes bubblewrap: opens what it reads and reports to, and limits the size of a file."""
BLOCK = 512
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")


def available(policy: Policy = "auto") -> SandboxReport:
    """What the backend that `policy` asks for does on this machine, found by running it once per process."""
    return canary.landlock(run) if policy == "landlock" else canary.bubblewrap(run)


def run(
    command: str | Sequence[str],
    *,
    profile: Profile,
    cwd: Path,
    env: Mapping[str, str],
    timeout_seconds: float,
    backend: Backend = "bubblewrap",
    program: str = "",
    log: Path | None = None,
    stdin: bytes = b"",
    keep_bytes: int = 1_000_000,
    apart: bool = False,
) -> shell.Finished:
    """As `shell.run`, in a sandbox. One that cannot be made ends `sandbox-failed`, and nothing has run.

    A signal that ended the command is told as a shell tells it, as 128 and its number. `program` is the
    bubblewrap to use; empty: the one that works here.
    """
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    shown = command if isinstance(command, str) else shlex.join(command)
    start = partial(shell.run, cwd=cwd, log=log, stdin=stdin, keep_bytes=keep_bytes, apart=apart)
    if backend == "none":
        return start(command, env=env, timeout_seconds=timeout_seconds)
    with Status() as status, _with_temporary(profile, backend) as whole:
        try:
            if backend == "bubblewrap":
                words, outer = _bubblewrapped(
                    argv, whole, env, str(cwd), status=status, program=program
                )
            else:
                words, outer = _landlocked(argv, whole, env, status)
        except (Unsafe, OSError) as error:
            return shell.Finished(command=shown, ended="sandbox-failed", output=f"{error}\n")
        with Watch(status, timeout_seconds, profile.limits.memory_bytes) as watch:
            # It interrupts at the deadline, and the shell kills a little later.
            late = timeout_seconds + INTERRUPT_SECONDS
            done = start(words, env=outer, timeout_seconds=late)
        return _told(done, shown, status, watch)


def _told(done: shell.Finished, shown: str, status: Status, watch: Watch) -> shell.Finished:
    """The shell's word, corrected by what the sandbox said and what the watch did."""
    ran = status.said("exit-code") is not None or status.said("confined") is not None
    ended = watch.cause or done.ended
    if ended == "exited" and not ran:
        # Exit code 1 is also what bubblewrap ends with when it cannot make the sandbox.
        ended = "sandbox-failed"
    code = done.exit_code if ended == "exited" else None
    return done.model_copy(update={"command": shown, "ended": ended, "exit_code": code})


def _bubblewrapped(
    argv: list[str],
    profile: Profile,
    env: Mapping[str, str],
    cwd: str,
    *,
    status: Status,
    program: str,
) -> tuple[list[str], Mapping[str, str]]:
    program = program or available().program
    if not program:
        raise Unsafe("there is no bubblewrap that works")
    if profile.network and landlock.abi() >= landlock.WITH_NETWORK:
        argv, profile = _on_some_ports(argv, profile)
    inside = bubblewrap.arguments(profile, toolchains(env), env, cwd)
    # A shell says 127 for a program that is not there, where bubblewrap says 1.
    call = argv if argv[0] == "/bin/sh" else ["/bin/sh", "-c", 'exec "$@"', "sh", *argv]
    limit = str(profile.limits.file_bytes // BLOCK)
    start = ["/bin/sh", "-c", START, status.path, limit, bubblewrap.filter_path()]
    fds = ["--json-status-fd", STATUS_FD]
    if bubblewrap.filtered():
        fds += ["--add-seccomp-fd", FILTER_FD]
    return [*start, program, *fds, *inside, "--", *call], CLEAN


def _on_some_ports(argv: list[str], profile: Profile) -> tuple[list[str], Profile]:
    """The command behind Landlock's rules for TCP: no namespace has this machine's network without its loopback."""
    python, program = str(Path(sys.executable).resolve()), landlock.__file__
    rules = {
        "network": True,
        "ports": profile.ports,
        "file_bytes": profile.limits.file_bytes,
    }
    shown = (program, *map(str, toolchains({"PATH": str(Path(python).parent)})))
    mounts = (*(Mount(path=path) for path in shown), *profile.mounts)
    call = [python, "-I", "-S", "-B", program, os.devnull, json.dumps(rules), *argv]
    return call, profile.model_copy(update={"mounts": mounts})


def _landlocked(
    argv: list[str], profile: Profile, env: Mapping[str, str], status: Status
) -> tuple[list[str], Mapping[str, str]]:
    """Paths stay where they are, and what is writable is so as a whole: `.git` too."""
    for path in (profile.temporary, *(mount.path for mount in profile.mounts)):
        with suppress(FileNotFoundError):
            bubblewrap.check(Path(path), profile)
    write = [mount.path for mount in profile.mounts if mount.writable]
    read = [mount.path for mount in profile.mounts if not mount.writable]
    etc = [f"/etc/{name}" for name in (*bubblewrap.ETC, "resolv.conf")]
    rules = {
        "write": [*write, profile.temporary, *DEVICES],
        "read": [*read, *map(str, toolchains(env)), *bubblewrap.SYSTEM, *etc, "/proc"],
        "network": profile.network,
        "ports": profile.ports,
        "file_bytes": profile.limits.file_bytes,
    }
    home = env.get("HOME", "")
    inside = any(Path(home).is_relative_to(folder) for folder in write)
    # A file of settings that is there and may not be read ends every git command.
    quiet = {**bubblewrap.QUIET_GIT, "GIT_CONFIG_NOSYSTEM": "1"}
    outer = {**quiet, **env, "HOME": home if inside else write[0]}
    start = [sys.executable, "-I", "-S", "-B", landlock.__file__, status.path, json.dumps(rules)]
    return [*start, *argv], {**outer, "TMPDIR": profile.temporary}


@contextmanager
def _with_temporary(profile: Profile, backend: Backend) -> Generator[Profile]:
    """The profile with a folder for temporary files that is there: Landlock cannot give /tmp in memory."""
    if profile.temporary:
        with suppress(FileExistsError):
            Path(profile.temporary).mkdir()
        yield profile
    elif backend == "bubblewrap":
        yield profile
    else:
        with temporary_folder() as folder:
            yield profile.model_copy(update={"temporary": folder})
