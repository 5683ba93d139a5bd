"""Suspects: the commits that a red gate points at.

Three kinds of pointers, the most telling first: a failure names a file that the commit changed
(and, among several commits to that file, the rarest identifier that one of them removed); it names an
identifier that the commit removed; the failing test imports a file that the commit changed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from domain.commit import Commit
from domain.gate import Failure
from domain.value import Value

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_PATH = re.compile(r"[A-Za-z0-9_.@+~-]+(?:/[A-Za-z0-9_.@+~-]+)*\.[A-Za-z0-9_]+")
_PLACE = re.compile(r"([A-Za-z0-9_.@+~/-]+\.[A-Za-z0-9_]+)(?::|\", line )\d+")
"""A file with a line number, as tracebacks and compilers write it."""
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+")


class Pointers(Value):
    """Whom the failures of a red run point at."""

    named: dict[str, tuple[Failure, ...]] = {}
    """By commit, the failures that point at it."""
    sure: tuple[str, ...] = ()
    """Commits with a failure that ends in their file, or misses what they removed from it, and points at nobody else."""


def point_out(
    failures: Sequence[Failure],
    commits: Sequence[Commit],
    imports: Mapping[str, frozenset[str]],
) -> Pointers:
    """Who is suspected; `imports` has the paths that a failing test imports.

    A failure without a test's name is a whole log: each line of it that names a changed file
    points on its own, and the log as one text only when no line does.
    """
    batch = _Batch(commits)
    found: dict[str, list[Failure]] = {}
    sure: list[str] = []
    for failure in failures:
        for pointing, (pointed, by_file) in batch.pointers(failure, imports):
            for sha in pointed:
                found.setdefault(sha, []).append(pointing)
            if by_file and len(pointed) == 1:
                sure += pointed
    return Pointers(
        named={sha: tuple(dict.fromkeys(pointing)) for sha, pointing in found.items()},
        sure=tuple(dict.fromkeys(sure)),
    )


Pointed = tuple[list[str], bool]
"""The commits that one failure points at, and whether it names their files."""


class _Batch:
    """The commits of a red run, by what a failure may say of them."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self.commits = commits
        self.frequency = Counter(word for commit in commits for word in commit.removed)
        self.by_name: dict[str, list[Commit]] = {}
        for commit in commits:
            for name in {name for path in commit.paths for name in _names(path)}:
                self.by_name.setdefault(name, []).append(commit)

    def pointers(
        self, failure: Failure, imports: Mapping[str, frozenset[str]]
    ) -> Iterator[tuple[Failure, Pointed]]:
        if "::" in failure.test:
            text = f"{failure.test}\n{failure.message}"
            yield failure, self._pointed(text, imports.get(failure.test, frozenset()))
            return
        lines = [line for line in failure.message.splitlines() if self._named(line)]
        for line in lines:
            yield failure.model_copy(update={"message": line.strip()}), self._pointed(line)
        if not lines:
            yield failure, self._pointed(failure.message)

    def _pointed(self, text: str, imported: frozenset[str] = frozenset()) -> Pointed:
        words = frozenset(_WORD.findall(text))
        named = self._named(text)
        places = _PLACE.findall(text)
        # A traceback passes through files that have no part in it; where it ends, something went wrong.
        at_the_end = self._named(places[-1]) if places else named
        missing = self._missing(words, self.commits)
        both = self._missing(words, named)
        reached = [c for c in self.commits if imported.intersection(c.paths)]
        for group in (both, named, missing if self._few(missing) else [], reached):
            if group:
                telling = group is both or (group is named and group == at_the_end)
                return [c.sha for c in group], telling
        return [], False

    def _named(self, text: str) -> list[Commit]:
        """Commits to a file whose path, or whose Python module, stands in the text as a whole word."""
        said = {part for found in _PATH.findall(text) for part in _endings(found, "/")}
        said |= set(_MODULE.findall(text))
        shas = {commit.sha for name in said for commit in self.by_name.get(name, ())}
        return [commit for commit in self.commits if commit.sha in shas]

    def _missing(self, words: frozenset[str], commits: Sequence[Commit]) -> list[Commit]:
        """The commits that removed the rarest of the words: what many removed (`import`) tells nothing."""
        rarest = {
            c.sha: min((self.frequency[word] for word in words.intersection(c.removed)), default=0)
            for c in commits
        }
        least = min((count for count in rarest.values() if count), default=0)
        return [c for c in commits if least and rarest[c.sha] == least]

    def _few(self, group: Sequence[Commit]) -> bool:
        return len(group) * 4 <= len(self.commits) or len(group) == 1


def _names(path: str) -> list[str]:
    """What a log may call a file: its path, and for Python its module, from any folder on; never a bare name."""
    if not path.endswith(".py"):
        return [path]
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return [path, *(name for name in _endings(dotted, ".") if "." in name)]


def _endings(text: str, mark: str) -> list[str]:
    """`a/b/c`, `b/c`, `c`."""
    parts = text.split(mark)
    return [mark.join(parts[start:]) for start in range(len(parts))]


def imported_paths(source: str, modules: Mapping[str, str], package: str = "") -> frozenset[str]:
    """Paths of the repository that a Python source imports; `modules` has the path by dotted name.

    Lines are read, not parsed: the source may be broken, and that is when it is asked.
    """
    names: set[str] = set()
    for line in re.finditer(
        r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+\(?([\w, \t\n]*)|import[ \t]+([\w., \t]+))",
        source,
        re.MULTILINE,
    ):
        base, members, plain = line[1], line[2], line[3]
        if base:
            full = (
                base.lstrip(".")
                if not base.startswith(".")
                else f"{package}.{base.lstrip('.')}".strip(".")
            )
            names |= {full} | {f"{full}.{name}" for name in re.findall(r"\w+", members)}
        else:
            names |= set(re.findall(r"[\w.]+", plain or ""))
    return frozenset(modules[name] for name in names if name in modules)
