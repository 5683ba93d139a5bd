"""What an answer may be. One that cannot be meant is refused, never replaced by a default."""

import math
import sys
from pathlib import Path, PurePosixPath

from domain.choice import Opened
from domain.refusal import Refused

CLOSED: tuple[Opened, ...] = ("tests", "ci", "deps", "config")


def repository(repo: str) -> str:
    """A path that exists, or an address."""
    if not words("REPO", repo).startswith("-") and (
        _is_address(repo) or Path(repo).expanduser().is_dir()
    ):
        return repo if _is_address(repo) else str(Path(repo).expanduser())
    raise Refused(
        f"no repository at {repo!r}: it is neither a folder nor a git URL. "
        f"Name one, as in `swathe run . --axis ruff:UP`."
    )


def words(option: str, text: str) -> str:
    """`text`, which says something and hides nothing."""
    if not text.strip():
        raise Refused(f"{option} is empty. Say what it should be, or leave it out.")
    if "\0" in text:
        raise Refused(f"{option} is {text!r}, which holds a NUL character. Take it out.")
    return text


def terminal(option: str, instead: str) -> None:
    """Somebody who can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused(
            f"{option} asks a person, and this is no terminal: nothing was done. {instead}; a run of a work pool asks in "
            f"its form in the UI, with the parameter `approve`."
        )


def _is_address(repo: str) -> bool:
    scheme, found, _ = repo.partition("://")
    if found:
        return scheme in {"https", "http", "ssh", "git", "file"}
    host, found, path = repo.partition(":")
    return bool(found and path) and "@" in host and "/" not in host


def positive(option: str, number: float) -> float:
    if not math.isfinite(number) or number <= 0:
        raise Refused(
            f"{option} is {number:g}. It takes a number above 0; leave it out for the default."
        )
    return number


def ref(option: str, name: str) -> str:
    if words(option, name).startswith("-"):
        raise Refused(
            f"{option} is {name!r}, which git would read as an option. Name a branch, a tag or a commit."
        )
    return name


def glob(pattern: str) -> str:
    words("--paths", pattern)
    if ".." in PurePosixPath(pattern).parts:
        raise Refused(
            f"--paths is {pattern!r}, which leads out of the repository. Write it from its root: `src/**`."
        )
    return pattern


def folder(environment: str) -> str:
    if not environment:
        return ""
    folder = Path(environment).expanduser()
    if not folder.is_dir():
        raise Refused(
            f"--env is {environment!r}, which is not a folder. "
            f"Name an environment that exists, or leave it out: Swathe prepares one."
        )
    return str(folder.absolute())


def classes(names: list[str]) -> tuple[Opened, ...]:
    for name in names:
        if name not in CLOSED:
            raise Refused(f"--allow is {name!r}. It takes one of: {', '.join(CLOSED)}.")
    return tuple(known for known in CLOSED if known in names)
