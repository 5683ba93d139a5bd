"""A blocker: what has to change before a chunk is clean, and what became of it."""

from hashlib import sha256

from pydantic import Field

from domain.value import Value

MOST_TIMES = 2
"""How often a finding is opened on the same content: as found, and once more on new evidence."""


def place(path: str, line: int, blob: str) -> str:
    """The id of a place on one content of its file. Wording is no part of it: a model words a finding anew each time."""
    return sha256(f"{blob}:{line}:{path}".encode(errors="surrogateescape")).hexdigest()[:12]


class Blocker(Value):
    """One reason against a chunk, as a reviewer gave it."""

    path: str
    line: int = Field(default=1, ge=1)
    why: str
    how_to_tell: str = Field(default="", description="How somebody else can see that it is so.")
    new_evidence: str = Field(
        default="", description="Only for a finding that was answered: what the answer overlooks."
    )


class OpenBlocker(Value):
    """A blocker that nobody has resolved on this content."""

    blocker: Blocker
    blob: str
    """The content of the file it was found in; on another content it says nothing."""
    raised_by: tuple[str, ...]
    """Only these families can withdraw it, by a clean pass over its place."""
    times: int = 1
    tried: str = ""
    """What became of the last attempt at it: `landed`, `red`, `no edit`, …; empty: no fixer was sent yet."""
    stuck: str = ""
    """Why no further attempt is worth its price."""

    @property
    def id(self) -> str:
        return place(self.blocker.path, self.blocker.line, self.blob)


class Pushback(Value):
    """A fixer's reasons against a blocker. It holds for this content, until there is new evidence."""

    blocker: Blocker
    blob: str
    why: str
    """The fixer's words."""
    left: bool = False
    """It disputes nothing: a person has to look."""
    times: int = 1

    @property
    def id(self) -> str:
        return place(self.blocker.path, self.blocker.line, self.blob)

    def settles(self, again: Blocker) -> bool:
        """Whether the same finding, raised `again`, brings nothing that was not answered."""
        evidence = again.new_evidence.strip()
        return not evidence or evidence == self.blocker.new_evidence.strip()
