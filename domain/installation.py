"""What a Python target needs installed to be tested, read from its manifests."""

import configparser
import re
from collections.abc import Iterable, Mapping

from domain.nox import in_nox
from domain.tables import Contents, table, toml
from domain.tox import in_tox
from domain.value import Value

TEST_NAMES = ("test", "tests", "testing", "dev")
"""Names of an extra or a dependency group that hold what the tests need, best first."""

REQUIREMENTS = "requirements.txt"
TEST_REQUIREMENTS = (
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements_test.txt",
    "test-requirements.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "tests/requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements/dev.txt",
)

OWN_EXTRAS = re.compile(r"(?:-e|--editable)?(?:\./?)\[([\w, .-]+)\]$")
FILE = re.compile(r"(?:-r|--requirement)=?(\S+)$")
VERSIONS = r"(?:[<>=!~]+\s*[\w.*+!-]+\s*,?\s*)*"
REQUIREMENT = re.compile(rf"[A-Za-z0-9][\w.-]*(?:\[[\w, .-]*\])?\s*{VERSIONS}(?:;.*)?$")


class Installation(Value):
    """What to install, in the order of the fields."""

    editable: bool
    extra: str = ""
    group: str = ""
    files: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    """What tox or nox would install for its tests."""

    @property
    def words(self) -> str:
        parts = [
            f"the target itself{f' with its extra {self.extra!r}' if self.extra else ''}"
            if self.editable
            else "",
            f"its group {self.group!r}" if self.group else "",
            *self.files,
            *self.requirements,
        ]
        return ", ".join(part for part in parts if part) or "nothing"


def installation_of(contents: Contents, verify: tuple[str, ...] = ()) -> Installation:
    """A target that no build file describes is not installed; then its requirements are.

    Where the commands to `verify` are those of tox or nox, what those would install is too. Not for others:
    sqlparse's tox lists a plugin that no pytest of today can load.
    """
    pyproject = toml(contents.get("pyproject.toml", b""))
    editable = bool({"setup.py", "setup.cfg"} & contents.keys()) and (
        "setup.py" in contents or b"[metadata]" in contents["setup.cfg"]
    )
    editable = editable or bool(pyproject.keys() & {"project", "build-system"})
    files = () if editable or REQUIREMENTS not in contents else (REQUIREMENTS,)
    tests = next(((name,) for name in TEST_REQUIREMENTS if name in contents), ())
    found = Installation(
        editable=editable,
        extra=_best(_extras(pyproject, contents)) if editable else "",
        group=_best(table(pyproject, "dependency-groups")),
        files=(*files, *tests),
    )
    runners = (in_tox(contents), in_nox(contents))
    runner = next((one for one in runners if one and one.commands == verify), None)
    return _with_runner(found, contents, runner.requirements) if runner else found


def _with_runner(found: Installation, contents: Contents, said: tuple[str, ...]) -> Installation:
    """And extras of the target, files of the base commit, and plain requirements."""
    lines = re.sub(r"(^|\n)(-\w|--\w+)\s+", r"\1\2", "\n".join(said)).splitlines()
    extras = [match[1] for line in lines if (match := OWN_EXTRAS.match(line))]
    files = [match[1] for line in lines if (match := FILE.match(line)) and match[1] in contents]
    return found.model_copy(
        update={
            "extra": ",".join(extras) or found.extra if found.editable else "",
            "files": tuple(dict.fromkeys((*found.files, *files))),
            "requirements": tuple(line for line in lines if REQUIREMENT.match(line)),
        }
    )


def _extras(pyproject: Mapping[str, object], contents: Contents) -> list[str]:
    names = list(table(pyproject, "project", "optional-dependencies"))
    config = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        config.read_string(contents.get("setup.cfg", b"").decode(errors="replace"))
    except configparser.Error:
        return names
    section = "options.extras_require"
    names += list(config[section]) if config.has_section(section) else []
    # setup.py is a program; its extras are read only where they are written down as such.
    setup = contents.get("setup.py", b"").decode(errors="replace")
    written = re.search(r"extras_require\s*=\s*\{(.*?)\}", setup, re.DOTALL)
    return names + (re.findall(r"""["']([\w.-]+)["']\s*:""", written[1]) if written else [])


def _best(names: Iterable[str]) -> str:
    return next((name for name in TEST_NAMES if name in names), "")
