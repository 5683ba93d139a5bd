"""What a tool showed of a file: engagement, from the tools and not from a model's word."""

from collections.abc import Iterable, Iterator

from domain.value import Value


class Shown(Value):
    """Lines of a file that a tool showed; or, of a line too long for one look, some of its characters."""

    path: str
    first: int
    last: int
    ends: bool = False
    """The file has no more."""
    columns: tuple[int, int] | None = None
    """First and last character, from 1, of the one line; None: all of each line."""
    closes: bool = False
    """Of `columns`: the line has no more."""

    @classmethod
    def parse(cls, note: str) -> "Shown":
        """From what `note` gives; the path may hold anything."""
        path, _, rest = note.rpartition(":")
        lines, _, columns = rest.partition("@")
        first, _, last = lines.partition("-")
        begin, _, end = columns.partition("-")
        return cls(
            path=path,
            first=int(first),
            last=int(last.rstrip("$")),
            ends=last.endswith("$"),
            columns=(int(begin), int(end.rstrip("$"))) if columns else None,
            closes=end.endswith("$"),
        )

    @property
    def note(self) -> str:
        """`path:first-last`, with `$` at the file's end; then `@first-last` of characters, with `$` at the line's end."""
        lines = f"{self.path}:{self.first}-{self.last}{'$' * self.ends}"
        if self.columns is None:
            return lines
        begin, end = self.columns
        return f"{lines}@{begin}-{end}{'$' * self.closes}"


def whole(seen: Iterable[Shown]) -> Iterator[Shown]:
    """What was shown whole: in one look, or a long line in several that leave no gap."""
    pieces: dict[tuple[str, int], list[Shown]] = {}
    for shown in seen:
        if shown.columns is None:
            yield shown
        else:
            pieces.setdefault((shown.path, shown.first), []).append(shown)
    for line in pieces.values():
        if _closed(line):
            ends = any(piece.ends for piece in line)
            yield Shown(path=line[0].path, first=line[0].first, last=line[0].first, ends=ends)


def _closed(pieces: Iterable[Shown]) -> bool:
    wanted = 1
    for piece in sorted(pieces, key=lambda one: one.columns or (0, 0)):
        begin, end = piece.columns or (0, 0)
        if begin > wanted:
            return False
        wanted = max(wanted, end + 1)
        if piece.closes:
            return True
    return False
