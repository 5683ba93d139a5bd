"""Finding a repository from a path: the only place where git looks around by itself."""

import os
from pathlib import Path

from adapters.repository.git import search_path, start
from adapters.repository.hardened import OPERATORS
from domain.value import Refused


def discover(path: Path) -> tuple[Path, Path, Path | None]:
    """The git directory, the common directory and the work tree that `path` lies in; None if bare.

    Only `rev-parse` runs here, and it starts no program.
    """
    if not path.is_dir():
        raise Refused(f"no folder {str(path)!r}. Give the path of a git repository, or its URL.")
    status, out, err = _look(path, "--git-dir")
    if b"dubious ownership" in err:
        raise Refused(
            f"git does not trust {str(path)!r}: it belongs to somebody else. If you do, run: "
            f"git config --global --add safe.directory {path.resolve()}"
        )
    if status:
        raise Refused(
            f"{str(path)!r} is not a git repository. Run `git init` and commit, or give another path."
        )
    # One question at a time: a folder may have a newline in its name.
    git_dir = _path_of(out)
    common = _path_of(_look(path, "--git-common-dir")[1])
    status, out, _ = _look(path, "--show-toplevel")
    if status == 0 and out.strip():
        return git_dir, common, _path_of(out)
    if _look(path, "--is-bare-repository")[1].strip() == b"false":
        raise Refused(
            f"{str(path)!r} lies inside a git directory. Give the folder of the work tree."
        )
    return git_dir, common, None


def _path_of(out: bytes) -> Path:
    return Path(os.fsdecode(out.removesuffix(b"\n")))


def _look(path: Path, question: str) -> tuple[int, bytes, bytes]:
    env = {name: os.environ[name] for name in OPERATORS if name in os.environ}
    env |= {"PATH": search_path(), "LC_ALL": "C"}
    command = [
        "git",
        "-C",
        os.fspath(path.absolute()),
        "rev-parse",
        "--path-format=absolute",
        question,
    ]
    process = start(command, env, Path("/"))
    out, err = process.communicate()
    return process.returncode, out, err


def as_operator(command: list[str]) -> tuple[int, str]:
    """Run a git command that the operator asked for, as if they had typed it: their settings, their hooks."""
    process = start(command, os.environ, Path.cwd())
    out, err = process.communicate()
    return process.returncode, (out + err).decode(errors="replace")
