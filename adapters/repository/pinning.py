"""Twins of candidates: the same tree, with the protected files of the base."""

import os
from collections.abc import Iterator

from adapters.repository.git import ask, git
from adapters.repository.workspaces import store
from adapters.repository.writing import Draft, write_commits
from domain.commit import Change
from domain.pinning import restored
from domain.target import Workspace


def twin(workspace: Workspace, tip: str, commit: str) -> str | None:
    """`commit`, which is `tip` and more, as the base would test it; None when it differs in no protected file.

    What earlier passes landed is restored as well: a test that one pass weakens vouches for no later one.
    """
    entries = restored(_changes(workspace, _base_of(workspace, tip), commit))
    if not entries:
        return None
    return write_commits(store(workspace), [Draft("pinned\n", entries, commit)], 0)[0]


def _base_of(workspace: Workspace, tip: str) -> str:
    """The base, or as much of it as the tip has, when the base has moved on."""
    status, out, _ = ask(store(workspace), "merge-base", workspace.base, tip)
    return workspace.base if status else out.decode().split()[0]


def _changes(workspace: Workspace, base: str, commit: str) -> Iterator[Change]:
    listed = git(store(workspace), "diff-tree", "-r", "-z", "--no-renames", base, commit)
    fields = iter(listed.split(b"\0"))
    for row in fields:
        if row.startswith(b":"):
            old_mode, new_mode, old, new, _ = row[1:].decode().split()
            path = os.fsdecode(next(fields))
            yield Change(
                path=path, old_mode=old_mode, new_mode=new_mode, old_blob=old, new_blob=new
            )
