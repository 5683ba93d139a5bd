"""The sandbox: what a command may reach, what the operator asked for, and what works on this machine."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from domain.choice import Policy
from domain.value import Refused, Value

Kind = Literal["agent", "gate", "setup"]
Backend = Literal["bubblewrap", "landlock", "none"]

TRAILERS: dict[Backend, str] = {"bubblewrap": "", "landlock": "landlock", "none": "off"}
"""The value of the commit trailer that says how little a commit's commands were held back."""


PORTS = (22, 53, 80, 443, 9418)
"""Where packages come from: ssh, names, HTTP, and git's own."""
PORT = re.compile(r"://[^/\s,]*:(\d{1,5})(?![^/\s,])")


def ports_in(words: Iterable[str]) -> tuple[int, ...]:
    """The ports that URLs in `words` name: of the operator's package indexes and proxies."""
    found = (int(port) for word in words for port in PORT.findall(word))
    return tuple(dict.fromkeys(port for port in found if 0 < port < 1 << 16))


class Mount(Value):
    """A file or folder that a command sees. What is not mounted does not exist for it."""

    path: str
    """On this machine."""
    at: str = ""
    """Where the command sees it; empty: at the same path."""
    writable: bool = False

    @property
    def place(self) -> str:
        return self.at or self.path


class Limits(Value):
    """What stops a command, besides its time, the number of its processes and a full disk."""

    memory_bytes: int = 0
    """Of all its processes together; 0: three quarters of the machine's."""
    file_bytes: int = 8 << 30
    """Of one file it writes."""


class Profile(Value):
    """What one kind of command may reach."""

    kind: Kind
    mounts: tuple[Mount, ...]
    network: bool = False
    """The machine's network. Without it, a command has a loopback of its own."""
    ports: tuple[int, ...] = ()
    """Of the network: those it may connect to by TCP, where the kernel can tell."""
    temporary: str = ""
    """A folder of ours to see as /tmp; empty: /tmp is in memory, and small."""
    limits: Limits = Limits()

    @property
    def in_order(self) -> tuple[Mount, ...]:
        """Outer folders first, and of two mounts at one place the read-only one last, so that it counts.

        Without those that a read-only folder around them shows already.
        """
        kept: list[Mount] = []
        for mount in sorted(dict.fromkeys(self.mounts), key=_rank):
            around = [outer for outer in kept if _holds(outer, mount)][-1:]
            shown = any(not outer.writable and not outer.at for outer in around)
            if mount.writable or mount.at or not shown:
                kept.append(mount)
        return tuple(kept)

    def sees(self, path: str) -> str:
        """Where the command sees what lies at `path` on this machine."""
        for mount in reversed(self.in_order):
            inner = PurePosixPath(path)
            if inner.is_relative_to(mount.path):
                return str(PurePosixPath(mount.place) / inner.relative_to(mount.path))
        return path


def _rank(mount: Mount) -> tuple[int, bool]:
    return len(PurePosixPath(mount.place).parts), not mount.writable


def _holds(outer: Mount, mount: Mount) -> bool:
    """Whether `mount` lies in `outer`, or where it lies."""
    return PurePosixPath(mount.place).is_relative_to(outer.place)


def agent(clone: str, *, at: str = "", readonly: Iterable[str] = ()) -> Profile:
    """For a model's commands: its clone with its own `.git`, and nothing else to write to.

    `at` mounts the clone where an editable installation expects the gate's folder, so that one
    environment serves both.
    """
    return Profile(kind="agent", mounts=(Mount(path=clone, at=at, writable=True), *_read(readonly)))


def gate(folder: str, scratch: str, *, readonly: Iterable[str] = ()) -> Profile:
    """For the target's checks: what they build is theirs to write, the folder's `.git` is not."""
    return Profile(
        kind="gate",
        mounts=(
            Mount(path=folder, writable=True),
            Mount(path=f"{folder}/.git"),
            Mount(path=scratch, writable=True),
            *_read(readonly),
        ),
        temporary=f"{scratch}/temporary",
    )


def setup(
    folder: str,
    environment: str,
    *,
    cache: str = "",
    readonly: Iterable[str] = (),
    offline: bool = False,
    ports: Iterable[int] = (),
) -> Profile:
    """For what makes the environment: a checkout of the base commit and the environment's own folder.

    With the network it reaches package indexes, at `ports` besides the usual ones, and not what else
    listens on this machine.

    `cache` is one of ours for this target: what a build writes to the operator's would reach other projects.
    """
    return Profile(
        kind="setup",
        mounts=(
            Mount(path=folder, writable=True),
            Mount(path=f"{folder}/.git"),
            Mount(path=environment, writable=True),
            *((Mount(path=cache, writable=True),) if cache else ()),
            *_read(readonly),
        ),
        network=not offline,
        ports=() if offline else tuple(dict.fromkeys((*PORTS, *ports))),
        temporary=f"{environment}/temporary",
    )


def _read(paths: Iterable[str]) -> tuple[Mount, ...]:
    return tuple(Mount(path=path) for path in dict.fromkeys(paths))


class Sandbox(Value):
    """How the commands of one run are held back."""

    backend: Backend = "none"
    readonly: tuple[str, ...] = ()
    """What each of them may read besides: the objects that the clones borrow."""
    shown: tuple[str, ...] = ()
    """What gate and set-up may read besides: the files that the operator's own commands for them name."""
    offline: bool = False
    said: str = ""
    """What the operator has to be told of it; empty when there is nothing to warn of."""


OPEN = Sandbox()


class SandboxReport(Value):
    """What a backend does on this machine, found by running it."""

    backend: Backend
    works: bool
    program: str = ""
    """Its path."""
    version: str = ""
    gaps: tuple[str, ...] = ()
    """What it does not hold back, though it works."""
    why: str = ""
    """Why it does not work."""
    advice: str = ""
    """What to do about it."""

    @property
    def words(self) -> str:
        if not self.works:
            return f"{self.backend} does not work here: {self.why}"
        return " ".join(part for part in (self.backend, self.version, self.program) if part)


class Choice(Value):
    """The backend a run uses, and what has to be said about it."""

    backend: Backend
    said: str = ""
    """For the terminal and the report; empty when there is nothing to warn of."""

    @property
    def trailer(self) -> str:
        return TRAILERS[self.backend]


def choose(
    policy: Policy,
    report: SandboxReport,
    *,
    model: bool,
    offline: bool = False,
    whole: bool = False,
) -> Choice:
    """The backend for an executor, given what was found of the backend that `policy` asks for.

    Never weaker than was asked for without a word: a model's commands are refused instead, and so is
    a set-up that is to have no network, which nothing else can take from it. `whole`: for an agent that is a
    program of its own, which has nowhere to be but in bubblewrap.
    """
    if whole and policy in {"off", "landlock"}:
        raise Refused(
            f"sandbox: a vendor's agent works in bubblewrap alone, and --sandbox {policy} asks for another. "
            f"Leave it out; --executor claude or gpt, Swathe's own agent, does without."
        )
    if offline and policy == "off":
        raise Refused(
            "sandbox: --offline needs one, and --sandbox off asks for none. Leave out one of the two."
        )
    if policy == "off":
        return Choice(
            backend="none",
            said="no sandbox: commands reach all you reach. --sandbox auto holds them back",
        )
    if report.works:
        gaps = "; ".join(report.gaps)
        weaker = report.backend != "bubblewrap"
        return Choice(
            backend=report.backend,
            said=f"sandbox {report.backend}, with gaps: {gaps}" if weaker else "",
        )
    if model or offline or policy != "auto":
        raise Refused(f"sandbox: {report.words}. {report.advice}".strip())
    return Choice(
        backend="none",
        said=f"no sandbox: {report.why}. The target's own commands run as if you ran them. {report.advice}",
    )
