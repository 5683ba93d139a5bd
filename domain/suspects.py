"""Suspects: the commits that a red gate points at.

Three kinds of pointers, the most telling first: a failure names a file that the commit changed
(and, among several commits to that file, the rarest identifier that one of them removed); it names an
identifier that the commit removed; the failing test imports a file that the commit changed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from domain.commit import Commit
from domain.gate import Failure
from domain.value import Value

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_PATH = re.compile(r"[A-Za-z0-9_.@+~-]+(?:/[A-Za-z0-9_.@+~-]+)*\.[A-Za-z0-9_]+")
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+")


class Pointers(Value):
    """Whom the failures of a red run point at."""

    named: dict[str, tuple[Failure, ...]] = {}
    """By commit, the failures that point at it."""
    sure: tuple[str, ...] = ()
    """Commits with a failure that names their file and points at nobody else."""


def point_out(
    failures: Sequence[Failure],
    commits: Sequence[Commit],
    imports: Mapping[str, frozenset[str]],
) -> Pointers:
    """Who is suspected; `imports` has the paths that a failing test imports."""
    frequency = Counter(word for commit in commits for word in commit.removed)
    found: dict[str, list[Failure]] = {}
    sure: list[str] = []
    for failure in failures:
        imported = imports.get(failure.test, frozenset())
        pointed, by_file = _pointed(failure, commits, frequency, imported)
        for sha in pointed:
            found.setdefault(sha, []).append(failure)
        if by_file and len(pointed) == 1:
            sure += pointed
    return Pointers(
        named={sha: tuple(pointing) for sha, pointing in found.items()},
        sure=tuple(dict.fromkeys(sure)),
    )


def _pointed(
    failure: Failure, commits: Sequence[Commit], frequency: Counter[str], imported: frozenset[str]
) -> tuple[list[str], bool]:
    """The commits one failure points at, and whether it names their files."""
    text = f"{failure.test}\n{failure.message}"
    words = frozenset(_WORD.findall(text))
    named = [c for c in commits if any(_mentions(text, path) for path in c.paths)]
    missing = _missing(words, commits, frequency)
    both = _missing(words, named, frequency)
    reached = [c for c in commits if imported.intersection(c.paths)]
    for group in (both, named, missing if _few(missing, commits) else [], reached):
        if group:
            return [c.sha for c in group], group is both or group is named
    return [], False


def _missing(
    words: frozenset[str], commits: Sequence[Commit], frequency: Counter[str]
) -> list[Commit]:
    """The commits that removed the rarest of the words: what many removed (`import`) tells nothing."""
    rarest = {
        commit.sha: min((frequency[word] for word in words.intersection(commit.removed)), default=0)
        for commit in commits
    }
    least = min((count for count in rarest.values() if count), default=0)
    return [commit for commit in commits if least and rarest[commit.sha] == least]


def _few(group: Sequence[Commit], commits: Sequence[Commit]) -> bool:
    return len(group) * 4 <= len(commits) or len(group) == 1


def _mentions(text: str, path: str) -> bool:
    """Whether a path, or the Python module at it, stands in the text as a whole word."""
    return any(
        found == path or found.endswith(f"/{path}") for found in _PATH.findall(text)
    ) or _module_in(text, path)


def _module_in(text: str, path: str) -> bool:
    if not path.endswith(".py"):
        return False
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    names = {".".join(parts[start:]) for start in range(len(parts) - 1)}
    return any(found in names for found in _MODULE.findall(text))


def imported_paths(source: str, modules: Mapping[str, str], package: str = "") -> frozenset[str]:
    """Paths of the repository that a Python source imports; `modules` has the path by dotted name.

    Lines are read, not parsed: the source may be broken, and that is when it is asked.
    """
    names: set[str] = set()
    for line in re.finditer(
        r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+\(?([\w, \t\n]*)|import[ \t]+([\w., \t]+))", source, re.MULTILINE
    ):
        base, members, plain = line[1], line[2], line[3]
        if base:
            full = base.lstrip(".") if not base.startswith(".") else f"{package}.{base.lstrip('.')}".strip(".")
            names |= {full} | {f"{full}.{name}" for name in re.findall(r"\w+", members)}
        else:
            names |= set(re.findall(r"[\w.]+", plain or ""))
    return frozenset(modules[name] for name in names if name in modules)
