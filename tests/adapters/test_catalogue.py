from pathlib import Path

import pytest

from adapters.catalogue import read_catalogue, with_rule_text
from adapters.executors.codemod import work
from domain.axis import AstGrep, Catalogue, Ruff, slug
from domain.change import Change
from domain.value import Refused

SAMPLES = {
    "pyupgrade": ("a.py", "class A(object):\n    pass\n"),
    "f-strings": ("a.py", 'x = "{}".format(1)\n'),
    "comprehensions": ("a.py", "x = {y: None for y in z}\n"),
    "simplify": ("a.py", "with a:\n    with b:\n        c()\n"),
    "unused-imports": ("a.py", "import os\n"),
    "sorted-imports": ("a.py", "import sys\nimport os\n"),
    "early-returns": (
        "a.py",
        "def f(a):\n    if a:\n        return 1\n    else:\n        return 2\n",
    ),
    "no-placeholders": ("a.py", 'def f():\n    """Say."""\n    pass\n'),
    "modern-annotations": ("a.py", "from typing import List\n\nx: List[int] = []\n"),
    "pytest-style": ("test_a.py", "import pytest\n\n\n@pytest.fixture()\ndef f():\n    return 1\n"),
    "isinstance-once": ("a.py", "ok = isinstance(a, int) or isinstance(a, str)\n"),
    "strict-typeof": ("a.js", "if (typeof x == 'string') f();\n"),
}


def test_every_axis_of_the_catalogue_has_a_sample_here():
    assert read_catalogue().keys() == SAMPLES.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_every_axis_of_the_catalogue_does_something(name: str, tmp_path: Path):
    path, text = SAMPLES[name]
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / path).write_text(text)
    (tree / "ruff.toml").write_text('target-version = "py311"\n')
    made: list[Change] = []

    worked = work(
        tree,
        Catalogue(name=name),
        allowed=frozenset({path}),
        cache=tmp_path / "cache",
        commit=made.extend,
    )

    assert [change.path for change in made] == [path]
    assert (tree / path).read_text() != text
    assert worked.left.sites == ()


def test_rules_come_with_their_text_and_names_with_their_sentence():
    for entry in read_catalogue().values():
        assert entry.sentence.endswith(".")
        assert entry.probe
        assert slug(Catalogue(name=entry.name)) == entry.name
        assert not isinstance(entry.engine, AstGrep) or "language:" in entry.engine.rule


def test_a_catalogue_that_is_missing_is_refused(tmp_path: Path):
    with pytest.raises(Refused, match="no catalogue of axes at"):
        read_catalogue(tmp_path / "axes.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", "is no TOML"),
        ("x = 1", "the axis 'x' in .* is not right"),
        ('[x]\nsentence = "y"\n', "engine: Field required"),
        (
            '["../x"]\nsentence = "y"\nengine = {kind = "ruff", select = "UP"}\n',
            "name: String should match",
        ),
        (
            '[x]\nsentence = "y"\nengine = {kind = "ruff", select = "--fix"}\n',
            r"engine\.ruff\.select: String",
        ),
        (
            '[x]\nsentence = "y"\nengine = {kind = "ast-grep", rule = "no.yml"}\n',
            r"no rule file 'no\.yml'",
        ),
    ],
)
def test_an_entry_that_is_wrong_is_refused_with_its_name(tmp_path: Path, text: str, said: str):
    (tmp_path / "axes.toml").write_text(text)
    with pytest.raises(Refused, match=said):
        read_catalogue(tmp_path / "axes.toml")


def test_an_entry_that_is_right_is_read(tmp_path: Path):
    (tmp_path / "axes.toml").write_text(
        '[x]\nsentence = "y"\nengine = {kind = "ruff", select = "UP"}\n'
    )

    assert read_catalogue(tmp_path / "axes.toml")["x"].engine == Ruff(select="UP")


def test_the_text_of_a_rule_is_not_taken_for_a_path(tmp_path: Path):
    axis = AstGrep(rule="id: x\nlanguage: python\n")

    assert with_rule_text(axis, tmp_path) == axis
    assert with_rule_text(Ruff(select="UP"), tmp_path) == Ruff(select="UP")
