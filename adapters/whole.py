"""Files that are there whole or not at all, whenever the writer dies."""

from pathlib import Path

from adapters.failpoints import reach

DRAFT = ".draft"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside `path`, and then over it. A kill leaves at most a draft, which the next run removes."""
    draft = path.with_name(path.name + DRAFT)
    draft.write_bytes(content if isinstance(content, bytes) else content.encode())
    reach("file-drafted")
    draft.replace(path)
