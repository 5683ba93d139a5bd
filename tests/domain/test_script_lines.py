"""Which lines of somebody's script test, and which of them can be run here. Each refusal beside what must pass."""

import pytest

from domain.script_lines import for_tests, taken


def commands(script):
    return for_tests(taken(script).commands)


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "python -m pytest -x tests/unit",
        "pytest -k 'not slow and (a or b)'",
        "coverage run -m pytest",
        "python -m unittest discover",
        "python manage.py test --noinput",
        "npm test",
        "npm run test:unit",
        "yarn test --ci",
        "npx jest --ci",
        "node --test",
        "node --experimental-vm-modules --test",
        "go test -race ./...",
        "gotestsum -- ./...",
        "cargo test --release --all-features",
        "cargo nextest run",
        "mvn -B clean verify",
        "./mvnw -q test",
        "./gradlew --no-daemon check",
        "make -j4 check",
        "just test",
        "bundle exec rake test",
        "ctest --output-on-failure",
        "RUST_BACKTRACE=1 cargo test",
        "make test > out.txt 2>&1",
        "make -j$(nproc) check",
        "pytest tests/test_release.py",
        "go test ./deploy/...",
    ],
)
def test_a_line_that_tests_is_taken_as_it_stands(line):
    assert taken(line).commands == (("test", line),)


@pytest.mark.parametrize(
    "line",
    [
        "npm publish",
        "mvn test deploy",
        "./gradlew check publishToMavenLocal",
        "make test deploy",
        "make release",
        "npm run test:deploy",
        "twine upload dist/*",
        "docker push x/y",
        "ruff check .",
        "pytest --collect-only",
        "cargo test --no-run",
        "mvn -B -DskipTests verify",
        "./gradlew build -x test",
        "echo pytest",
        "pip install pytest",
        "npm ci",
        "testify --all",
        "npm run testimonials",
        "# pytest",
    ],
)
def test_what_hands_out_installs_or_only_looks_like_a_test_is_not(line):
    """T30: a comment is no gate."""
    found = taken(line)

    assert (found.commands, found.left_out) == ((), ())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("pytest ${{ matrix.args }}", "${{ matrix.args }} is not known here"),
        ("pytest << parameters.args >>", "<< parameters.args >> is not known here"),
        ("pytest --junitxml=$CI_REPORT", "$CI_REPORT is not known here"),
        ("go test $(go list ./... | grep -v e2e)", "is not known here"),
        ("npm test `cat list`", "`cat list` is not known here"),
        ("pytest || true", "more than a plain command"),
        ("pytest | tee log", "more than a plain command"),
        ("npm test & npm run serve", "more than a plain command"),
        ("pytest -k 'open", "quotes do not match"),
        ("tox -e py311", "environments of its own"),
        ("python -m nox -s tests", "environments of its own"),
        ("cd $DIR && pytest", "$DIR is not known here"),
    ],
)
def test_what_tests_and_cannot_be_run_here_is_named_with_the_reason(line, reason):
    found = taken(line)

    assert found.commands == ()
    assert len(found.left_out) == 1
    assert found.left_out[0].startswith(f"`{line}`: ")
    assert reason in found.left_out[0]


@pytest.mark.parametrize(
    "script",
    [
        "if [ -n x ]; then\n  pytest\nfi",
        "for d in a b; do\n  pytest\ndone",
        "cat > run.sh <<EOF\npytest\nEOF",
        "cd ${{ matrix.package }}\npytest",
        "pushd sub\npytest",
        "(cd sub && pytest)\nnpm test",
    ],
)
def test_a_line_in_a_script_with_a_way_of_its_own_is_left_out(script):
    found = taken(script)

    assert found.commands == ()
    assert any("the script around it" in words for words in found.left_out)


def test_way_and_builds_go_with_the_test_and_what_follows_it_does_not():
    script = """
        set -e
        pip install -e .   # ours to do
        ./configure --enable-x
        make -j2
        cd sub \\
          # a comment
        export LEVEL=high
        make check
        make all
    """

    assert commands(script) == (
        "set -e && ./configure --enable-x",
        "set -e && make -j2",
        "set -e && cd sub && export LEVEL=high && make check",
    )


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("poetry run pytest -x", "pytest -x"),
        ("uv run pytest", "pytest"),
        ("uv run --frozen --extra test python -m pytest", "python -m pytest"),
        ("A=1 pdm run pytest", "A=1 pytest"),
        ("python3.12 -m pytest", "python -m pytest"),
        ("venv/bin/python -m pytest", "python -m pytest"),
        (". venv/bin/activate && pytest", "pytest"),
    ],
)
def test_a_command_is_run_in_our_environment_and_not_in_one_of_its_own(line, ours):
    assert commands(line) == (ours,)


@pytest.mark.parametrize(
    "piece", ["<<", "${{", " ", "$(", "mvn a ", "--with ", "x/", "\\\n", "pytest\n"]
)
def test_a_hostile_script_takes_no_longer_than_a_long_one(piece):
    """It ends at all: each of these took minutes, or a fraction of a second, by its regular expressions."""
    assert len(taken("pytest " + piece * 100_000).commands) <= 20_000
