"""The one git door: every git command starts here, behind one environment and one list of options.

git runs programs for whoever can write its config, hooks or attributes (measured: 10 of 11
planted attacks fired under plain git, none behind these options). So: an environment from an
allow-list, explicit directories, hooks and helpers off, revisions resolved before use, `-z`
and literal pathspecs. GitPython is the runner; `env -i` in front, since it would pass our own
environment on.
"""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from typing import cast

from git import Git

from adapters.repository.lock import inherited
from domain.value import Refused

IDENTITY_NAME = "Swathe"
IDENTITY_EMAIL = "swathe@localhost"

ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_AUTHOR_NAME": IDENTITY_NAME,
    "GIT_AUTHOR_EMAIL": IDENTITY_EMAIL,
    "GIT_COMMITTER_NAME": IDENTITY_NAME,
    "GIT_COMMITTER_EMAIL": IDENTITY_EMAIL,
}

OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=/bin/false",
    "core.sshCommand=/bin/false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.sparseCheckout=false",
    "core.protectNTFS=true",
    "core.protectHFS=true",
    "core.fsync=committed,reference",
    "core.autocrlf=false",
    "credential.helper=",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "safe.bareRepository=explicit",
    "transfer.fsckObjects=true",
    "receive.fsckObjects=true",
)


class GitFailed(Exception):
    """A git command ended with a status that its caller had not planned for."""

    def __init__(self, command: str, status: int, message: str) -> None:
        super().__init__(command, status, message)
        self.status = status
        self.message = message

    def __str__(self) -> str:
        command, status, message = cast("tuple[str, int, str]", self.args)
        return f"`git {command}` ended with {status}: {message.strip() or 'no message'}"


@dataclass(frozen=True)
class Place:
    """Where a git command works. Nothing is discovered from the current folder."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    extra: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """Further environment, for the one command that needs it."""

    def environment(self) -> dict[str, str]:
        env = {**ENVIRONMENT, "PATH": _path(), "GIT_DIR": str(self.git_dir)}
        if self.work_tree:
            env["GIT_WORK_TREE"] = str(self.work_tree)
        if self.index:
            env["GIT_INDEX_FILE"] = str(self.index)
        return env | dict(self.extra)


def git(place: Place, *args: str, stdin: bytes = b"", options: tuple[str, ...] = ()) -> bytes:
    """Run git and return its output; any status but 0 is `GitFailed`."""
    status, out, err = ask(place, *args, stdin=stdin, options=options)
    if status:
        raise GitFailed(" ".join(args[:3]), status, err.decode(errors="replace"))
    return out


def ask(
    place: Place, *args: str, stdin: bytes = b"", options: tuple[str, ...] = ()
) -> tuple[int, bytes, bytes]:
    """Run git and return its status, output and error text."""
    with started(place, *args, options=options) as process:
        out, err = process.communicate(stdin)
        return process.returncode, out, err


@contextmanager
def started(place: Place, *args: str, options: tuple[str, ...] = ()) -> Iterator["Popen[bytes]"]:
    """A running git with all three streams piped; its process group does not outlive the block."""
    chosen = [word for option in (*OPTIONS, *options) for word in ("-c", option)]
    process = _start(["git", *chosen, *args], place.environment(), place.work_tree or place.git_dir)
    try:
        yield process
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
        process.wait()


def _start(command: list[str], env: Mapping[str, str], folder: Path) -> "Popen[bytes]":
    clean = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), *command]
    runner = Git(str(folder)).execute(
        clean,
        istream=PIPE,  # pyright: ignore[reportArgumentType] -- GitPython hands it on to Popen
        as_process=True,
        start_new_session=True,
        pass_fds=inherited(),
    )
    process = cast("Popen[bytes]", runner.proc)  # pyright: ignore[reportAttributeAccessIssue]
    runner.proc = None  # pyright: ignore[reportAttributeAccessIssue] -- its destructor would end the process
    return process


def object_id(place: Place, revision: str, kind: str = "commit") -> str | None:
    """The id of the object that `revision` names, or None."""
    status, out, _ = ask(
        place, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}"
    )
    return out.decode().strip() if status == 0 else None


def contains(place: Place, ancestor: str, descendant: str) -> bool:
    """Whether `descendant` has `ancestor` in its history (a commit has itself)."""
    status, _, err = ask(place, "merge-base", "--is-ancestor", ancestor, descendant)
    if status > 1:
        raise GitFailed("merge-base", status, err.decode(errors="replace"))
    return status == 0


def discover(path: Path) -> tuple[Path, Path, Path | None]:
    """The git directory, the common directory and the work tree that `path` lies in.

    The only command that looks around and reads the operator's own settings, since
    `safe.directory` is theirs to set; `rev-parse` starts no program.
    """
    if not path.exists():
        raise Refused(f"no folder {str(path)!r}. Give the path of a git repository, or its URL.")
    status, out, err = _look(path, "--git-dir", "--git-common-dir")
    if b"dubious ownership" in err:
        raise Refused(
            f"git does not trust {str(path)!r}: it belongs to somebody else. If you do, run: "
            f"git config --global --add safe.directory {path.resolve()}"
        )
    if status:
        raise Refused(
            f"{str(path)!r} is not a git repository. Run `git init` and commit, or give another path."
        )
    git_dir, common = (Path(os.fsdecode(line)) for line in out.splitlines()[:2])
    status, out, _ = _look(path, "--show-toplevel")
    return git_dir, common, Path(os.fsdecode(out.rstrip(b"\n"))) if status == 0 and out.strip() else None


def as_operator(command: Sequence[str]) -> tuple[int, str]:
    """Run a git command that the operator asked for, as if they had typed it: their settings, their hooks."""
    process = _start(list(command), os.environ, Path.cwd())
    out, err = process.communicate()
    return process.returncode, (out + err).decode(errors="replace")


def _look(path: Path, *args: str) -> tuple[int, bytes, bytes]:
    env = {"PATH": _path(), "HOME": os.environ.get("HOME", "/nonexistent"), "LC_ALL": "C"}
    process = _start(["git", "rev-parse", "--path-format=absolute", *args], env, path)
    out, err = process.communicate()
    return process.returncode, out, err


def _path() -> str:
    return os.environ.get("PATH", os.defpath)


def version() -> tuple[int, ...]:
    """The version of the git in use, as in (2, 39)."""
    out, _ = _start(["git", "version"], {"PATH": _path()}, Path("/")).communicate()
    return tuple(int(part) for part in out.split()[2].split(b".")[:2] if part.isdigit())
