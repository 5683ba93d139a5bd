"""A site: one place the axis applies to, and how it is recognised again."""

from domain.value import Value


class Edit(Value):
    """Replace the characters `start` to `end` (offsets into the decoded text) by `text`."""

    start: int
    end: int
    text: str


class Site(Value):
    """One place the axis applies to."""

    key: str
    """What this place is: a digest of rule, path and the source lines it covers.
    Line drift does not change it. Equal lines in one file share a key; `id` tells them apart."""
    nth: int = 0
    """The how-manieth site with this key in one listing, from 0."""
    path: str
    """Relative to the repository's root, `/`-separated; bytes that are not UTF-8 as surrogates."""
    line: int = 1
    end_line: int = 1
    rule: str = ""
    message: str = ""
    edits: tuple[Edit, ...] = ()
    """What the engine would change; empty when a command or a model does the edit."""

    @property
    def id(self) -> str:
        return f"{self.key}#{self.nth}" if self.nth else self.key

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Listing(Value):
    """What a probe found: the sites that remain, and what it left out."""

    sites: tuple[Site, ...] = ()
    skipped: dict[str, int] = {}
    """How many files were skipped, by reason (generated, vendored, minified, …)."""
    notes: tuple[str, ...] = ()
    """Findings without a usable fix, in words: `12 of F841 have no safe fix`."""
