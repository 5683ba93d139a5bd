"""Where plans, and what contents turned out to be, are kept: a database under `$SWATHE_HOME`, made anew when it is lost."""

import json
import os
import sqlite3
from array import array
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from adapters.home import swathe_home
from domain.chunk import Chunk, Part
from domain.chunk_replan import folder_of
from domain.chunk_skips import Known

NAME = "review-1.sqlite"
"""The number is of what the tables mean: another version of Swathe has a file of its own."""
A_WHILE = 30.0
MOST_VALUES = 500
TABLES = """
CREATE TABLE IF NOT EXISTS content (blob TEXT PRIMARY KEY, tokens INTEGER, reason TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cut (blob TEXT, max_tokens INTEGER, parts BLOB, PRIMARY KEY (blob, max_tokens)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plan (id INTEGER PRIMARY KEY, repo BLOB, settings TEXT, tree TEXT, tokens BLOB, digests BLOB,
    skipped TEXT, rules TEXT, UNIQUE (repo, settings));
CREATE TABLE IF NOT EXISTS chunk (plan INTEGER, position INTEGER, name BLOB, parts BLOB, PRIMARY KEY (plan, position));
CREATE TABLE IF NOT EXISTS home (plan INTEGER, folder BLOB, position INTEGER, PRIMARY KEY (plan, folder, position))
    WITHOUT ROWID;
"""
NONE = -1
"""The tokens of a position that has no chunk any more."""


class Row(NamedTuple):
    """A plan without its chunks."""

    id: int
    tree: str
    tokens: dict[int, int]
    """By position."""
    digests: dict[int, str]
    skipped: dict[str, int]
    rules: dict[str, str]
    """The files of attributes that say which files are skipped."""


@contextmanager
def store() -> Generator["Store"]:
    """The database, open for the block, in one transaction."""
    path = swathe_home() / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(_opened(path)) as connection, connection:
        yield Store(connection)


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # busy, or a disk that takes no more
            raise
        path.unlink()  # no database: all that was in it can be found out again
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=A_WHILE, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # what a crash loses is found out again
        connection.executescript(TABLES)
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class Store:
    """The tables, as values."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def known(self, blobs: Sequence[str]) -> dict[str, Known]:
        found: dict[str, Known] = {}
        for at in range(0, len(blobs), MOST_VALUES):
            some = blobs[at : at + MOST_VALUES]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(f"SELECT * FROM content WHERE blob IN ({marks})", some)  # noqa: S608 -- question marks
            found |= {blob: Known(tokens, reason) for blob, tokens, reason in rows}
        return found

    def know(self, found: Mapping[str, Known]) -> None:
        rows = ((blob, *known) for blob, known in found.items())
        self._db.executemany("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", rows)

    def cuts(self, blobs: Iterable[str], max_tokens: int) -> dict[str, tuple[Part, ...]]:
        found: dict[str, tuple[Part, ...]] = {}
        for blob in blobs:
            asked = "SELECT parts FROM cut WHERE blob = ? AND max_tokens = ?"
            for (parts,) in self._db.execute(asked, (blob, max_tokens)):
                found[blob] = _parts(parts)
        return found

    def keep_cut(self, blob: str, max_tokens: int, parts: Sequence[Part]) -> None:
        row = (blob, max_tokens, _packed(parts))
        self._db.execute("INSERT OR REPLACE INTO cut VALUES (?, ?, ?)", row)

    def plan(self, repo: str, settings: str) -> Row | None:
        asked = "SELECT id, tree, tokens, digests, skipped, rules FROM plan WHERE repo = ? AND settings = ?"
        row = self._db.execute(asked, (os.fsencode(repo), settings)).fetchone()
        if row is None:
            return None
        number, tree, tokens, digests, skipped, rules = row
        held = {p: count for p, count in enumerate(array("q", tokens)) if count != NONE}
        shown = {p: digests[32 * p : 32 * p + 32].hex() for p in held}
        return Row(number, tree, held, shown, json.loads(skipped), json.loads(rules))

    def begin(self, repo: str, settings: str, row: Row, chunks: Sequence[Chunk]) -> Row:
        """Keep a plan that depends on none before it."""
        before = self.plan(repo, settings)
        if before is not None:
            for table in ("chunk", "home"):
                self._db.execute(f"DELETE FROM {table} WHERE plan = ?", (before.id,))  # noqa: S608 -- two names
        made = self._db.execute(
            "INSERT INTO plan (repo, settings) VALUES (?, ?) ON CONFLICT DO UPDATE SET tree = NULL RETURNING id",
            (os.fsencode(repo), settings),
        )
        row = row._replace(id=made.fetchone()[0])
        self.change(row, dict(enumerate(chunks)))
        return row

    def change(self, row: Row, touched: Mapping[int, Chunk | None]) -> None:
        """Keep the plan with these of its chunks changed; None: gone."""
        size = max(row.tokens, default=NONE) + 1
        tokens = array("q", (row.tokens.get(p, NONE) for p in range(size)))
        digests = b"".join(bytes.fromhex(row.digests.get(p, "00" * 32)) for p in range(size))
        said = (row.tree, tokens.tobytes(), digests, json.dumps(row.skipped), json.dumps(row.rules))
        self._db.execute(
            "UPDATE plan SET tree = ?, tokens = ?, digests = ?, skipped = ?, rules = ? WHERE id = ?",
            (*said, row.id),
        )
        for position, chunk in touched.items():
            if chunk is None:
                self._db.execute(
                    "DELETE FROM chunk WHERE plan = ? AND position = ?", (row.id, position)
                )
                self._db.execute(
                    "DELETE FROM home WHERE position = ? AND plan = ?", (position, row.id)
                )
                continue
            packed = (row.id, position, os.fsencode(chunk.name), _packed(chunk.parts))
            self._db.execute("INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?)", packed)
            homes = {(row.id, os.fsencode(folder_of(part.path)), position) for part in chunk.parts}
            self._db.executemany("INSERT OR IGNORE INTO home VALUES (?, ?, ?)", homes)

    def chunk(self, plan: int, position: int) -> Chunk:
        asked = "SELECT name, parts FROM chunk WHERE plan = ? AND position = ?"
        name, parts = self._db.execute(asked, (plan, position)).fetchone()
        return Chunk(os.fsdecode(name), _parts(parts))

    def chunks(self, plan: int) -> tuple[Chunk, ...]:
        asked = "SELECT name, parts FROM chunk WHERE plan = ? ORDER BY position"
        rows = self._db.execute(asked, (plan,))
        return tuple(Chunk(os.fsdecode(name), _parts(parts)) for name, parts in rows)

    def homes(self, plan: int, folder: str) -> list[int]:
        """Positions of chunks that hold, or once held, files of a folder."""
        asked = "SELECT position FROM home WHERE plan = ? AND folder = ?"
        return [position for (position,) in self._db.execute(asked, (plan, os.fsencode(folder)))]

    def names(self, plan: int) -> list[str]:
        rows = self._db.execute("SELECT name FROM chunk WHERE plan = ?", (plan,))
        return [os.fsdecode(name) for (name,) in rows]


def _packed(parts: Iterable[Part]) -> bytes:
    """Paths have every byte but NUL."""
    return os.fsencode("\0".join(str(field) for part in parts for field in part))


def _parts(packed: bytes) -> tuple[Part, ...]:
    fields = os.fsdecode(packed).split("\0")
    rows = zip(*(fields[n::6] for n in range(6)), strict=True)
    return tuple(
        Part(path, blob, int(first), int(last), int(size), int(tokens))
        for path, blob, first, last, size, tokens in rows
    )
