"""Commits that landed: the files they changed, before and after."""

import os
from collections.abc import Sequence

from adapters.repository.git import Place, git
from domain.commit import REGULAR
from domain.report import Landed
from domain.teaching import Example

MOST_BYTES = 500_000
"""Of one file."""


def examples(place: Place, commits: Sequence[Landed]) -> tuple[Example, ...]:
    """Those that change the text of files which are there, and do nothing else."""
    found = [_example(place, commit) for commit in commits]
    return tuple(example for example in found if example)


def first_parent(place: Place, commit: str) -> str:
    return git(place, "rev-parse", f"{commit}^").decode().strip()


def _example(place: Place, commit: Landed) -> Example | None:
    listed = git(
        place, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", f"{commit.sha}^", commit.sha
    )  # fmt: skip
    fields = listed.split(b"\0")
    files: list[tuple[str, bytes, bytes]] = []
    for head, name in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old, new, _ = head[1:].decode().split()
        if {old_mode, new_mode} - set(REGULAR) or old_mode != new_mode:
            return None
        before, after = (git(place, "cat-file", "blob", blob) for blob in (old, new))
        if any(b"\0" in text or len(text) > MOST_BYTES for text in (before, after)):
            return None
        files.append((os.fsdecode(name), before, after))
    return Example(sha=commit.sha, place=commit.site, files=tuple(files)) if files else None
