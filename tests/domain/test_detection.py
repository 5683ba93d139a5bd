"""Which commands prove a repository, and what it needs installed."""

import pytest

from domain.detection import MANIFESTS, detect
from domain.gate import GatePlan
from domain.installation import installation_of


def found(*names, **contents):
    """`contents` by a file's name with its dots as underscores."""
    texts = {name: text.encode() for name, text in contents.items()}
    files = {
        next((n for n in MANIFESTS if n.replace(".", "_") == key), key): t
        for key, t in texts.items()
    }
    return detect(frozenset({*names, *files}), files)


def command(plan):
    assert isinstance(plan, GatePlan), plan
    return plan.verify[0]


@pytest.mark.parametrize(
    "names", [["test_inflection.py"], ["a/tests/test_x.py"], ["x_test.py"], ["pkg/tests.py"]]
)
def test_python_tests_are_run_by_pytest(names):
    plan = found(*names)

    assert command(plan) == "python -m pytest"
    assert plan.language == "python"
    assert "test files" in plan.source


def test_pytest_goes_before_a_makefile_that_calls_tools_which_may_not_be_there():
    """That of sqlparse 0.3.1 calls tox, Pygments 2.6.1 `which py.test`."""
    assert command(found("tests/test_a.py", Makefile="test:\n\ttox\n")) == "python -m pytest"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject_toml", "[tool.pytest.ini_options]\ntestpaths = ['spec']"),
        ("pytest_ini", "[pytest]\npython_files = check_*.py"),
        ("setup_cfg", "[tool:pytest]\nxfail_strict = True"),
        ("tox_ini", "[pytest]\n"),
    ],
)
def test_settings_of_pytest_are_enough(file, text):
    plan = found(**{file: text})

    assert command(plan) == "python -m pytest"
    assert plan.source == f"detected: pytest, from settings in {file.replace('_', '.')}"


def test_a_django_project_is_run_by_django_unless_pytest_is_configured():
    assert command(found("manage.py", "polls/tests.py")) == "python manage.py test --noinput"
    assert (
        command(found("manage.py", "polls/tests.py", pytest_ini="[pytest]")) == "python -m pytest"
    )


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ({"justfile": "build:\n  x\ntest *args: build\n  y\n"}, "just test"),
        ({"justfile": "@test:\n  y\n", "Makefile": "test:\n\tx\n"}, "just test"),
        ({"Makefile": ".PHONY: test\nall test: build\n\tx\n"}, "make test"),
        ({"Makefile": "check:\n\tx\n"}, "make check"),
        (
            {"Makefile": "test:\n\tx\n", "package_json": '{"scripts": {"test": "jest"}}'},
            "make test",
        ),
        ({"package_json": '{"scripts": {"test": "jest"}}'}, "npm test"),
        ({"go_mod": "module x"}, "go test ./..."),
        ({"Cargo_toml": "[package]"}, "cargo test"),
        ({"pom_xml": "<project/>"}, "mvn -B test"),
        ({"mvnw": "", "pom_xml": "<project/>"}, "./mvnw -B test"),
        ({"build_gradle_kts": ""}, "gradle test"),
    ],
)
def test_other_repositories_start_with_their_task_runner_then_their_language(contents, expected):
    assert command(found("src/main.c", **contents)) == expected


@pytest.mark.parametrize(
    "contents",
    [
        {},
        {"Makefile": "TEST = tests\ntest-coverage:\n\tx\nlatest:\n\tx\n"},
        {"Makefile": "test := value\nx:\n\ttest: y\n"},
        {"justfile": "test := 'x'\n"},
        {"package_json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package_json": '["not", "a", "table"]'},
        {"package_json": "{broken"},
        {"pyproject_toml": "[broken"},
        {"pyproject_toml": "tool = 3"},
    ],
)
def test_no_command_is_an_error_in_words_and_never_a_guess(contents):
    why = found("src/main.py", **contents)

    assert isinstance(why, str)
    assert why.startswith("no test command found")
    assert "--verify" in why


def test_a_target_with_a_build_file_is_installed_with_its_test_extra_and_group():
    plan = installation_of(
        {
            "pyproject.toml": b"""
                [project]
                name = "x"
                [project.optional-dependencies]
                docs = ["sphinx"]
                dev = ["ruff"]
                test = ["pytest"]
                [dependency-groups]
                dev = ["coverage"]
            """,
            "requirements.txt": b"a",
            "requirements-dev.txt": b"b",
        }
    )

    assert (plan.editable, plan.extra, plan.group) == (True, "test", "dev")
    assert plan.files == ("requirements-dev.txt",)


@pytest.mark.parametrize(
    ("contents", "extra"),
    [
        (
            {"setup.cfg": b"[metadata]\nname = x\n[options.extras_require]\ntesting = pytest\n"},
            "testing",
        ),
        ({"setup.py": b"setup(extras_require={'docs': [], 'dev': ['pytest']})"}, "dev"),
        ({"setup.py": b"setup(extras_require=EXTRAS)"}, ""),
        ({"setup.py": b"", "setup.cfg": b"[broken"}, ""),
    ],
)
def test_extras_of_older_build_files_are_found_where_they_are_written_down(contents, extra):
    plan = installation_of(contents)

    assert (plan.editable, plan.extra) == (True, extra)


@pytest.mark.parametrize(
    "contents",
    [
        {},
        {"pyproject.toml": b"[tool.ruff]\n"},
        {"setup.cfg": b"[flake8]\n"},
        {"pyproject.toml": b"[x"},
    ],
)
def test_a_target_that_nothing_describes_is_not_installed_but_its_requirements_are(contents):
    plan = installation_of({**contents, "requirements.txt": b"a", "requirements-test.txt": b"b"})

    assert not plan.editable
    assert plan.files == ("requirements.txt", "requirements-test.txt")
