"""What one look of an engine at the tree gives: sites, the files they are in, and remarks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from adapters.executors.reading import Source
from domain.recognition import numbered, site_key
from domain.site import Edit, Site


@dataclass
class Scan:
    """Filled by an engine while it reads its tool's answer."""

    found: dict[str, list[Site]] = field(default_factory=lambda: defaultdict[str, list[Site]](list))
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    every: bool = False
    """For a reader: findings without a usable fix are sites too, without an edit."""
    unfixable: Counter[str] = field(default_factory=Counter[str])
    """Findings without a usable fix, by rule."""
    errors: Counter[str] = field(default_factory=Counter[str])
    """Syntax errors by file."""
    unread: set[str] = field(default_factory=set[str])
    """Files that the tool cannot read."""

    def add(
        self,
        source: Source,
        *,
        rule: str,
        message: str,
        rows: tuple[int, int],
        edits: Iterable[Edit],
    ) -> None:
        self.sources[source.path] = source
        row, end_row = rows
        self.found[source.path].append(
            Site(
                key=site_key(rule, source.path, source.lines.between(row, end_row)),
                path=source.path,
                line=row,
                end_line=end_row,
                rule=rule,
                message=message,
                edits=tuple(edits),
            )
        )

    def settle(self) -> "Scan":
        """Number the sites, and bring files and sites into a stable order."""
        self.found = {path: list(numbered(self.found[path])) for path in sorted(self.found)}
        return self

    @property
    def sites(self) -> tuple[Site, ...]:
        return tuple(site for path in sorted(self.found) for site in self.found[path])


class Look(Protocol):
    """An engine, ready to look: at the given paths, or at everything in its scope."""

    def __call__(self, paths: Sequence[str] | None) -> Scan: ...


Read = Callable[[str], Source | None]
"""A file by its path; None when it is to be left alone."""
