"""ast-grep: one match is one site, its replacement the edit. Any language ast-grep knows."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from adapters.executors.reading import Reader, Source, is_utf8, read_regular, restored, walked
from adapters.executors.scan import Scan
from adapters.processes.tool import TOOL_SECONDS, ToolOutput, chunked, run_tool, tool_path
from domain.axis import AstGrep
from domain.lines import byte_offsets
from domain.site import Edit
from domain.value import Refused

SKIPPED_ENCODING = b"skipped=invalidUtf8"
FROM_STDIN = "STDIN"


class _Offsets(TypedDict):
    start: int
    end: int


class _Range(TypedDict):
    byteOffset: _Offsets


class _Match(TypedDict):
    file: str
    range: _Range
    ruleId: str
    message: str
    replacement: NotRequired[str | None]
    replacementOffsets: NotRequired[_Offsets | None]


@dataclass(frozen=True)
class AstGrepLook:
    """Looks for the matches of one rule file in the tree of a reader."""

    reader: Reader
    axis: AstGrep
    """Its rule is the YAML text."""
    every: bool = False
    """Also what has no fix."""
    seconds: float = TOOL_SECONDS
    """For one call of ast-grep."""

    def __call__(self, paths: Sequence[str] | None) -> Scan:
        """Look at `paths`; None: at what ast-grep itself would look at."""
        scan = Scan(every=self.every)
        if paths is None:
            unread = self._look_together(scan, ["."])
            apart = (
                [path for path in walked(self.reader.root) if self._is_hard(path)] if unread else []
            )
        else:
            mine = [path for path in paths if self.reader.may_hold_sites(path)]
            apart = [path for path in mine if not _is_text(path)]
            plain = [path for path in mine if _is_text(path)]
            unread = False
            for chunk in chunked([f"./{path}" for path in plain]):
                unread |= self._look_together(scan, chunk)
            apart += [path for path in plain if self._is_hard(path)] if unread else []
        for path in apart:
            self._look_apart(scan, path)
        return scan.settle()

    def _look_together(self, scan: Scan, names: Sequence[str]) -> bool:
        """One call for many files. True when ast-grep could not read some of them."""
        answer = self._run(["--inspect", "entity", "--", *names])
        by_path: dict[str, list[_Match]] = {}
        for match in _matches(answer):
            by_path.setdefault(match["file"].removeprefix("./"), []).append(match)
        for path, matches in by_path.items():
            if _is_text(path) and (source := self.reader.read(path)) is not None:
                _take(scan, source, source.content, matches)
        return SKIPPED_ENCODING in answer.stderr or not all(map(_is_text, by_path))

    def _look_apart(self, scan: Scan, path: str) -> None:
        """A file whose name or content ast-grep cannot take: hand it over on standard input."""
        source = self.reader.read(path)
        if source is None or not self._speaks(path):
            return
        if source.stand_in is None:
            scan.unread.add(path)
            return
        matches = list(_matches(self._run(["--stdin"], source.stand_in)))
        _take(scan, source, source.stand_in, matches)

    def _speaks(self, path: str) -> bool:
        """Whether the rule is for the language of the file; standard input has no name to go by."""
        languages = {
            found.lower()
            for found in re.findall(r"^language:\s*['\"]?(\w+)", self.axis.rule, re.MULTILINE)
        }
        return Path(path).suffix.lower() in {
            suffix for language in languages for suffix in SUFFIXES.get(language, ())
        }

    def _run(self, arguments: Sequence[str], stdin: bytes = b"") -> ToolOutput:
        # The target's sgconfig.yml may name native libraries and other rules: an empty one stands in.
        # `--hint` makes every rule a hint: a rule of severity `error` would end with exit code 1.
        options = [
            "scan",
            "--config",
            os.devnull,
            "--hint",
            "--json=stream",
            "--inline-rules",
            self.axis.rule,
        ]
        answer = run_tool(
            [tool_path("ast-grep"), *options, *arguments],
            cwd=self.reader.root,
            stdin=stdin,
            timeout_seconds=self.seconds,
        )
        if answer.exit_code not in (0, 1) or (answer.exit_code and b"rule" in answer.stderr):
            raise Refused(
                f"ast-grep does not accept the rule (exit code {answer.exit_code}):\n{answer.complaint}\n"
                f"Correct the rule; `ast-grep scan --rule FILE` shows the same."
            )
        return answer

    def _is_hard(self, path: str) -> bool:
        content = read_regular(self.reader.root, path)
        return isinstance(content, bytes) and not (_is_text(path) and is_utf8(content))


SUFFIXES: dict[str, tuple[str, ...]] = {
    "python": (".py", ".pyi"),
    "py": (".py", ".pyi"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "js": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts"),
    "ts": (".ts", ".mts", ".cts"),
    "tsx": (".tsx",),
    "go": (".go",),
    "golang": (".go",),
    "rust": (".rs",),
    "rs": (".rs",),
    "java": (".java",),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hpp", ".hh"),
    "csharp": (".cs",),
    "cs": (".cs",),
    "ruby": (".rb",),
    "rb": (".rb",),
    "php": (".php",),
    "bash": (".sh", ".bash"),
    "css": (".css",),
    "html": (".html", ".htm"),
    "yaml": (".yml", ".yaml"),
    "json": (".json",),
}
"""Languages of files in old encodings. Files in UTF-8 are sorted out by ast-grep itself."""


def _is_text(path: str) -> bool:
    """Whether ast-grep's output can say the name: bytes that are not UTF-8 come out as U+FFFD."""
    return is_utf8(os.fsencode(path)) and "\ufffd" not in path


def _matches(answer: ToolOutput) -> Iterator[_Match]:
    for line in answer.stdout.split(b"\n"):
        if line:
            yield json.loads(line)


def _take(scan: Scan, source: Source, content: bytes, matches: Sequence[_Match]) -> None:
    """Add one file's matches; their offsets count bytes of `content`."""
    wanted = {
        at for match in matches for span in _spans(match) for at in (span["start"], span["end"])
    }
    at = byte_offsets(content.decode("utf-8"), wanted)
    for match in matches:
        place, *replaced = _spans(match)
        text = match.get("replacement")
        edits: list[Edit] = []
        if text is not None and replaced:
            where = replaced[0]
            edits = [Edit(start=at[where["start"]], end=at[where["end"]], text=restored(text))]
        else:
            scan.unfixable[match["ruleId"]] += 1
            if not scan.every:
                continue
        start, end = at[place["start"]], at[place["end"]]
        rows = source.lines.row(start), source.lines.row(max(start, end - 1))
        said = restored(match["message"])
        scan.add(source, rule=match["ruleId"], message=said, rows=rows, edits=edits)


def _spans(match: _Match) -> list[_Offsets]:
    """The match itself and, when the rule has a fix, what the fix replaces."""
    replaced = match.get("replacementOffsets")
    return [match["range"]["byteOffset"], *([replaced] if replaced else [])]
