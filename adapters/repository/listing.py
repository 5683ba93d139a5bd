"""Where a repository is and what git lists of a tree: for commands that answer before GitPython would be imported."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from adapters.processes.tool import run_tool
from adapters.repository.hardened import OPERATORS, Place, listed, options_of, search_path
from domain.chunk_skips import Entry

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
BLOCK = 1 << 20
"""Characters."""
BLOB_ID = len("100644 blob ")
"""Where the id begins in the row of a blob."""


class Located(NamedTuple):
    """A commit of a repository, and its tree."""

    git_dir: str
    commit: str
    tree: str

    @property
    def place(self) -> Place:
        return Place(git_dir=Path(self.git_dir))


def located(repo: str, base: str) -> Located | None:
    """In one question to git, which starts no program. None: whoever opens targets has to look closer."""
    path = Path(repo).expanduser().absolute()
    if not path.is_dir() or base.startswith("-"):
        return None
    asked = ("--git-common-dir", "--is-bare-repository", f"{base}^{{commit}}", f"{base}^{{tree}}")
    command = ["git", *options_of(), "-C", str(path), "rev-parse", "--path-format=absolute", *asked]
    theirs = {name: os.environ[name] for name in OPERATORS if name in os.environ}
    # Without a protocol: a partial clone would fetch what is not there, by commands of its own configuration.
    environment = {**theirs, "PATH": search_path(), "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": ""}
    done = run_tool(command, cwd=Path("/"), environment=environment)
    told = os.fsdecode(done.stdout).split("\n")
    if done.exit_code or len(told) != len(asked) + 1:  # a folder may have a newline in its name
        return None
    git_dir, bare, commit, tree, _ = told
    if bare != "false" or not _ID.fullmatch(commit) or not _ID.fullmatch(tree):
        return None
    return Located(git_dir, commit, tree)


def listing(place: Place, tree: str) -> str:
    """Every file of a tree with its mode, blob and size, as git puts it."""
    return listed(place, "ls-tree", "-r", "-l", "-z", tree).decode("utf-8", "surrogateescape")


def entries(text: str) -> Iterator[Entry]:
    """The rows of a listing. Block by block: all of them at once would take as much memory again."""
    at = 0
    id_end = text.find(" ", BLOB_ID)
    while at < len(text):
        end = text.find("\0", min(at + BLOCK, len(text) - 1))
        for row in text[at:end].split("\0"):
            head, _, path = row.partition("\t")
            if head[7] == "b":  # cut by position: to split it would take as long as the rest
                yield head[:6], head[BLOB_ID:id_end], int(head[id_end:]), path
            else:
                mode, _, commit, _ = head.split()
                yield mode, commit, 0, path
        at = end + 1
