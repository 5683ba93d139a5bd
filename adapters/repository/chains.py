"""Reading a chain of commits: what each one touches, by raw modes, numbers and lines."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor

from adapters.redacting import redactor
from adapters.repository.filters import ATTRIBUTES, filters
from adapters.repository.git import Place, git
from adapters.repository.patches import added_lines, told
from adapters.repository.secrets import leaks
from domain.commit import LINK, Change, Commit

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")
MAX_WORDS = 200
MAX_TEXT = 200_000
"""Bytes of one commit's diff that are read for identifiers."""
MAX_DIFFED = "20m"
"""A larger file counts as binary: its diff would have to be held in memory."""
MAX_LINK = 4096
"""Bytes of the longest path there is."""


def read_chain(place: Place, base: str, head: str) -> tuple[Commit, ...]:
    """The commits in `base..head` on first parents, oldest first, with all that admission asks."""
    listed = git(
        place,
        "log",
        "--first-parent",
        "--reverse",
        "-z",
        "--format=%H%n%T%n%P%n%B",
        f"{base}..{head}",
    )
    heads = [record for record in listed.split(b"\0") if record.strip()]
    if not heads:
        return ()
    commits = [record.decode("utf-8", "replace").split("\n", 3) for record in heads]
    shas = [sha for sha, *_ in commits]
    # With its first parent named, a merge is compared with that one alone.
    against = [f"{sha} {parents.split(' ')[0]}" for sha, _, parents, _ in commits]
    with ThreadPoolExecutor(max_workers=2) as beside:  # git reads, beside git and beside us
        counting = beside.submit(_diff, place, against, "-z", "--raw", "--numstat")
        patches = _diff(place, against, "-p", "-U0")
        touched = _numbers(counting.result())
        knowing = beside.submit(_filters, place, base, head, touched)
        weighing = beside.submit(_weighed, place, against, patches, touched)
        words = _removed_words(patches, shas)
        messages = ((sha, message) for sha, _, _, message in commits)
        found = leaks(place, base, [*told(messages, touched), *added_lines(patches, shas)])
        changes = _filtered(weighing.result(), knowing.result())
    # The environment is asked once for its secrets, not for every commit.
    clean = redactor().clean
    return tuple(
        _commit(
            commit,
            clean,
            changes=changes.get(commit[0], ()),
            removed=tuple(word for word in words.get(commit[0], ()) if clean(word) == word),
            leaks=found.get(commit[0], ()),
        )
        for commit in commits
    )


def _commit(told: list[str], clean: Callable[[str], str], **facts: object) -> Commit:
    sha, tree, parents, message = told
    subject, _, body = message.strip().partition("\n")
    return Commit.model_validate(
        {
            "sha": sha,
            "tree": tree,
            "parents": tuple(parents.split()),
            # Looked at for secrets above; whatever is said of the commit from here on is without them.
            "subject": clean(subject),
            "body": clean(body.strip()),
            **facts,
        }
    )


def _diff(place: Place, against: Sequence[str], *more: str) -> bytes:
    """The differences of commits, each given with its parent, as one text."""
    feed = "".join(f"{pair.rstrip()}\n" for pair in against).encode()
    return git(
        place, "diff-tree", "--stdin", "-r", "--root", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--full-index", *more, stdin=feed,
        options=(f"core.bigFileThreshold={MAX_DIFFED}",),
    )  # fmt: skip


def _weighed(
    place: Place,
    against: Sequence[str],
    patches: bytes,
    numbers: Mapping[str, tuple[Change, ...]],
) -> dict[str, tuple[Change, ...]]:
    """The changes with their sizes, where their links point, and whether line endings changed."""
    # Where no changed line has a carriage return, no line ending changed.
    ignoring = (
        _numbers(_diff(place, against, "-z", "--raw", "--numstat", "--ignore-cr-at-eol"))
        if b"\r" in patches
        else numbers
    )
    sizes = _sizes(
        place, {c.new_blob for found in numbers.values() for c in found if not c.deletes}
    )
    links = _links(place, [c for found in numbers.values() for c in found], sizes)
    done: dict[str, tuple[Change, ...]] = {}
    for sha, found in numbers.items():
        plain = {c.path: (c.added, c.deleted) for c in ignoring.get(sha, ())}
        done[sha] = tuple(
            change.model_copy(
                update={
                    "size": sizes.get(change.new_blob, 0),
                    "link": links.get(change.new_blob, "") if change.new_mode == LINK else "",
                    "line_endings": not change.binary
                    and plain.get(change.path, (0, 0)) != (change.added, change.deleted),
                }
            )
            for change in found
        )
    return done


def _filters(
    place: Place, base: str, head: str, changes: Mapping[str, tuple[Change, ...]]
) -> dict[str, str]:
    paths = {change.path for found in changes.values() for change in found if not change.deletes}
    # Attributes are those of the base, and those that the chain makes of them.
    altered = any(path.rpartition("/")[2] == ATTRIBUTES for path in paths)
    return filters(place, (base, head) if altered else (base,), paths)


def _filtered(
    changes: Mapping[str, tuple[Change, ...]], named: Mapping[str, str]
) -> Mapping[str, tuple[Change, ...]]:
    if not named:
        return changes
    return {
        sha: tuple(
            change.model_copy(update={"filter": named.get(change.path, "")}) for change in found
        )
        for sha, found in changes.items()
    }


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


def _sizes(place: Place, blobs: AbstractSet[str]) -> dict[str, int]:
    """Bytes by blob, for those that are there: a submodule's commit is not."""
    if not blobs:
        return {}
    feed = "".join(f"{blob}\n" for blob in sorted(blobs)).encode()
    rows = git(place, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=feed)
    pairs = (row.split() for row in rows.decode().splitlines())
    return {row[0]: int(row[1]) for row in pairs if len(row) == 2 and row[1].isdigit()}  # noqa: PLR2004


def _links(place: Place, changes: Sequence[Change], sizes: Mapping[str, int]) -> dict[str, str]:
    """Where links point, by blob. What is too long for a path is left out, and then refused."""
    blobs = sorted(
        {
            c.new_blob
            for c in changes
            if c.new_mode == LINK and sizes.get(c.new_blob, MAX_LINK) < MAX_LINK
        }
    )
    if not blobs:
        return {}
    text = git(place, "cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in blobs).encode())
    found: dict[str, str] = {}
    at = 0
    for blob in blobs:
        at = text.index(b"\n", at) + 1
        found[blob] = os.fsdecode(text[at : at + sizes[blob]])
        at += sizes[blob] + 1
    return found


def _removed_words(patches: bytes, shas: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for sha, lines in _patches(patches, {sha.encode() for sha in shas}):
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


def _patches(text: bytes, shas: AbstractSet[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Added and removed lines by commit, capped."""
    sha, lines, size = "", list[bytes](), 0
    for line in text.split(b"\n"):
        head = line.split(b" ", 1)[0]
        if head in shas:
            if sha:
                yield sha, lines
            sha, lines, size = head.decode(), [], 0
        elif line[:1] in (b"+", b"-") and line[:3] not in (b"+++", b"---") and size < MAX_TEXT:
            lines.append(line)
            size += len(line)
    if sha:
        yield sha, lines
