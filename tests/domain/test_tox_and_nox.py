"""What tox and nox would run and install, read from their files."""

import pytest

from domain.installation import installation_of
from domain.nox import in_nox
from domain.tox import in_tox

TOX = b"""
[tox]
envlist = py{38,311}, lint
[base]
paths = tests
deps = mock>=2
[testenv]
deps =
    pytest
    pytest-cov >= 4, < 9  ; python_version > "3"
    {[base]deps}
    -r requirements/test.txt
    -rmissing.txt
    -c constraints.txt
    py38: dataclasses
    git+https://host.example/x
extras = fast
    more
changedir = {toxinidir}
commands =
    coverage erase
    {envpython} -m pytest --cov \\
        {posargs:{[base]paths}}
    {envbindir}/pytest {env:MORE:tests/more}
    py38: pytest old
    !cov: pytest plain
    - pytest ignored
    pytest {envtmpdir}
    coverage report
[testenv:lint]
commands = ruff check
"""


def test_the_default_environment_is_read_and_what_people_add_is_taken_out():
    found = in_tox({"tox.ini": TOX})

    assert found.place == "[testenv] of tox.ini"
    assert found.commands == (
        "python -m pytest --cov tests",
        "pytest tests/more",
        "pytest plain",
    )
    assert found.left_out == ("`pytest {envtmpdir}`: {envtmpdir} is not known here",)


def test_its_dependencies_are_installed_for_its_commands_and_for_no_others():
    files = {"tox.ini": TOX, "setup.py": b"", "requirements/test.txt": b""}

    found = installation_of(files, in_tox(files).commands)
    assert found.extra == "fast,more"
    assert found.files == ("requirements/test.txt",)
    assert found.requirements == (
        "pytest",
        'pytest-cov >= 4, < 9  ; python_version > "3"',
        "mock>=2",
    )
    assert "mock>=2" in found.words

    other = installation_of(files, ("python -m pytest",))
    assert (other.requirements, other.extra) == ((), "")


@pytest.mark.parametrize(
    ("files", "place", "commands"),
    [
        ({"tox.ini": b"[tox]\nenvlist = unit\n[testenv]\nusedevelop = 1\n[testenv:unit]\ncommands = pytest {posargs}\n"},
         "[testenv:unit] of tox.ini", ("pytest",)),
        ({"setup.cfg": b"[tox:tox]\nenvlist = py\n[testenv]\nchangedir = sub\ncommands = python -m unittest\n"},
         "[testenv] of setup.cfg", ("cd sub && python -m unittest",)),
        ({"pyproject.toml": b"[tool.tox]\nlegacy_tox_ini = '''\n[testenv]\ncommands = pytest -x\n'''\n"},
         "[testenv] of pyproject.toml", ("pytest -x",)),
        ({"tox.toml": b"env_list = ['py']\n[env_run_base]\ndeps = ['pytest']\n"
                      b"commands = [['pytest', '-k', 'a or b', {replace = 'posargs', default = ['tests'], extend = true}]]\n"},
         "[testenv] of tox.toml", ("pytest -k 'a or b' tests",)),
        ({"pyproject.toml": b"[tool.tox.env.test]\ncommands = [['pytest']]\n"}, "[testenv:test] of pyproject.toml", ("pytest",)),
    ],
)  # fmt: skip
def test_settings_of_tox_are_found_where_they_may_be(files, place, commands):
    found = in_tox(files)

    assert (found.place, found.commands) == (place, commands)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[broken",
        b"[testenv]\ncommands = flake8\n",
        b"[testenv]\ncommands = - pytest\n",
        b"[testenv]\ncommands = {[testenv]commands}\n",
        b"[a]\nx = {[a]x}{[a]x} pytest\n[testenv]\ncommands = {[a]x}\n",
        b"[testenv]\ncommands = tox -e other\n",
        b"[a]\nx = " + b"{[a]x}" * 20_000 + b"\n[testenv]\ncommands = {[a]x}\n",
    ],
)
def test_settings_without_a_test_that_can_be_read_give_none(text):
    found = in_tox({"tox.ini": text})

    assert found is None or found.commands == ()


NOX = b"""
import nox
nox.options.sessions = ["lint", "tests"]

@nox.session
def docs(session):
    session.run("pytest", "docs")

@nox.session(python=["3.8", "3.11"], name="tests")
def run_tests(session: nox.Session) -> None:
    session.install("-r", "requirements/test.txt", "-e", ".[fast]", "pytest", f"x=={VERSION}")
    session.install("mock>=2")
    session.run("coverage", "run", "-m", "pytest", "-k", "a or b", *session.posargs, env={"A": "1"})
    session.run("pytest", *(session.posargs or ["tests"]))
    session.run("pytest", session.bin)

@nox.session
def lint(session):
    session.run("ruff", "check")
"""


def test_the_first_default_session_with_a_test_is_read():
    found = in_nox({"noxfile.py": NOX})

    assert found.place == "session tests of noxfile.py"
    assert found.commands == ("coverage run -m pytest -k 'a or b'", "pytest tests")
    assert found.left_out == ("`pytest ${{ session.bin }}`: ${{ session.bin }} is not known here",)


def test_what_a_session_installs_is_installed():
    files = {"noxfile.py": NOX, "pyproject.toml": b"[project]\nname = 'x'\n"}

    found = installation_of(files, in_nox(files).commands)

    assert (found.extra, found.requirements) == ("fast", ("pytest", "mock>=2"))


@pytest.mark.parametrize(
    "text", [b"", b"def broken(", b"\0", b"(" * 5000, b"@session\ndef tests(): pass\n", b"x = 1\n"]
)
def test_a_noxfile_that_cannot_be_read_says_nothing(text):
    assert in_nox({"noxfile.py": text}) is None
