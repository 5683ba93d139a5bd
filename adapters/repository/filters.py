"""Filters of a repository (git LFS and its like): which paths would not be committed as they are on disk.

We write blobs as they are. On a path with a filter that would land what its clean command is there to turn into
something else: the whole file where LFS keeps a pointer. So admission has to know (facts/security.md §2.2).
"""

import os
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from adapters.repository.git import Place, git
from domain.commit import REGULAR

ATTRIBUTES = ".gitattributes"
NONE = (b"unspecified", b"unset", b"set")
"""`set` is a filter without a name: git has none to run."""


def filters(place: Place, trees: Iterable[str], paths: Collection[str]) -> dict[str, str]:
    """Name of the filter by path, by the attributes that any of `trees` holds; other paths are left out."""
    found: dict[str, str] = {}
    for tree in dict.fromkeys(trees):
        rules = _rules(place, tree, paths)
        if rules and _mention_filters(place, rules):
            found |= _asked(place, rules, paths)
    return found


def _rules(place: Place, tree: str, paths: Collection[str]) -> list[bytes]:
    """The rows of `git ls-tree` of the attribute files above `paths`."""
    folders = {folder for path in paths for folder in PurePosixPath(path).parents}
    names = sorted(str(folder / ATTRIBUTES) for folder in folders)
    if not names:
        return []
    listed = git(place, "ls-tree", "-z", "--full-tree", tree, "--", *names)
    rows = [row for row in listed.split(b"\0") if row]
    return [row for row in rows if row.split(b" ", 1)[0].decode() in REGULAR]


def _mention_filters(place: Place, rules: Iterable[bytes]) -> bool:
    blobs = [row.split(b"\t", 1)[0].split(b" ")[2] for row in rules]
    return b"filter" in git(place, "cat-file", "--batch", stdin=b"\n".join(blobs) + b"\n")


def _asked(place: Place, rules: Iterable[bytes], paths: Collection[str]) -> dict[str, str]:
    """Git's own answer, by an index that holds the attribute files alone."""
    with tempfile.TemporaryDirectory() as folder:
        ours = replace(place, index=Path(folder) / "index")
        git(ours, "update-index", "-z", "--index-info", stdin=b"".join(r + b"\0" for r in rules))
        feed = b"".join(os.fsencode(path) + b"\0" for path in paths)
        text = git(ours, "check-attr", "-z", "--cached", "--stdin", "filter", stdin=feed)
    fields = text.split(b"\0")
    return {
        os.fsdecode(path): value.decode(errors="replace")
        for path, value in zip(fields[0::3], fields[2::3], strict=False)
        if value not in NONE
    }
