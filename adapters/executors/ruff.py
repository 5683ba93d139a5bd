"""ruff: its findings are the sites, its fixes the edits.

The target's own ruff settings are honoured: they are the repository's preferences, and they
cannot run code. Those of folders above it are not. What would make `ruff check` write, or print something else, is overridden.
"""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NotRequired, TypedDict

from adapters.executors.reading import Reader, Source, is_utf8, read_regular, restored, walked
from adapters.executors.ruff_settings import Kind, fenced, settings_of
from adapters.executors.scan import Scan
from adapters.processes.tool import ToolOutput, chunked, run_tool, tool_path
from domain.axis import Ruff
from domain.site import Edit
from domain.value import Refused

SUFFIXES = (".py", ".pyi", ".pyw")
NOTEBOOK = ".ipynb"
"""Ruff finds things in its cells, whose places are not those of the file: skipped, and counted."""

NOT_UTF8 = b"did not contain valid UTF-8"
CACHE_FAILED = b"serialize cache"
LATE_RULES = {"I001": 1, "I002": 1, "RUF100": 2}
INVALID_SYNTAX = "invalid-syntax"


class _Location(TypedDict):
    row: int
    column: int


class _Edit(TypedDict):
    content: str
    location: _Location
    end_location: _Location


class _Fix(TypedDict):
    applicability: str
    edits: list[_Edit]


class _Finding(TypedDict):
    code: str | None
    filename: str
    message: str
    location: _Location
    end_location: _Location
    fix: _Fix | None
    cell: NotRequired[int | None]


@dataclass(frozen=True)
class RuffLook:
    """Looks for the findings of one axis in the tree of a reader."""

    reader: Reader
    axis: Ruff
    cache: Path
    """Ruff's own cache, outside the tree."""
    every: bool = False
    """Also what has no usable fix."""

    def __call__(self, paths: Sequence[str] | None) -> Scan:
        """Look at `paths`; None: at what ruff itself would look at."""
        scan = Scan(every=self.every)
        if paths is None:
            unread = self._look_together(scan, ["."], _inside(self.reader.root))
            names = walked(self.reader.root) if unread else ()
            apart = [path for path in names if path.endswith(SUFFIXES) and self._is_hard(path)]
        else:
            self._pass_over(paths)
            mine = [p for p in paths if p.endswith(SUFFIXES) and self.reader.may_hold_sites(p)]
            apart = [path for path in mine if not _is_text(path)]
            plain = [path for path in mine if _is_text(path)]
            unread = False
            for chunk in chunked([f"./{path}" for path in plain]):
                unread |= self._look_together(scan, chunk, _inside(self.reader.root))
            if unread:
                apart += [path for path in plain if self._is_hard(path)]
        for path in apart:
            self._look_apart(scan, path)
        return scan.settle()

    def _look_together(
        self, scan: Scan, names: Sequence[str], path_of: Callable[[str], str]
    ) -> bool:
        """One call for many files. True when ruff could not read some of them."""
        answer = self._run(["--", *names])
        sources: dict[str, Source | None] = {}
        for finding in _findings(answer, self.axis):
            path = path_of(finding["filename"])
            if path not in sources:
                mine = path.endswith(SUFFIXES) and "\ufffd" not in path
                sources[path] = self.reader.read(path) if mine else None
                self._pass_over([path])
            if (source := sources[path]) is not None:
                _take(scan, source, finding, self.axis)
        return NOT_UTF8 in answer.stderr or any("\ufffd" in path for path in sources)

    def _pass_over(self, paths: Iterable[str]) -> None:
        self.reader.reasons |= {path: "notebook" for path in paths if path.endswith(NOTEBOOK)}

    def _look_apart(self, scan: Scan, path: str) -> None:
        """A file whose name or content ruff cannot take: hand it over on standard input."""
        source = self.reader.read(path)
        if source is None:
            return
        if source.stand_in is None:
            scan.unread.add(path)
            return
        answer = self._run(["--stdin-filename", path, "-"], source.stand_in)
        for finding in _findings(answer, self.axis):
            _take(scan, source, finding, self.axis)

    def _run(self, arguments: Sequence[str], stdin: bytes = b"") -> ToolOutput:
        options = [
            "check",
            "--no-fix",
            "--no-fix-only",
            "--no-show-fixes",
            "--exit-zero",
            "--force-exclude",
        ]
        options += [
            "--output-format",
            "json",
            "--cache-dir",
            str(self.cache),
            "--select",
            self.axis.select,
        ]
        ruff = tool_path("ruff")
        root = self.reader.root
        with fenced(root, self._settings) as where:
            answer = run_tool([ruff, *options, *where, *arguments], cwd=root, stdin=stdin)
            if answer.exit_code != 0 and CACHE_FAILED in answer.stderr:
                # Seen with 0.17.6: a file name in the tree that is not UTF-8 cannot go into its cache.
                again = [ruff, *options, "--no-cache", *where, *arguments]
                answer = run_tool(again, cwd=root, stdin=stdin)
        return answer

    @cached_property
    def _settings(self) -> Kind:
        """Looked for once: the tree moves on, its settings do not."""
        return settings_of(self.reader.root)

    def _is_hard(self, path: str) -> bool:
        """Whether ruff cannot read the file, or cannot say its name."""
        content = read_regular(self.reader.root, path)
        return isinstance(content, bytes) and not (_is_text(path) and is_utf8(content))


def _is_text(path: str) -> bool:
    """Whether ruff's output can say the name: bytes that are not UTF-8 come out as U+FFFD."""
    return is_utf8(os.fsencode(path)) and "\ufffd" not in path


def _inside(root: Path) -> Callable[[str], str]:
    # Ruff names files from its working directory, which the kernel gives without links.
    prefix = f"{root.resolve()}/"
    return lambda name: name.removeprefix(prefix)


def _findings(answer: ToolOutput, axis: Ruff) -> Iterable[_Finding]:
    if answer.exit_code != 0:
        raise Refused(
            f"ruff could not look for {axis.select!r} (exit code {answer.exit_code}):\n{answer.complaint}\n"
            f"Correct the selectors, or the ruff settings of the repository."
        )
    findings: list[_Finding] = json.loads(answer.stdout or b"[]")
    # Ruff sorts its output by place, but of two fixes that begin together, `--fix` takes that of the
    # rule it checks first; imports come after all that looks at the syntax tree, `noqa` last.
    return sorted(findings, key=lambda finding: LATE_RULES.get(finding["code"] or "", 0))


def _take(scan: Scan, source: Source, finding: _Finding, axis: Ruff) -> None:
    code = finding["code"] or INVALID_SYNTAX
    if code == INVALID_SYNTAX:
        scan.errors[source.path] += 1
        return
    fix = finding["fix"]
    usable = fix is not None and (axis.unsafe or fix["applicability"] == "safe")
    edits = fix["edits"] if fix is not None and usable and finding.get("cell") is None else []
    if not edits:
        scan.unfixable[code] += 1
        if not scan.every:
            return
    scan.add(
        source,
        rule=code,
        message=restored(finding["message"]),
        rows=_rows(finding),
        edits=[_edit(source, edit) for edit in edits],
    )


def _rows(finding: _Finding) -> tuple[int, int]:
    row, end = finding["location"]["row"], finding["end_location"]
    # A range that ends before the first column of a row does not cover that row.
    return row, max(row, end["row"] - 1 if end["column"] == 1 else end["row"])


def _edit(source: Source, edit: _Edit) -> Edit:
    start, end = edit["location"], edit["end_location"]
    return Edit(
        start=source.lines.offset(start["row"], start["column"]),
        end=source.lines.offset(end["row"], end["column"]),
        text=restored(edit["content"]),
    )
