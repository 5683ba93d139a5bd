"""Filters of a repository (git LFS and its like): which paths would not be committed as they are on disk.

We write blobs as they are. On a path with a filter that would land what its clean command is there to turn into
something else: the whole file where LFS keeps a pointer. So admission has to know (facts/security.md §2.2).
"""

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from adapters.repository.git import Place, git

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


def _rules(place: Place, tree: str, paths: Collection[str]) -> dict[str, bytes]:
    """Blobs of the attribute files above `paths`. There may be more folders than a command line holds."""
    folders = {folder for path in paths for folder in PurePosixPath(path).parents}
    asked = {
        os.fsencode(f"{tree}:{folder / ATTRIBUTES}"): folder / ATTRIBUTES for folder in folders
    }
    if not asked:
        return {}
    feed = b"".join(name + b"\0" for name in asked)
    told = git(place, "cat-file", "--batch-check=%(objecttype) %(objectname)", "-z", stdin=feed)
    found: dict[str, bytes] = {}
    at = 0
    for name, path in asked.items():
        # The name of what is not there is repeated, and may hold an end of line.
        if told.startswith(name + b" missing\n", at):
            at += len(name) + len(b" missing\n")
            continue
        end = told.index(b"\n", at)
        kind, _, blob = told[at:end].partition(b" ")
        if kind == b"blob":
            found[str(path)] = blob
        at = end + 1
    return found


def _mention_filters(place: Place, rules: Mapping[str, bytes]) -> bool:
    feed = b"".join(blob + b"\n" for blob in rules.values())
    return b"filter" in git(place, "cat-file", "--batch", stdin=feed)


def _asked(place: Place, rules: Mapping[str, bytes], paths: Collection[str]) -> dict[str, str]:
    """Git's own answer, by an index that holds the attribute files alone."""
    with tempfile.TemporaryDirectory() as folder:
        ours = replace(place, index=Path(folder) / "index")
        rows = (b"100644 %s\t%s\0" % (blob, os.fsencode(path)) for path, blob in rules.items())
        git(ours, "update-index", "-z", "--index-info", stdin=b"".join(rows))
        feed = b"".join(os.fsencode(path) + b"\0" for path in paths)
        text = git(ours, "check-attr", "-z", "--cached", "--stdin", "filter", stdin=feed)
    fields = text.split(b"\0")
    return {
        os.fsdecode(path): value.decode(errors="replace")
        for path, value in zip(fields[0::3], fields[2::3], strict=False)
        if value not in NONE
    }
