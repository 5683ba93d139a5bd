"""Admission: what a commit must be before the gate is even run on it (design.md §3).

Pure, over facts that git gave. The answer is a reason to refuse, or None.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from fnmatch import translate
from functools import cached_property, lru_cache

from domain.choice import Opened
from domain.commit import GITLINK, LINK, REGULAR, Change, Commit
from domain.scope import within
from domain.value import Value

MAX_BLOB = 1_000_000
"""Bytes; a larger new blob is refused, unless the file was that large before."""

_CLASSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "ci",
        ("/.github/", "/.gitlab-ci.yml", "/.gitlab/", "/.circleci/", "/.travis.yml", "/azure-pipelines.yml",
         "/.buildkite/", "/Jenkinsfile", "/appveyor.yml", "/.appveyor.yml", "/bitbucket-pipelines.yml", "/.ci/"),
    ),
    (
        "config",
        ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "setup.py", "noxfile.py", "Makefile", "makefile",
         "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", ".coveragerc", ".gitattributes", ".gitmodules",
         ".pre-commit-config.yaml", "sitecustomize.py", "usercustomize.py", "*.pth", "jest.config.*",
         "vitest.config.*", "vite.config.*", "tsconfig*.json", "build.gradle*", "settings.gradle*",
         "CMakeLists.txt", "pytest.py", "unittest.py"),
    ),
    (
        "deps",
        ("pyproject.toml", "requirements*.txt", "*-requirements.txt", "constraints*.txt", "Pipfile*",
         "poetry.lock", "uv.lock", "pdm.lock", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml",
         "go.mod", "go.sum", "Cargo.toml", "Cargo.lock", "pom.xml", "Gemfile*", "composer.*"),
    ),
    (
        "tests",
        ("test/", "tests/", "testing/", "__tests__/", "spec/", "test_*.py", "*_test.py", "tests.py", "*_test.go",
         "*.test.*", "*.spec.*", "*Test.java", "*Tests.java", "*_spec.rb"),
    ),
)  # fmt: skip


_MADE_BY_TOOLS = (
    "__pycache__/", "*.pyc", "*.pyo", ".pytest_cache/", ".ruff_cache/", ".mypy_cache/", ".hypothesis/", ".tox/", ".nox/",
    ".venv/", "node_modules/", "*.egg-info/", ".coverage", ".DS_Store", "Thumbs.db", "*.orig", "*.rej", "*.swp",
)  # fmt: skip
"""What tools leave behind, and `git add -A` would sweep up."""


_GLOBS = [glob.strip("/").split("/")[0] for _, globs in _CLASSES for glob in globs]
_WORDS = frozenset(glob for glob in _GLOBS if "*" not in glob)
_PATTERNS = re.compile("|".join(translate(glob) for glob in _GLOBS if "*" in glob))


@lru_cache(maxsize=1 << 17)
def _named(part: str) -> bool:
    return part in _WORDS or _PATTERNS.match(part) is not None


def _may_be_protected(path: str) -> bool:
    """Whether a part of the path is named in the table: asking each glob takes ten times as long."""
    return any(map(_named, path.split("/")))


def protected(path: str) -> Opened | None:
    """The protected class that a path belongs to."""
    if not _may_be_protected(path):
        return None
    for name, globs in _CLASSES:
        if within(path, globs):
            return name  # pyright: ignore[reportReturnType] -- the table's first column
    return None


class Rules(Value):
    """What the operator, the axis and the executor allow."""

    globs: tuple[str, ...] = ()
    touched: frozenset[str] | None = None
    """Paths that a branch touched, when the scope is a branch."""
    opened: frozenset[Opened] = frozenset()
    existing: frozenset[str] = frozenset()
    """Paths of the base commit, for collisions of case."""

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {_fold(path): path for path in self.existing}

    def collides(self, path: str, gone: Collection[str]) -> bool:
        """Whether a file is there that some file systems cannot tell from this one."""
        other = self._folded.get(_fold(path), path)
        return other != path and other not in gone


def refusal(commit: Commit, rules: Rules) -> str | None:
    """Why a commit is not admitted, in few words; None when it is."""
    if len(commit.parents) > 1:
        return "merge commit"
    if not commit.changes:
        return "empty"
    gone = {change.path for change in commit.changes if change.deletes}
    for change in commit.changes:
        reason = _refused(change, rules)
        if not reason and change.adds and rules.collides(change.path, gone):
            reason = "case collision"
        if reason:
            return f"{reason}: {change.path}"
    return commit.leaks[0].told if commit.leaks else None


def _refused(change: Change, rules: Rules) -> str | None:
    checks = (_place(change, rules), _kind(change), _content(change))
    return next((reason for reason in checks if reason), None)


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _place(change: Change, rules: Rules) -> str | None:
    if any(map(_is_git, change.path.split("/"))):
        return "git directory"
    new = change.adds and rules.touched is not None
    if not within(change.path, rules.globs, None if new else rules.touched):
        return "scope"
    kind = protected(change.path)
    if kind and kind not in rules.opened:
        return f"protected {kind}"
    if change.adds and within(change.path, _MADE_BY_TOOLS):
        return "made by a tool"
    return None


def _is_git(part: str) -> bool:
    """`.git` as any file system may read it: without case, and without what some of them drop."""
    seen = "".join(c for c in part if unicodedata.category(c) != "Cf").lower()
    return seen.rstrip(" .").partition(":")[0] in (".git", "git~1")


def _kind(change: Change) -> str | None:
    if GITLINK in (change.new_mode, change.old_mode):
        return "gitlink"
    if change.new_mode == LINK:
        return None if _stays_inside(change.path, change.link) else "symlink out of the tree"
    modes = {change.old_mode, change.new_mode}
    if modes <= set(REGULAR) and len(modes) > 1:
        return "mode change"
    return None


def _stays_inside(path: str, link: str) -> bool:
    """Upwards only at its beginning: after a name, `..` would go up from wherever another link led."""
    if not link or link.startswith("/") or "\0" in link:
        return False
    parts = [part for part in link.split("/") if part not in ("", ".")]
    ups = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    down = parts[ups:]
    return ups <= path.count("/") and ".." not in down and not any(map(_is_git, down))


def _content(change: Change) -> str | None:
    if change.deletes or change.new_mode == LINK:
        return None
    if change.filter:
        return f"git filter {change.filter}"
    if change.size > MAX_BLOB and change.adds:
        return "oversized"
    if change.binary:
        return "binary"
    if change.line_endings:
        return "line endings"
    return None


def admit(commits: Sequence[Commit], rules: Rules) -> tuple[tuple[str, ...], dict[str, str]]:
    """Shas that are admitted, in order, and the reason by sha for the others."""
    refused = {c.sha: reason for c in commits if (reason := refusal(c, rules))}
    added: dict[str, str] = {}
    for commit in commits:
        if commit.sha not in refused and (path := _twice(commit, added)):
            refused[commit.sha] = f"case collision: {path}"
    return tuple(c.sha for c in commits if c.sha not in refused), refused


def _twice(commit: Commit, added: dict[str, str]) -> str | None:
    """A path that differs only by case from one that an earlier commit, or this one, adds. Notes its own."""
    for change in commit.changes:
        if change.adds and added.setdefault(_fold(change.path), change.path) != change.path:
            return change.path
    return None
