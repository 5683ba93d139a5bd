"""Repositories to work on: made ones, and unpacked source distributions."""

import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

from adapters.processes.finished import Finished
from adapters.processes.shell import run, scrubbed_environment
from adapters.repository.git import Place, git
from adapters.repository.writing import Draft, write_commits

LONG_AGO = 1_700_000_000
AN_HOUR = 3600.0


def place(repo: Path) -> Place:
    return Place(git_dir=repo / ".git", work_tree=repo)


def made_of(repo: Path, files: Mapping[str, str]) -> None:
    """A repository with one commit of `files`, checked out."""
    _begin(repo)
    contents = {path: text.encode() for path, text in files.items()}
    (sha,) = write_commits(place(repo), [Draft("All there is\n", contents, root=True)], LONG_AGO)
    git(place(repo), "update-ref", "refs/heads/main", sha)
    git(place(repo), "read-tree", "--reset", "-u", sha)


def committed(repo: Path) -> None:
    """Make the folder a repository, with all that is in it as one commit."""
    _begin(repo)
    git(place(repo), "add", "-A", "-f", ".")
    git(place(repo), "commit", "-q", "-m", "As it came")


def _begin(repo: Path) -> None:
    git(Place(git_dir=repo / ".git"), "init", "-q", "--initial-branch=main", str(repo))


def unpacked(given: Path, into: Path) -> Path:
    """A copy of the folder or sdist `given`, as the folder `into`."""
    if given.is_dir():
        shutil.copytree(given, into, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return into
    inside = into.with_name(f"{into.name}-unpacking")
    with tarfile.open(given) as archive:
        archive.extractall(inside, filter="data")
    next(path for path in inside.iterdir() if path.is_dir()).rename(into)
    shutil.rmtree(inside)
    return into


def without_campaigns(repo: Path) -> None:
    """Take away all that earlier runs landed."""
    listed = git(
        place(repo),
        "for-each-ref",
        "--format=delete %(refname)",
        "refs/swathe",
        "refs/heads/swathe",
    )
    git(place(repo), "update-ref", "--stdin", stdin=listed)


def shell(command: str | list[str], folder: Path, **environment: str) -> Finished:
    """Run a command of ours, with a plain environment and no supervisor."""
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Bench"), ("EMAIL", "bench@localhost"))
    }
    env = scrubbed_environment({**identity, **environment})
    return run(command, cwd=folder, env=env, timeout_seconds=AN_HOUR, contain=False, apart=True)


def contents(repo: Path, commit: str, folder: Path) -> Path:
    """`commit` as a plain folder."""
    folder.mkdir(parents=True)
    index = folder.with_name(f"{folder.name}.index")
    there = Place(git_dir=repo / ".git", work_tree=folder, index=index)
    git(there, "read-tree", "--reset", "-u", commit)
    index.unlink()
    return folder


def tree_id(repo: Path, commit: str) -> str:
    return git(place(repo), "rev-parse", f"{commit}^{{tree}}").decode().strip()
