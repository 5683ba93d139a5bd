"""Rows and columns of a text as other tools count them, turned into offsets.

A row ends at LF, CR LF or CR and nowhere else: `str.splitlines` also breaks at form feeds and
at U+2028, which no linter counts as a row.
"""

import re
from bisect import bisect_right

ROW_END = re.compile(r"\r\n|\r|\n")
BYTE_ORDER_MARK = "\ufeff"


def decoded(content: bytes) -> str:
    """The text of a file. Bytes that are not UTF-8 become lone surrogates, so that nothing is lost."""
    return content.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes `text` was decoded from; what was never UTF-8 comes back as it was."""
    return text.encode("utf-8", "surrogateescape")


class Lines:
    """The rows of one text. Rows and columns count from 1, offsets from 0."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(end.end() for end in ROW_END.finditer(text))]
        self.marked = text.startswith(BYTE_ORDER_MARK)

    def offset(self, row: int, column: int) -> int:
        """Where `row`, `column` lies. A byte order mark takes no column."""
        if row > len(self.starts):
            return len(self.text)
        mark = 1 if row == 1 and self.marked else 0
        return min(self.starts[row - 1] + column - 1 + mark, len(self.text))

    def row(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def between(self, row: int, end_row: int) -> tuple[str, ...]:
        """The rows from `row` to `end_row`, without the white space around each."""
        end = self.starts[end_row] if end_row < len(self.starts) else len(self.text)
        start = self.starts[min(row, len(self.starts)) - 1]
        return tuple(part.strip() for part in ROW_END.split(self.text[start:end].rstrip("\r\n")))


def byte_offsets(text: str, wanted: set[int]) -> dict[int, int]:
    """The offset into `text` of each of the byte offsets `wanted` into its UTF-8 form."""
    if text.isascii():
        return {at: at for at in wanted}
    content, found, characters, last = encoded(text), dict[int, int](), 0, 0
    for at in sorted(wanted):
        characters += len(decoded(content[last:at]))
        found[at], last = characters, at
    return found
