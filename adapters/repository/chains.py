"""Reading a chain of commits: what each one touches, by raw modes, numbers and lines."""

import os
import re
from collections.abc import Iterator, Sequence

from adapters.repository.git import Place, git
from domain.commit import NOTHING, Change, Commit

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")
MAX_WORDS = 200
MAX_TEXT = 200_000
"""Bytes of one commit's diff that are read for identifiers."""


def read_chain(place: Place, base: str, head: str) -> tuple[Commit, ...]:
    """The commits in `base..head` on first parents, oldest first, with all that admission asks."""
    listed = git(
        place, "log", "--first-parent", "--reverse", "-z", "--format=%H%n%T%n%P%n%B", f"{base}..{head}"
    )
    heads = [record for record in listed.split(b"\0") if record.strip()]
    if not heads:
        return ()
    shas = [record.split(b"\n", 1)[0].decode() for record in heads]
    changes = _changes(place, shas)
    words = _removed_words(place, shas)
    return tuple(
        _commit(record, changes.get(sha, ()), words.get(sha, ()))
        for sha, record in zip(shas, heads, strict=True)
    )


def _commit(record: bytes, changes: tuple[Change, ...], removed: tuple[str, ...]) -> Commit:
    sha, tree, parents, message = record.decode("utf-8", "replace").split("\n", 3)
    subject, _, body = message.strip().partition("\n")
    return Commit(
        sha=sha,
        tree=tree,
        parents=tuple(parents.split()),
        subject=subject,
        body=body.strip(),
        changes=changes,
        removed=removed,
    )


def _diff(place: Place, shas: Sequence[str], *options: str) -> bytes:
    feed = "".join(f"{sha}\n" for sha in shas).encode()
    return git(
        place, "diff-tree", "--stdin", "-r", "-m", "--first-parent", "--root", "--no-renames",
        "--no-ext-diff", "--no-textconv", "--full-index", *options, stdin=feed,
    )  # fmt: skip


def _changes(place: Place, shas: Sequence[str]) -> dict[str, tuple[Change, ...]]:
    numbers = _numbers(_diff(place, shas, "-z", "--raw", "--numstat"))
    ignoring = _numbers(_diff(place, shas, "-z", "--raw", "--numstat", "--ignore-cr-at-eol"))
    blobs = {change.new_blob for found in numbers.values() for change in found}
    facts = _sizes(place, sorted(blobs - {NOTHING}))
    links = {c.new_blob for found in numbers.values() for c in found if c.new_mode == "120000"}
    targets = {blob: git(place, "cat-file", "blob", blob) for blob in links}
    done: dict[str, tuple[Change, ...]] = {}
    for sha, found in numbers.items():
        plain = {c.path: (c.added, c.deleted) for c in ignoring.get(sha, ())}
        done[sha] = tuple(
            change.model_copy(
                update={
                    "size": facts.get(change.new_blob, 0),
                    "link": os.fsdecode(targets.get(change.new_blob, b"")),
                    "line_endings": not change.binary
                    and plain.get(change.path, (0, 0)) != (change.added, change.deleted),
                }
            )
            for change in found
        )
    return done


def _numbers(text: bytes) -> dict[str, tuple[Change, ...]]:
    """Parse `-z --raw --numstat` records of many commits."""
    fields = iter(text.split(b"\0"))
    found: dict[str, dict[str, Change]] = {}
    current: dict[str, Change] = {}
    for item in fields:
        item = item.lstrip(b"\n")  # noqa: PLW2901
        if item.startswith(b":"):
            old_mode, new_mode, old, new, _ = item[1:].decode().split()
            path = os.fsdecode(next(fields))
            current[path] = Change(
                path=path, old_mode=old_mode, new_mode=new_mode, old_blob=old, new_blob=new
            )
        elif b"\t" in item:
            added, deleted, name = item.split(b"\t", 2)
            path = os.fsdecode(name)
            binary = added == b"-"
            current[path] = current[path].model_copy(
                update={
                    "binary": binary,
                    "added": 0 if binary else int(added),
                    "deleted": 0 if binary else int(deleted),
                }
            )
        elif item:
            current = found.setdefault(item.split()[0].decode(), {})
    return {sha: tuple(changes.values()) for sha, changes in found.items()}


def _sizes(place: Place, blobs: Sequence[str]) -> dict[str, int]:
    if not blobs:
        return {}
    feed = "".join(f"{blob}\n" for blob in blobs).encode()
    rows = git(place, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=feed)
    pairs = (row.split() for row in rows.decode().splitlines())
    return {row[0]: int(row[1]) for row in pairs if len(row) == 2 and row[1].isdigit()}  # noqa: PLR2004


def _removed_words(place: Place, shas: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for sha, lines in _patches(_diff(place, shas, "-p", "-U0"), set(shas)):
        gone: dict[str, None] = {}
        kept: set[bytes] = set()
        for line in lines:
            words = _WORD.findall(line[1:])
            if line.startswith(b"-"):
                gone |= dict.fromkeys(word.decode() for word in words)
            else:
                kept.update(words)
        found[sha] = tuple(word for word in gone if word.encode() not in kept)[:MAX_WORDS]
    return found


def _patches(text: bytes, shas: set[str]) -> Iterator[tuple[str, list[bytes]]]:
    """Added and removed lines by commit, capped."""
    sha, lines, size = "", list[bytes](), 0
    for line in text.split(b"\n"):
        if len(line) == len(NOTHING) and line.decode("ascii", "replace") in shas:
            if sha:
                yield sha, lines
            sha, lines, size = line.decode(), [], 0
        elif line[:1] in (b"+", b"-") and line[:3] not in (b"+++", b"---") and size < MAX_TEXT:
            lines.append(line)
            size += len(line)
    if sha:
        yield sha, lines
