"""Patches in the form that models of one family write best: exact, all or none, never fuzzy.

*** Begin Patch
*** Update File: a.py
@@ def first():
 context
-old
+new
*** End Patch
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from domain.value import Value

BEGIN, END = "*** Begin Patch", "*** End Patch"
LAST = "*** End of File"
MARKS: dict[str, Literal["update", "add", "delete"]] = {
    "*** Update File: ": "update",
    "*** Add File: ": "add",
    "*** Delete File: ": "delete",
}


class PatchRefused(Exception):
    """Nothing of the patch was applied. The message is for the model."""


class Hunk(Value):
    """Lines that are there and lines that will be."""

    anchors: tuple[str, ...] = ()
    """Lines that stand somewhere above, in this order."""
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    last: bool = False
    """The old lines are the last of the file."""


class FilePatch(Value):
    """What a patch does to one file."""

    path: str
    kind: Literal["update", "add", "delete"]
    hunks: tuple[Hunk, ...] = ()
    text: str = ""
    """Of an added file."""


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files of a patch, in their order."""
    lines = text.strip("\n").split("\n")
    if lines[0].strip() != BEGIN or lines[-1].strip() != END:
        raise PatchRefused(f"a patch begins with {BEGIN!r} and ends with {END!r}, each on a line.")
    files = [_file(head, body) for head, body in _sections(lines[1:-1])]
    if not files:
        raise PatchRefused("the patch names no file. Add a line such as '*** Update File: a.py'.")
    paths = [file.path for file in files]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice:
        raise PatchRefused(f"{twice!r} stands in the patch twice. Put its changes together.")
    return tuple(files)


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    head, body = "", list[str]()
    for line in lines:
        if line.startswith("*** ") and line.strip() != LAST:
            if not line.startswith(tuple(MARKS)):
                raise PatchRefused(f"{line!r} is no part of a patch. Files are moved with git.")
            if head:
                yield head, body
            head, body = line, []
        elif head:
            body.append(line)
        elif line.strip():
            raise PatchRefused(f"{line!r} stands before the first file.")
    if head:
        yield head, body


def _file(head: str, body: list[str]) -> FilePatch:
    mark = next(mark for mark in MARKS if head.startswith(mark))
    path, kind = head.removeprefix(mark).strip(), MARKS[mark]
    if kind == "add":
        wrong = next((line for line in body if not line.startswith("+")), None)
        if wrong is not None:
            raise PatchRefused(
                f"each line of the added file {path!r} begins with '+', not {wrong!r}."
            )
        return FilePatch(path=path, kind=kind, text="".join(f"{line[1:]}\n" for line in body))
    if kind == "delete":
        return FilePatch(path=path, kind=kind)
    hunks = tuple(_hunks(path, body))
    if not any(hunk.old != hunk.new for hunk in hunks):
        raise PatchRefused(f"the patch changes nothing in {path!r}.")
    return FilePatch(path=path, kind=kind, hunks=hunks)


def _hunks(path: str, body: list[str]) -> Iterator[Hunk]:
    anchors, old, new = list[str](), list[str](), list[str]()
    last = False

    def made() -> Iterator[Hunk]:
        if old or new:
            yield Hunk(anchors=tuple(anchors), old=tuple(old), new=tuple(new), last=last)

    for line in body:
        if line.startswith("@@"):
            if old or new:
                yield from made()
                anchors, old, new, last = [], [], [], False
            anchors += [anchor] if (anchor := line[2:].strip()) else []
        elif line.strip() == LAST:
            last = True
        else:
            _take(path, line, old, new)
    yield from made()


def _take(path: str, line: str, old: list[str], new: list[str]) -> None:
    # Models leave the space of an empty context line out.
    sign, rest = (line[0], line[1:]) if line else (" ", "")
    if sign not in " +-":
        raise PatchRefused(
            f"a line of a change to {path!r} begins with ' ', '+', '-' or '@@', not {line!r}."
        )
    if sign in " -":
        old.append(rest)
    if sign in " +":
        new.append(rest)


def patched(files: tuple[FilePatch, ...], texts: Mapping[str, str]) -> dict[str, str | None]:
    """The files as they will be, None for those that go. `texts`: the files that are there, by path."""
    done: dict[str, str | None] = {}
    for file in files:
        there = file.path in texts
        if there is (file.kind == "add"):
            what = "is there already: update it" if there else "does not exist"
            raise PatchRefused(f"{file.path!r} {what}. Nothing was changed.")
        match file.kind:
            case "add":
                done[file.path] = file.text
            case "delete":
                done[file.path] = None
            case "update":
                done[file.path] = _updated(file, texts[file.path])
    return done


def _updated(file: FilePatch, text: str) -> str:
    lines = text.split("\n")
    at = 0
    for number, hunk in enumerate(file.hunks, start=1):
        where = f"change {number} of {file.path!r}"
        at = _below(lines, hunk, at, where)
        begin = _place(lines, hunk, at, where)
        lines[begin : begin + len(hunk.old)] = hunk.new
        at = begin + len(hunk.new)
    return "\n".join(lines)


def _below(lines: list[str], hunk: Hunk, at: int, where: str) -> int:
    for anchor in hunk.anchors:
        found = [n for n in range(at, len(lines)) if lines[n].strip() == anchor]
        if not found:
            raise PatchRefused(
                f"{where}: no line {anchor!r} from line {at + 1} on. Nothing was changed. "
                "After '@@' stands a whole line of the file, above the change; changes go from top to bottom."
            )
        at = found[0] + 1
    return at


def _place(lines: list[str], hunk: Hunk, at: int, where: str) -> int:
    """The one place where the old lines stand. After an anchor, the first below it."""
    size = len(hunk.old)
    if not size:
        if hunk.anchors:
            return at
        raise PatchRefused(
            f"{where} only adds lines, and nothing says where. Give some lines around."
        )
    places = [n for n in range(at, len(lines) - size + 1) if lines[n : n + size] == list(hunk.old)]
    if hunk.last:
        end = len(lines) - size - (lines[-1] == "")
        places = [n for n in places if n >= end]
    if not places:
        raise PatchRefused(
            f"{where}: these lines do not stand there, exactly so, from line {at + 1} on: "
            f"{' / '.join(hunk.old[:3])!r}. Nothing was changed. Read the file, and copy exactly."
        )
    if len(places) > 1 and not hunk.anchors:
        shown = ", ".join(str(n + 1) for n in places[:5])
        raise PatchRefused(
            f"{where}: these lines stand {len(places)} times (lines {shown}). Nothing was changed. "
            "Give more lines around, or a line above after '@@'."
        )
    return places[0]
