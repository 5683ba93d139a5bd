"""Every eligible byte in exactly one chunk: the plans of real repositories, held against git's own listing and contents.

A plan says of each file how many there are of a kind that is left out, and of all others in which chunk each of their
lines is. Both is counted again here, from `git ls-tree` and from the blobs.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from adapters.repository import kept_chunks
from adapters.repository.chunks import plan_of
from adapters.repository.git import git
from benchmarks import sdists
from benchmarks.choices import Choices
from benchmarks.repositories import place
from benchmarks.scratch import scratch
from benchmarks.tables import Row, at_most, grid, show
from domain.chunk import Part, Plan, Settings


class Counted(NamedTuple):
    """A plan, counted again."""

    name: str
    how: str
    plan: Plan
    tracked: dict[str, int]
    """Bytes of every file that git tracks."""
    wrong: list[str]


def measure(choices: Choices) -> bool:
    counted: list[Counted] = []
    with scratch() as folder:
        for name in sdists.NAMES:
            repo = sdists.repository(name, choices, folder / name)
            tracked = _tracked(repo)
            for how, plan in _plans(repo):
                counted.append(Counted(name, how, plan, tracked, [*_wrong(repo, plan, tracked)]))
    grid(
        "The files of a review",
        ("repository", "plan", "tracked", "planned", "bytes", "chunks", "cut", "left out"),
        [_row(one) for one in counted],
    )
    wrong = [f"{one.name}, {one.how}: {what}" for one in counted for what in one.wrong]
    return show(
        "Every eligible byte in exactly one chunk",
        [
            at_most("files and lines that are in none or in two", len(wrong), 0, "{:.0f}"),
            *(Row("so", what) for what in wrong[:10]),
        ],
    )


def _plans(repo: Path) -> Iterable[tuple[str, Plan]]:
    yield "estimated", plan_of(str(repo), Settings()).plan
    yield "counted", kept_chunks.whole(kept_chunks.keep(str(repo), Settings())).plan


def _tracked(repo: Path) -> dict[str, int]:
    listed = git(place(repo), "ls-tree", "-r", "-l", "-z", "HEAD").decode()
    rows = (row.partition("\t") for row in listed.split("\0") if row)
    return {path: int(head.split()[3].replace("-", "0")) for head, _, path in rows}


def _wrong(repo: Path, plan: Plan, tracked: dict[str, int]) -> Iterable[str]:
    parts: dict[str, list[Part]] = {}
    for part in plan.parts:
        parts.setdefault(part.path, []).append(part)
    if len(parts) + sum(plan.skipped.values()) != len(tracked):
        yield f"{len(parts)} planned and {sum(plan.skipped.values())} left out of {len(tracked)}"
    for path, mine in parts.items():
        if sum(part.bytes for part in mine) != tracked.get(path):
            yield f"{path} has {tracked.get(path)} bytes, its parts {sum(p.bytes for p in mine)}"
        if len(mine) > 1 and all(part.first_line for part in mine):
            yield from _gaps(repo, path, sorted(mine, key=lambda part: part.first_line))


def _gaps(repo: Path, path: str, parts: list[Part]) -> Iterable[str]:
    """Stretches of lines that follow one another to the end, each with the bytes that the file has there."""
    lines = git(place(repo), "cat-file", "blob", f"HEAD:{path}").split(b"\n")
    wanted = 1
    for part in parts:
        last = part.last_line or len(lines)
        size = len(b"\n".join(lines[part.first_line - 1 : last])) + (last < len(lines))
        if part.first_line != wanted or size != part.bytes:
            yield f"{path}:{part.first_line}-{part.last_line} has {part.bytes} bytes at {wanted}, not {size}"
        wanted = last + 1
    if wanted <= len(lines) and lines[wanted - 1 :] != [b""]:
        yield f"{path}: nothing from line {wanted} on"


def _row(one: Counted) -> tuple[object, ...]:
    files = Counter(part.path for part in one.plan.parts)
    cut = sum(count > 1 for count in files.values())
    left = ", ".join(f"{count} {why}" for why, count in sorted(one.plan.skipped.items()))
    size = f"{sum(part.bytes for part in one.plan.parts):,}"
    return (
        one.name,
        one.how,
        f"{len(one.tracked):,}",
        f"{len(files):,}",
        size,
        len(one.plan.chunks),
        cut,
        left,
    )
