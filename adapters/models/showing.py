"""What files and outputs look like to a model: numbered, cut, and with the nearest text when some is missed."""

from collections.abc import Sequence
from difflib import get_close_matches

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


def whole_stretches(lines: Sequence[str], first: int) -> list[tuple[int, int]]:
    """First and last number of each stretch of lines that `numbered` shows whole."""
    stretches: list[tuple[int, int]] = []
    for number, line in enumerate(lines, start=first):
        if len(line) > LINE_CHARACTERS:
            continue
        if stretches and stretches[-1][1] == number - 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return stretches


def _shortened(line: str) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    return f"{line[:LINE_CHARACTERS]}… ({len(line):,} characters)"


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
