"""What a tool showed of a file: engagement, from the tools and not from a model's word."""

from domain.value import Value


class Shown(Value):
    """Lines of a file that a tool showed, whole."""

    path: str
    first: int
    last: int
    ends: bool = False
    """The file has no more."""

    @classmethod
    def parse(cls, note: str) -> "Shown":
        """From `path:first-last`, with `$` at the file's end; the path may hold anything."""
        path, _, lines = note.rpartition(":")
        first, _, last = lines.partition("-")
        return cls(path=path, first=int(first), last=int(last.rstrip("$")), ends=last.endswith("$"))
