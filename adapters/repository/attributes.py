"""What the repository's own attributes say of its files: generated, vendored, binary, kept by LFS.

Only the files of attributes are read, and git is asked only where one of them mentions such a word.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from adapters.repository.hardened import Place, listed
from domain.skipped import Marks

ATTRIBUTES = ".gitattributes"
_FILE = re.compile(r"([0-9a-f]+) +\d+\t((?:[^\0]*/)?\.gitattributes)\0")
_WORDS = (b"linguist-generated", b"linguist-vendored", b"binary", b"lfs")
_ASKED = ("linguist-generated", "linguist-vendored", "binary", "filter")
_SAID_NOTHING = ("unspecified", "")


Rules = Mapping[str, str]
"""Blobs of the files of attributes, by path."""


def rules_of(place: Place, text: str) -> dict[str, str]:
    """Those of a listing (`ls-tree -r -l -z`); none, where they say nothing of what is asked here."""
    if f"{ATTRIBUTES}\0" not in text:
        return {}
    rows = (row for row in text.split("\0") if row.endswith(ATTRIBUTES))
    found = (_FILE.search(f"{row}\0") for row in rows)
    rules = {one[2]: one[1] for one in found if one}
    return rules if _mention(place, rules) else {}


def marks(place: Place, rules: Rules, paths: Iterable[str]) -> dict[str, Marks]:
    """By path, for the files that the attributes say something of."""
    if not rules:
        return {}
    found: dict[str, dict[str, str]] = {}
    told = _asked(place, rules, paths).split("\0")
    for path, name, value in zip(told[0::3], told[1::3], told[2::3], strict=False):
        if value not in _SAID_NOTHING:
            found.setdefault(path, {})[name] = value
    return {path: _marks(values) for path, values in found.items()}


def _mention(place: Place, rules: Rules) -> bool:
    feed = "".join(f"{blob}\n" for blob in rules.values())
    said = listed(place, "cat-file", "--batch", stdin=feed.encode())
    return any(word in said for word in _WORDS)


def _asked(place: Place, rules: Rules, paths: Iterable[str]) -> str:
    """Git's own answer, by an index that holds the files of attributes alone."""
    with tempfile.TemporaryDirectory() as folder:
        ours = replace(place, index=Path(folder) / "index")
        rows = "".join(f"100644 {blob}\t{path}\0" for path, blob in rules.items())
        listed(ours, "update-index", "-z", "--index-info", stdin=os.fsencode(rows))
        feed = os.fsencode("".join(f"{path}\0" for path in paths))
        told = listed(ours, "check-attr", "-z", "--cached", "--stdin", *_ASKED, stdin=feed)
    return told.decode("utf-8", "surrogateescape")


def _marks(values: Mapping[str, str]) -> Marks:
    def switched(name: str) -> bool | None:
        return None if name not in values else values[name] not in ("unset", "false")

    return Marks(
        generated=switched("linguist-generated"),
        vendored=switched("linguist-vendored"),
        binary=values.get("binary") == "set",
        lfs=values.get("filter") == "lfs",
    )
