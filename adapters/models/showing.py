"""What files and outputs look like to a model: numbered, cut, and with the nearest text when some is missed."""

from collections.abc import Sequence
from difflib import get_close_matches

from domain.shown import Shown

OUTPUT_CHARACTERS = 30_000
LINE_CHARACTERS = 2_000
NEAR = 0.6


def clipped(text: str, most: int = OUTPUT_CHARACTERS) -> str:
    """Head and tail, with what was left out said between them."""
    if len(text) <= most:
        return text
    half = most // 2
    left = len(text) - 2 * half
    return f"{text[:half]}\n… {left:,} characters left out …\n{text[-half:]}"


def numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(
        f"{number:>6}\t{_shortened(line)}" for number, line in enumerate(lines, start=first)
    )


def fitting(lines: Sequence[str], first: int, most: int) -> int:
    """How many of `lines`, from the top, fit into `most` characters once they are numbered; at least one."""
    size = 0
    for count, line in enumerate(lines):
        size += len(numbered([line], first + count)) + 1
        if size > most and count:
            return count
    return len(lines)


def shown_of(path: str, lines: Sequence[str], first: int, *, ends: bool) -> list[Shown]:
    """What `numbered` shows of each stretch of lines; of a line that it cuts, the characters. `ends`: the file does."""
    found: list[Shown] = []
    for number, line in enumerate(lines, start=first):
        last = ends and number == first + len(lines) - 1
        if len(line) > LINE_CHARACTERS:
            found.append(_piece(path, number, line, 1, LINE_CHARACTERS, ends=last))
        elif found and not found[-1].columns and found[-1].last == number - 1:
            found[-1] = found[-1].model_copy(update={"last": number, "ends": last})
        else:
            found.append(Shown(path=path, first=number, last=number, ends=last))
    return found


def rest_of(
    path: str, number: int, line: str, column: int, most: int, *, ends: bool
) -> tuple[str, Shown]:
    """A long line from a character on, and what that shows of it."""
    end = min(len(line), column + most - 1)
    more = f"… (go on with column {end + 1:})" if end < len(line) else ""
    text = f"{number:>6}\t{line[column - 1 : end]}{more}"
    return text, _piece(path, number, line, column, end, ends=ends)


def _piece(path: str, number: int, line: str, begin: int, end: int, *, ends: bool) -> Shown:
    return Shown(
        path=path,
        first=number,
        last=number,
        ends=ends,
        columns=(begin, end),
        closes=end >= len(line),
    )


def _shortened(line: str) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    more = f"({len(line):,} characters; go on with this line and column {LINE_CHARACTERS + 1})"
    return f"{line[:LINE_CHARACTERS]}… {more}"


def nearest(text: str, wanted: str) -> str:
    """The lines that are most like the beginning of `wanted`, numbered; empty when nothing is."""
    lines = text.split("\n")
    sought = [line.strip() for line in wanted.split("\n") if line.strip()]
    if not sought:
        return ""
    places: dict[str, int] = {}
    for at, line in enumerate(lines):
        places.setdefault(line.strip()[:LINE_CHARACTERS], at)
    for line in sought[:3]:
        found = get_close_matches(line[:LINE_CHARACTERS], places, n=1, cutoff=NEAR)
        if found:
            size = min(wanted.count("\n") + 1, 20)
            begin = max(0, places[found[0]] - 2)
            return numbered(lines[begin : begin + size + 4], begin + 1)
    return ""
