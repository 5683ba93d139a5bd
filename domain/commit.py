"""A commit of an executor's chain, as git tells it. Untrusted, whoever made it."""

from collections.abc import Iterable
from typing import Literal

from domain.question import Question
from domain.secret import Leak
from domain.value import Value

REGULAR = ("100644", "100755")
LINK = "120000"
GITLINK = "160000"
ABSENT = "000000"


class Change(Value):
    """One path that a commit touches, from `git diff-tree --raw --numstat`."""

    path: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    added: int = 0
    deleted: int = 0
    binary: bool = False
    size: int = 0
    """Bytes of the new blob."""
    line_endings: bool = False
    """True when line endings changed on lines that are equal otherwise."""
    link: str = ""
    """Where a symbolic link points."""
    filter: str = ""
    """Of the path, by the repository's attributes: what git would pass the content through (LFS)."""

    @property
    def adds(self) -> bool:
        return self.old_mode == ABSENT

    @property
    def deletes(self) -> bool:
        return self.new_mode == ABSENT


class Commit(Value):
    """One commit of a chain."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    body: str = ""
    changes: tuple[Change, ...] = ()
    removed: tuple[str, ...] = ()
    """Identifiers in removed lines that no added line has: what a broken test would miss."""
    leaks: tuple[Leak, ...] = ()
    """Secrets that it would bring into the repository."""
    sites: tuple[str, ...] = ()
    """Ids of the sites it settles."""
    place: str = ""
    """`path:line` of the first of them."""
    item: str = ""
    """Of the work-list, in a sweep."""
    usd: float = 0.0
    """What it cost, where that is known of it alone."""
    withheld: str = ""
    """Why it is not to land, whatever the gate says of it."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes)


Entry = tuple[str, str]
"""Mode and blob; mode `000000` means that the path is absent."""


def joined(commits: Iterable[Commit]) -> dict[str, Entry]:
    """What commits on top of each other come to, by path; what is as it was before them is left out."""
    before: dict[str, Entry] = {}
    after: dict[str, Entry] = {}
    for commit in commits:
        for change in commit.changes:
            before.setdefault(change.path, (change.old_mode, change.old_blob))
            after[change.path] = (change.new_mode, change.new_blob)
    return {path: entry for path, entry in after.items() if entry != before[path]}


Halt = Literal["", "budget", "paused", "refused", "declined"]
"""Why no further pass can be made, whatever has landed."""


class Chain(Value):
    """What a pass produced: commits on top of `base`, oldest first."""

    number: int
    """The pass."""
    base: str
    commits: tuple[Commit, ...] = ()
    there: dict[str, Entry] = {}
    """What the base holds where commits were made on an earlier one; all else is as the first that touched it found it."""
    queued: bool = False
    """Each commit is an item of a work-list, made by itself: what does not fit is made anew."""
    seconds: float = 0.0
    at: int = 0
    """Unix time of the pass, the date of every commit made from it: a repeated step makes the same ids."""
    notes: tuple[str, ...] = ()
    skipped: dict[str, int] = {}
    found: tuple[str, ...] = ()
    """Keys of the sites that it set out with, where it was told which."""
    claimed: bool = False
    """The executor says that nothing is left: a hint for the next step, never an ending."""
    question: Question | None = None
    """What only a person can decide."""
    usd: float = 0.0
    """What the pass cost."""
    rule: str = ""
    """The name of the taught rule that made it, in place of the model that was hired."""
    halt: Halt = ""
    why: str = ""
    """Of the halt."""

    def commit(self, sha: str) -> Commit:
        return next(commit for commit in self.commits if commit.sha == sha)


class ChainOnShelf(Value):
    """A chain by name: steps pass this on, since Prefect looks into everything it is handed."""

    number: int
    base: str
    head: str
    count: int
    queued: bool = False
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    claimed: bool = False
    question: Question | None = None
    usd: float = 0.0
    rule: str = ""
    halt: Halt = ""
    why: str = ""
