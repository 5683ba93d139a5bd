"""The plan a review goes by: every token counted, and kept, so that the next one moves no file that nobody edited.

The first plan of a repository depends on its tree and the settings alone. From then on a plan is made from the one
before it and what has changed in between; while the tree is the same, it is the same plan.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from adapters.repository.attributes import ATTRIBUTES, marks, rules_of
from adapters.repository.chunks import Planned, listed_files, opened, refuse_nothing, scope
from adapters.repository.contents import Wanted, cuts_of, known_of, read
from adapters.repository.hardened import Place, listed
from adapters.repository.listing import Located, entries
from adapters.repository.plans import Row, Store, store
from domain.chunk import Chunk, Part, Plan, Settings, digest_of
from domain.chunk_packing import packed, pieces
from domain.chunk_replan import Replanning, Standing
from domain.chunk_skips import ODD, Entry, Sieve, Sifted, sift

ABSENT = "0" * 6


class Kept(NamedTuple):
    """A kept plan without its chunks: what a review needs to know before it reads one."""

    where: Located
    settings: Settings
    digest: str
    tokens: dict[int, int]
    """Of each chunk, by its position; positions are given once, and go away with their chunk."""
    skipped: dict[str, int]


def keep(repo: str, settings: Settings, base: str = "HEAD", *, anew: bool = False) -> Kept:
    """The kept plan of a commit, brought up to it. `anew`: as if none had been kept."""
    return keep_at(opened(repo, base), settings, repo, base, anew=anew)


def keep_at(
    where: Located, settings: Settings, repo: str, base: str, *, anew: bool = False
) -> Kept:
    """The kept plan of a commit that was found. `repo` and `base` are as people name it."""
    with store() as db:
        asked = _Asked(db, repo, base, where, settings)
        row = None if anew else db.plan(where.git_dir, settings.key)
        if row is None:
            row = _begun(asked)
        elif row.tree != where.tree:
            row = _moved(asked, row)
        refuse_nothing(repo, settings, None if row.tokens else row.skipped)
        return _kept(where, settings, row)


def chunk_of(kept: Kept, position: int) -> Chunk:
    """One chunk of a kept plan."""
    with store() as db:
        return db.chunk(_row(db, kept).id, position)


def whole(kept: Kept) -> Planned:
    """All of a kept plan."""
    with store() as db:
        chunks = db.chunks(_row(db, kept).id)
    return Planned(kept.where, kept.settings, Plan(chunks, kept.skipped, kept.digest), counted=True)


class _Asked(NamedTuple):
    """What one planning is about."""

    db: Store
    repo: str
    base: str
    where: Located
    settings: Settings


class Overtaken(Exception):
    """Somebody else planned the same repository with the same settings in between."""


def _row(db: Store, kept: Kept) -> Row:
    row = db.plan(kept.where.git_dir, kept.settings.key)
    if row is None or row.tree != kept.where.tree:
        raise Overtaken(f"the plan of {kept.where.git_dir!r} is of another commit by now")
    return row


def _kept(where: Located, settings: Settings, row: Row) -> Kept:
    digest = digest_of(settings, row.digests.values())
    return Kept(where, settings, digest, row.tokens, dict(sorted(row.skipped.items())))


def _begun(asked: _Asked) -> Row:
    db, _, _, where, settings = asked
    sifted, rules = _all(asked)
    cuts = _cuts(asked, sifted)
    chunks = packed(sifted.packages, settings.max_tokens, cuts)
    tokens = {position: chunk.tokens for position, chunk in enumerate(chunks)}
    digests = {position: chunk.digest for position, chunk in enumerate(chunks)}
    row = Row(0, where.tree, tokens, digests, dict(sifted.skipped), rules)
    return db.begin(where.git_dir, settings.key, row, chunks)


def _moved(asked: _Asked, row: Row) -> Row:
    place = asked.where.place
    old, new = _differences(place, row.tree, asked.where.tree)
    if any(path.endswith(ATTRIBUTES) for *_, path in (*old, *new)):
        sifted, rules = _all(asked)
        skipped = dict(sifted.skipped)
        changed = _changed_parts(asked.db, row, sifted)
    else:
        rules = row.rules
        before = _counted(asked, old, rules)
        sifted = _counted(asked, new, rules)
        left = Counter(row.skipped)
        left.subtract(before.skipped)
        skipped = {reason: count for reason, count in (left + sifted.skipped).items() if count > 0}
        changed = {path: None for *_, path in (*old, *new)} | _by_path(sifted)
    return _replanned(asked, row._replace(rules=rules, skipped=skipped), changed, sifted)


def _replanned(asked: _Asked, row: Row, changed: Mapping[str, Part | None], sifted: Sifted) -> Row:
    db, _, _, where, settings = asked
    cuts = _cuts(asked, sifted)

    def chunk_at(position: int) -> Chunk:
        return db.chunk(row.id, position)

    def homes(folder: str) -> list[int]:
        return [position for position in db.homes(row.id, folder) if position in row.tokens]

    standing = Standing(row.tokens, chunk_at, homes, lambda: db.names(row.id))
    parts = {
        path: () if part is None
        else (part,) if part.tokens <= settings.max_tokens
        else tuple(pieces(part, settings.max_tokens, cuts))
        for path, part in changed.items()
    }  # fmt: skip
    touched = Replanning(standing, settings.max_tokens).change(parts)
    digests = {**row.digests, **{p: chunk.digest for p, chunk in touched.items() if chunk}}
    row = row._replace(tree=where.tree, digests={p: digests[p] for p in sorted(row.tokens)})
    db.change(row, touched)
    return row


def _all(asked: _Asked) -> tuple[Sifted, dict[str, str]]:
    text = listed_files(asked.repo, asked.base, asked.where)
    rules = rules_of(asked.where.place, text)
    return _counted(asked, list(entries(text)), rules), rules


def _counted(asked: _Asked, files: list[Entry], rules: Mapping[str, str]) -> Sifted:
    """The files that are in the plan, with their tokens counted; contents that nobody has read are read."""
    db, place, settings = asked.db, asked.where.place, asked.settings
    sieve = Sieve(
        scope(settings),
        marks(place, rules, (path for *_, path in files)),
        db.known(list({blob for _, blob, _, _ in files})),
        settings.include_generated,
    )
    sifted = sift(files, sieve)
    parts = [part for package in sifted.packages.values() for part in package]
    wanted = {p.blob: Wanted(p.blob, p.path, p.bytes) for p in parts if p.blob not in sieve.known}
    if not wanted:
        return sifted
    contents = read(place, list(wanted.values()))
    found = {one.blob: known_of(one.path, content) for one, content in contents}
    db.know(found)
    return sift(files, sieve._replace(known={**sieve.known, **found}))


def _cuts(asked: _Asked, sifted: Sifted) -> dict[str, tuple[Part, ...]]:
    """The stretches of the files that are larger than a chunk."""
    db, place, settings = asked.db, asked.where.place, asked.settings
    large = {
        part.blob: part
        for package in sifted.packages.values()
        for part in package
        if part.tokens > settings.max_tokens
    }
    found = db.cuts(large, settings.max_tokens)
    missing = [part for blob, part in large.items() if blob not in found]
    for blob, parts in cuts_of(place, missing, settings.max_tokens):
        db.keep_cut(blob, settings.max_tokens, parts)
        found[blob] = parts
    return found


def _changed_parts(db: Store, row: Row, sifted: Sifted) -> dict[str, Part | None]:
    """What differs between the kept plan and a whole listing."""
    before = {part.path: part.blob for chunk in db.chunks(row.id) for part in chunk.parts}
    now = _by_path(sifted)
    gone: dict[str, Part | None] = {path: None for path in before if path not in now}
    return gone | {path: part for path, part in now.items() if before.get(path) != part.blob}


def _by_path(sifted: Sifted) -> dict[str, Part]:
    return {part.path: part for package in sifted.packages.values() for part in package}


def _differences(place: Place, old: str, new: str) -> tuple[list[Entry], list[Entry]]:
    """The files that differ between two trees, as they were and as they are."""
    told = listed(place, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new)
    fields = told.decode("utf-8", "surrogateescape").split("\0")
    rows = [
        (*head[1:].split(" "), path) for head, path in zip(fields[0::2], fields[1::2], strict=False)
    ]
    blobs = {blob for modes in rows for mode, blob in ((modes[0], modes[2]), (modes[1], modes[3])) if mode != ABSENT and ODD.get(mode) != "submodule"}  # fmt: skip
    sizes = _sizes(place, sorted(blobs))
    before = [(row[0], row[2], sizes.get(row[2], 0), row[-1]) for row in rows if row[0] != ABSENT]
    after = [(row[1], row[3], sizes.get(row[3], 0), row[-1]) for row in rows if row[1] != ABSENT]
    return before, after


def _sizes(place: Place, blobs: Iterable[str]) -> dict[str, int]:
    feed = "".join(f"{blob}\n" for blob in blobs)
    if not feed:
        return {}
    told = listed(
        place, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=feed.encode()
    )
    rows = (row.split(" ") for row in os.fsdecode(told).splitlines())
    return {blob: int(size) for blob, size in rows}
