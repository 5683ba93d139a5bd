"""Which commands prove a commit of a repository, found from its base commit.

In this order: task runners, CI, the default of the language. For Python, plain pytest goes before all
of them wherever tests can be seen: it runs in the environment we prepare and names every test. A Makefile's
target is written for its author's machine: sqlparse's calls tox, Pygments' calls `which py.test`.
"""

import re
from collections.abc import Callable, Iterable

from domain.gate import GatePlan, Language
from domain.nox import in_nox
from domain.tables import Contents, json_table, table, toml
from domain.tox import in_tox
from domain.workflows import Tested, in_ci, is_workflow

JUST = ("justfile", "Justfile", ".justfile")
MAKE = ("GNUmakefile", "makefile", "Makefile")
PYTHON = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
    "tox.toml",
    "noxfile.py",
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
DETECTED = "detected: "
MOST_SAID = 5
NO_TEST_SCRIPT = "no test specified"

Rule = Callable[[frozenset[str], Contents], GatePlan | None]


def to_read(names: Iterable[str]) -> list[str]:
    """Of the tracked files those that `detect` and `installation_of` want to read."""
    return sorted(name for name in names if name in MANIFESTS or is_workflow(name))


def detect(names: frozenset[str], contents: Contents) -> GatePlan | str:
    """The plan for the tracked files `names`, with `contents` of the manifests; or why there is none, in words."""
    for rule in RULES:
        plan = rule(names, contents)
        if plan:
            return plan
    left_out = [words for one in _read(contents) for words in one.left_out]
    return (
        f"no test command found: no Python test file, and no test target in "
        f"{', '.join(to_read(names)) or 'any build file at the root (there is none)'}. "
        f"{'Seen, and not run: ' + '; '.join(left_out[:MOST_SAID]) + '. ' if left_out else ''}"
        "Say how the repository is tested: --verify 'make check'."
    )


def seen(names: frozenset[str], contents: Contents) -> tuple[Tested, ...]:
    """All ways to test that were found, the one that `detect` takes first; some with nothing that can be run here."""
    plans = [plan for rule in RULES if (plan := rule(names, contents))]
    read = {one.place: one for one in _read(contents)}
    first = [
        read.pop(_place(plan), Tested(place=_place(plan), commands=plan.verify)) for plan in plans
    ]
    return (*first, *read.values())


def _read(contents: Contents) -> list[Tested]:
    """What is read of other tools' files."""
    found = (in_tox(contents), in_nox(contents), *in_ci(contents))
    return [one for one in found if one]


def _place(plan: GatePlan) -> str:
    return plan.source.removeprefix(DETECTED)


def _pytest(names: frozenset[str], contents: Contents) -> GatePlan | None:
    tests = sum(bool(TEST_FILE.search(name)) for name in names)
    configured = _pytest_settings(contents)
    if not (tests or configured) or ("manage.py" in names and not configured):
        return None
    where = f"settings in {configured}" if configured else f"{tests} test files"
    return GatePlan(
        verify=("python -m pytest",), language="python", source=f"{DETECTED}pytest, from {where}"
    )


def _django(names: frozenset[str], contents: Contents) -> GatePlan | None:
    if "manage.py" not in names:
        return None
    command = "python manage.py test --noinput"
    return GatePlan(
        verify=(command,), language="python", source=f"{DETECTED}Django, from manage.py"
    )


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
                    language=language_of(names),
                    source=f"{DETECTED}target {target} of {file}",
                )
    return None


def _npm(names: frozenset[str], contents: Contents) -> GatePlan | None:
    script = table(json_table(contents.get("package.json", b"")), "scripts").get("test")
    if not isinstance(script, str) or not script.strip() or NO_TEST_SCRIPT in script:
        return None
    return GatePlan(
        verify=("npm test",), language="node", source=f"{DETECTED}script test of package.json"
    )


def _tox(names: frozenset[str], contents: Contents) -> GatePlan | None:
    return _plan(in_tox(contents), "python")


def _nox(names: frozenset[str], contents: Contents) -> GatePlan | None:
    return _plan(in_nox(contents), "python")


def _ci(names: frozenset[str], contents: Contents) -> GatePlan | None:
    return _plan(next(iter(in_ci(contents)), None), language_of(names))


def _plan(found: Tested | None, language: Language) -> GatePlan | None:
    if found is None or not found.commands:
        return None
    return GatePlan(verify=found.commands, language=language, source=f"{DETECTED}{found.place}")


def _build(names: frozenset[str], contents: Contents) -> GatePlan | None:
    for file, command in BUILDS.items():
        if file in names:
            return GatePlan(
                verify=(command,),
                language="go" if file == "go.mod" else "other",
                source=f"{DETECTED}the default of {file}",
            )
    return None


def _pytest_settings(contents: Contents) -> str:
    """The file that configures pytest, if one does."""
    tools = table(toml(contents.get("pyproject.toml", b"")), "tool")
    if "pytest" in tools:
        return "pyproject.toml"
    sections = {"pytest.ini": b"[pytest]", "tox.ini": b"[pytest]", "setup.cfg": b"[tool:pytest]"}
    return next((file for file, mark in sections.items() if mark in contents.get(file, b"")), "")


def language_of(names: frozenset[str]) -> Language:
    """What an environment is prepared for."""
    if names & {"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "tox.toml", "noxfile.py"}:
        return "python"
    if "package.json" in names:
        return "node"
    return "go" if "go.mod" in names else "other"


RULES: tuple[Rule, ...] = (_pytest, _django, _tox, _nox, _just, _make, _npm, _ci, _build)
