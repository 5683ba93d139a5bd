"""CI files as people write them: what is taken, what is left out and why."""

import pytest

from domain.tables import yaml_table
from domain.workflows import in_ci

GITHUB = """
name: CI
on: [push, pull_request]
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: ruff check .
  test:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
    steps:
      - uses: actions/checkout@v4
      - name: Install
        run: pip install -e .[test]
      - name: Unit tests
        env: {LEVEL: high}
        working-directory: core
        run: |
          pytest -q \\
            tests
      - run: pytest ${{ matrix.extra }}
      - name: Live tests
        env: {TOKEN: "${{ secrets.TOKEN }}"}
        run: pytest live
      - if: failure()
        run: pytest again
      - name: Upload coverage
        run: pytest --cov
  publish:
    runs-on: ubuntu-latest
    steps:
      - run: pytest smoke
"""


def ci(text, path=".github/workflows/ci.yml"):
    return in_ci({path: text.encode()})


def test_a_github_job_gives_its_tests_and_names_what_it_left_out():
    best, other = ci(GITHUB)

    assert best.place == "job test of .github/workflows/ci.yml"
    assert best.commands == ("cd core && export LEVEL=high && pytest -q tests",)
    assert [words.partition(": ")[::2] for words in best.left_out] == [
        ("`pytest ${{ matrix.extra }}`", "${{ matrix.extra }} is not known here"),
        ("`pytest live`", "TOKEN is not known here"),
        ("`pytest again`", "it depends on failure()"),
        ("`pytest --cov`", "its step hands something out"),
    ]
    assert (other.place.split()[1], other.commands) == ("publish", ())
    assert "hands something out" in other.left_out[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("on: push", "on: release"), "not run for a push"),
        (("on: push", "on: {schedule: [{cron: '0 0 * * *'}]}"), "not run for a push"),
        (("runs-on: ubuntu", "runs-on: windows-latest"), "runs on windows-latest"),
        (("runs-on: ubuntu", "runs-on: ubuntu\n    container: node:20"), "in a container"),
        (
            ("runs-on: ubuntu", "runs-on: ubuntu\n    services: {db: {image: postgres}}"),
            "services (db)",
        ),
        (("runs-on: ubuntu", "if: startsWith(github.ref, 'refs/tags/')"), "depends on"),
        (("run: make test", "run: make test\n        shell: pwsh"), "written for pwsh"),
        (("run: make test", "run: make test\n        working-directory: ../x"), "folder ../x"),
        (("run: make test", "run: make test\n        env: {A: '$B'}"), "A is not known here"),
    ],
)
def test_each_reason_to_leave_a_job_aside_and_the_job_without_it(change, reason):
    text = "on: push\njobs:\n  test:\n    runs-on: ubuntu\n    steps:\n      - run: make test\n"
    (plain,) = ci(text)
    (changed,) = ci(text.replace(*change))

    assert (plain.commands, plain.left_out) == (("make test",), ())
    assert changed.commands == ()
    assert reason in changed.left_out[0]


def test_a_job_named_for_tests_goes_before_one_that_is_not():
    steps = "{runs-on: ubuntu, steps: [{run: %s}]}"
    text = f"on: push\njobs:\n  a: {steps % 'make check'}\n  z-tests: {steps % 'make test'}\n"

    assert [one.commands for one in ci(text)] == [("make test",), ("make check",)]


GITLAB = """
.base: &base
  before_script: [npm ci]
stages: [test, deploy]
variables: {A: b}
unit:
  <<: *base
  stage: test
  script:
    - !reference [.base, before_script]
    - npm run build
    - npm test
ship:
  stage: deploy
  script: npm test
manual:
  when: manual
  script: [npm run test:slow]
db:
  services: [postgres:16]
  script: [npm run test:db]
"""
CIRCLE = """
version: 2.1
jobs:
  test:
    docker: [{image: cimg/go:1.22}]
    steps:
      - checkout
      - run: go test ./...
      - run: {name: more, command: go test -tags more ./..., working_directory: sub}
  with-db:
    docker: [{image: cimg/go:1.22}, {image: postgres}]
    steps: [{run: {command: go test ./db}}]
"""
AZURE = """
stages:
  - stage: a
    jobs:
      - job: Linux
        pool: {vmImage: ubuntu-latest}
        steps:
          - script: cargo test
            displayName: Test
          - bash: cargo test $(flags)
      - job: Windows
        pool: {vmImage: windows-latest}
        steps: [{script: cargo test --windows}]
"""


@pytest.mark.parametrize(
    ("path", "text", "place", "expected", "left_out"),
    [
        (".gitlab-ci.yml", GITLAB, "job unit of .gitlab-ci.yml", ("npm run build", "npm test"), 3),
        (".circleci/config.yml", CIRCLE, "job test of .circleci/config.yml",
         ("go test ./...", "cd sub && go test -tags more ./..."), 1),
        ("azure-pipelines.yml", AZURE, "job Linux of azure-pipelines.yml", ("cargo test",), 2),
        (".travis.yml", "language: c\nscript:\n  - ./configure\n  - make check\n",
         "script of .travis.yml", ("./configure", "make check"), 0),
        (".travis.yml", "script: make check\n", "script of .travis.yml", ("make check",), 0),
    ],
)  # fmt: skip
def test_other_services_are_read_in_their_own_way(path, text, place, expected, left_out):
    found = ci(text, path)

    assert (found[0].place, found[0].commands) == (place, expected)
    assert sum(len(one.left_out) for one in found) == left_out


LAUGHS = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60)
)


@pytest.mark.parametrize(
    "text",
    ["", "- a\n- b\n", "jobs: 3\n", "jobs: {a: [b]}\n", "jobs: {a: {steps: {run: x}}}\n", "a: [", "\t", "[" * 20_000, LAUGHS,
     "jobs: {a: {steps: [{run: 3}, {run: null}, 4]}}\n", "a: !!python/object/apply:os.system [x]\n", "x" * 300_000,
     "on: [[push]]\njobs: {a: {runs-on: {group: x}, steps: [{run: [make test], env: [A]}]}}\n", "a: 2020-99-99\n"],
)  # fmt: skip
@pytest.mark.parametrize("path", [".github/workflows/a.yaml", ".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml", "azure-pipelines.yml"])  # fmt: skip
def test_a_file_that_says_something_else_says_nothing(path, text):
    assert all(one.commands == () for one in ci(text, path))


def test_a_table_of_yaml_knows_no_tags_and_keeps_its_keys_as_words():
    assert yaml_table(b"on: !Ref x\n2: b\n") == {"True": None, "2": "b"}
