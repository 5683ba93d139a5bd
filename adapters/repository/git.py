"""The one git door: every git command starts here, behind one environment and one list of options.

git runs programs for whoever can write its config, hooks or attributes (measured: 10 of 11
planted attacks fired under plain git, none behind these options). So: an environment from an
allow-list, explicit directories, hooks and helpers off, revisions resolved before use, `-z`
and literal pathspecs. GitPython is the runner; `env -i` in front, since it would pass our own
environment on.
"""

import os
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, Any, cast

from git import Git

from adapters.repository.lock import inherited

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
        env = {**ENVIRONMENT, "PATH": search_path(), "GIT_DIR": str(self.git_dir)}
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
def started(
    place: Place, *args: str, options: tuple[str, ...] = (), stdin: IO[bytes] | int = PIPE
) -> Generator["Popen[bytes]"]:
    """A running git with its streams piped; its process group does not outlive the block."""
    chosen = [word for option in (*OPTIONS, *options) for word in ("-c", option)]
    folder = place.work_tree or place.git_dir
    process = start(["git", *chosen, *args], place.environment(), folder, stdin)
    try:
        yield process
    except BaseException:
        with suppress(ProcessLookupError):  # it may have ended, and been waited for, by then
            os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
        process.wait()


def start(
    command: list[str], env: Mapping[str, str], folder: Path, stdin: IO[bytes] | int = PIPE
) -> "Popen[bytes]":
    """Start a command with exactly this environment. In a folder that is gone, GitPython stays where we are."""
    clean = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), *command]
    runner = Git(str(folder)).execute(
        clean,
        istream=cast("Any", stdin),  # GitPython hands it on to Popen
        as_process=True,
        start_new_session=True,
        pass_fds=inherited(),
    )
    process = cast("Popen[bytes]", runner.proc)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    runner.proc = None  # pyright: ignore[reportAttributeAccessIssue] -- its destructor would end the process
    return process


def object_id(place: Place, revision: str, kind: str = "commit") -> str | None:
    """The id of the object that `revision` names, or None."""
    status, out, _ = ask(
        place, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}"
    )
    return out.decode().strip() if status == 0 else None


def tree_of(place: Place, commit: str) -> str:
    """The tree of a commit, given by its id."""
    if commit not in _trees:
        remember_tree(commit, git(place, "rev-parse", f"{commit}^{{tree}}").decode().strip())
    return _trees[commit]


def remember_tree(commit: str, tree: str) -> None:
    """What `tree_of` answers from now on. An id names its content, so this cannot become wrong."""
    _trees[commit] = tree


_trees: dict[str, str] = {}


def refs(place: Place, *patterns: str) -> dict[str, str]:
    """Object id by full name of the refs that are, or lie below, one of the patterns."""
    listed = git(place, "for-each-ref", "--format=%(objectname) %(refname)", *patterns)
    rows = (row.partition(" ") for row in os.fsdecode(listed).splitlines())
    return {name: found for found, _, name in rows}


def contains(place: Place, ancestor: str, descendant: str) -> bool:
    """Whether `descendant` has `ancestor` in its history (a commit has itself)."""
    status, _, err = ask(place, "merge-base", "--is-ancestor", ancestor, descendant)
    if status > 1:
        raise GitFailed("merge-base", status, err.decode(errors="replace"))
    return status == 0


def search_path() -> str:
    return os.environ.get("PATH", os.defpath)


def version() -> tuple[int, ...]:
    """The version of the git in use, as in (2, 39)."""
    out, _ = start(["git", "version"], {"PATH": search_path()}, Path("/")).communicate()
    return tuple(int(part) for part in out.split()[2].split(b".")[:2] if part.isdigit())
