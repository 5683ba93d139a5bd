"""Admission: what a commit must be before the gate is even run on it (design.md §3).

Pure, over facts that git gave. The answer is a reason to refuse, or None.
"""

import posixpath
from collections.abc import Sequence

from domain.commit import REGULAR, Change, Commit
from domain.scope import within
from domain.target import Opened
from domain.value import Value

MAX_BLOB = 1_000_000
"""Bytes; a larger new blob is refused, unless the file was that large before."""

LINK = "120000"
GITLINK = "160000"

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


def protected(path: str) -> Opened | None:
    """The protected class that a path belongs to."""
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


def refusal(commit: Commit, rules: Rules) -> str | None:
    """Why a commit is not admitted, in few words; None when it is."""
    if len(commit.parents) > 1:
        return "merge commit"
    if not commit.changes:
        return "empty"
    for change in commit.changes:
        reason = _refused(change, rules)
        if reason:
            return f"{reason}: {change.path}"
    return None


def _refused(change: Change, rules: Rules) -> str | None:
    checks = (_place(change, rules), _kind(change), _content(change))
    return next((reason for reason in checks if reason), None)


def _place(change: Change, rules: Rules) -> str | None:
    if any(part.lower() in (".git", "git~1") for part in change.path.split("/")):
        return "git directory"
    new = change.adds and rules.touched is not None
    if not within(change.path, rules.globs, None if new else rules.touched):
        return "scope"
    kind = protected(change.path)
    if kind and kind not in rules.opened:
        return f"protected {kind}"
    return None


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
    if not link or link.startswith("/") or "\0" in link:
        return False
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return not reached.startswith("../") and reached not in ("..", ".git") and not reached.startswith(".git/")


def _content(change: Change) -> str | None:
    if change.deletes or change.new_mode == LINK:
        return None
    if change.binary:
        return "binary"
    if change.size > MAX_BLOB and change.adds:
        return "oversized"
    if change.line_endings:
        return "line endings"
    return None


def admit(commits: Sequence[Commit], rules: Rules) -> tuple[tuple[str, ...], dict[str, str]]:
    """Shas that are admitted, in order, and the reason by sha for the others."""
    refused = {c.sha: reason for c in commits if (reason := refusal(c, rules))}
    return tuple(c.sha for c in commits if c.sha not in refused), refused
