"""The one git door: every git command starts here, behind the environment and the options of `hardened`.

GitPython is the runner; `env -i` in front, since it would pass our own environment on.
"""

import os
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, Any, cast

from git import Git

from adapters.repository.hardened import (
    IDENTITY_EMAIL,
    IDENTITY_NAME,
    GitFailed,
    Place,
    options_of,
    search_path,
)
from adapters.repository.lock import inherited

__all__ = [  # of the same door
    "IDENTITY_EMAIL",
    "IDENTITY_NAME",
    "GitFailed",
    "Place",
    "search_path",
]


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
    folder = place.work_tree or place.git_dir
    process = start(["git", *options_of(*options), *args], place.environment(), folder, stdin)
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


def version() -> tuple[int, ...]:
    """The version of the git in use, as in (2, 39)."""
    out, _ = start(["git", "version"], {"PATH": search_path()}, Path("/")).communicate()
    return tuple(int(part) for part in out.split()[2].split(b".")[:2] if part.isdigit())
