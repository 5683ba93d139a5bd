"""Which commands prove a commit of a repository, found from its base commit.

For Python, plain pytest goes before a task runner's `test` target, wherever tests can be seen: it runs
in the environment we prepare and names every test. A Makefile's target is written for its
author's machine: sqlparse's calls tox, Pygments' calls `which py.test`.
Every other language starts with the task runner, since its build has no one way to be run.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import cast

from domain.gate import GatePlan, Language

JUST = ("justfile", "Justfile", ".justfile")
MAKE = ("GNUmakefile", "makefile", "Makefile")
PYTHON = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements_dev.txt",
    "requirements_test.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
    "requirements/dev.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "tests/requirements.txt",
    ".python-version",
)
NODE = ("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock")
BUILDS = {
    "go.mod": "go test ./...",
    "Cargo.toml": "cargo test",
    "mvnw": "./mvnw -B test",
    "pom.xml": "mvn -B test",
    "gradlew": "./gradlew test",
    "build.gradle": "gradle test",
    "build.gradle.kts": "gradle test",
}
MANIFESTS = frozenset({*JUST, *MAKE, *PYTHON, *NODE, *BUILDS, "go.sum", "Cargo.lock"})
"""What to read from the base commit: it decides the commands and names the environment."""

TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests)\.py$")
TEST_TARGETS = ("test", "tests", "check")
NO_TEST_SCRIPT = "no test specified"

Contents = Mapping[str, bytes]


def detect(names: frozenset[str], contents: Contents) -> GatePlan | str:
    """The plan for the tracked files `names`, with `contents` of the manifests; or why there is none, in words."""
    rules = (_pytest, _django, _just, _make, _npm, _build)
    for rule in rules:
        plan = rule(names, contents)
        if plan:
            return plan
    seen = sorted(names & MANIFESTS)
    return (
        f"no test command found: no Python test file, and no test target in "
        f"{', '.join(seen) or 'any build file at the root (there is none)'}. "
        "Say how the repository is tested: --verify 'make check'."
    )


def _pytest(names: frozenset[str], contents: Contents) -> GatePlan | None:
    tests = sum(bool(TEST_FILE.search(name)) for name in names)
    configured = _pytest_settings(contents)
    if not (tests or configured) or ("manage.py" in names and not configured):
        return None
    where = f"settings in {configured}" if configured else f"{tests} test files"
    return GatePlan(
        verify=("python -m pytest",), language="python", source=f"detected: pytest, from {where}"
    )


def _django(names: frozenset[str], contents: Contents) -> GatePlan | None:
    if "manage.py" not in names:
        return None
    command = "python manage.py test --noinput"
    return GatePlan(verify=(command,), language="python", source="detected: Django, from manage.py")


def _just(names: frozenset[str], contents: Contents) -> GatePlan | None:
    # A recipe may have parameters, and an @ for silence.
    return _target(names, contents, JUST, "just", r"^@?{0}(\s[^:=\n]*)?:(?!=)")


def _make(names: frozenset[str], contents: Contents) -> GatePlan | None:
    return _target(names, contents, MAKE, "make", r"^(?:[\w.-]+ +)*{0}(?: +[\w.-]+)* *::?(?!=)")


def _target(
    names: frozenset[str], contents: Contents, files: tuple[str, ...], runner: str, shape: str
) -> GatePlan | None:
    for file in files:
        text = contents.get(file, b"").decode(errors="replace")
        for target in TEST_TARGETS:
            if re.search(shape.format(target), text, re.MULTILINE):
                return GatePlan(
                    verify=(f"{runner} {target}",),
                    language=_language(names),
                    source=f"detected: target {target} of {file}",
                )
    return None


def _npm(names: frozenset[str], contents: Contents) -> GatePlan | None:
    script = table(_json(contents.get("package.json", b"")), "scripts").get("test")
    if not isinstance(script, str) or not script.strip() or NO_TEST_SCRIPT in script:
        return None
    return GatePlan(
        verify=("npm test",), language="node", source="detected: script test of package.json"
    )


def _build(names: frozenset[str], contents: Contents) -> GatePlan | None:
    for file, command in BUILDS.items():
        if file in names:
            return GatePlan(verify=(command,), source=f"detected: the default of {file}")
    return None


def _pytest_settings(contents: Contents) -> str:
    """The file that configures pytest, if one does."""
    tools = table(toml(contents.get("pyproject.toml", b"")), "tool")
    if "pytest" in tools:
        return "pyproject.toml"
    sections = {"pytest.ini": b"[pytest]", "tox.ini": b"[pytest]", "setup.cfg": b"[tool:pytest]"}
    return next((file for file, mark in sections.items() if mark in contents.get(file, b"")), "")


def _language(names: frozenset[str]) -> Language:
    if names & {"pyproject.toml", "setup.py", "setup.cfg"}:
        return "python"
    return "node" if "package.json" in names else "other"


def toml(text: bytes) -> Mapping[str, object]:
    """A TOML file as a table; a broken one says nothing."""
    return _parsed(tomllib.loads, text)


def table(whole: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """The table under `keys`, or an empty one."""
    for key in keys:
        inner = whole.get(key)
        whole = cast("Mapping[str, object]", inner) if isinstance(inner, dict) else {}
    return whole


def _json(text: bytes) -> Mapping[str, object]:
    return _parsed(json.loads, text)


def _parsed(parse: Callable[[str], object], text: bytes) -> Mapping[str, object]:
    try:
        whole = parse(text.decode())
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, object]", whole) if isinstance(whole, dict) else {}
