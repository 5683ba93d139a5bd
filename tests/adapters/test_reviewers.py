"""The reviewers that need no key: their rules are data, and each finds what it says."""

from pathlib import Path

import pytest

from adapters.catalogue import REVIEWERS, read_catalogue
from adapters.executors.codemod import find, work
from adapters.executors.reading import walked
from domain.axis import Axis, Ruff
from domain.change import Change
from domain.site import Site

FINDS = {
    "equal-to-none": ("a.py", "ok = x == None\n"),
    "unequal-to-none": ("a.py", "ok = x != None\n"),
    "not-in": ("a.py", "ok = not x in y\n"),
    "swallowed-exception": ("a.py", "try:\n    f()\nexcept:\n    pass\n"),
    "typeof-loosely": ("a.js", 'ok = typeof x == "string";\n'),
    "equal-to-nan": ("a.js", "ok = x === NaN;\n"),
    "typeof-loosely-in-typescript": ("a.ts", 'let ok = typeof x == "string";\n'),
    "deferred-in-a-loop": (
        "a.go",
        "package a\n\nfunc f() {\n\tfor range 3 {\n\t\tdefer g()\n\t}\n}\n",
    ),
    "assignment-as-condition": ("a.c", "int f(int a) { if (a = 1) { return 2; } return 3; }\n"),
    "unbounded-gets": ("a.c", "void f(char *s) { gets(s); }\n"),
    "strings-by-identity": ("A.java", 'class A { boolean f(String s) { return s == "x"; } }\n'),
}
SOUND = {
    "a.py": "ok = x is None and x not in y\ntry:\n    f()\nexcept ValueError:\n    pass\nexcept:\n    raise\n",
    "a.js": 'ok = typeof x === "string" && x == other;\n',
    "a.go": "package a\n\nfunc f() {\n\tfor range 3 {\n\t\tfunc() { defer g() }()\n\t}\n\tdefer g()\n}\n",
    "a.c": "int f(int a, int b) { if ((a = b) == 3) { fgets(s, 1, stdin); } return a; }\n",
    "A.java": 'class A { boolean f(String s) { return s.equals("x"); } }\n',
}


def axis_of(family: str) -> Axis:
    return read_catalogue(REVIEWERS)[family].engine


def looked(tree: Path, axis: Axis, *, every: bool) -> list[Site]:
    tree.joinpath("ruff.toml").touch()
    allowed = frozenset(walked(tree))
    cache = tree.parent / "cache"
    return list(find(tree, axis, allowed=allowed, cache=cache, commit="c0ffee", every=every).sites)


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    return tree


@pytest.mark.parametrize("rule", FINDS)
def test_each_rule_of_the_ast_grep_reviewer_finds_its_mistake(rule: str, tree: Path):
    path, text = FINDS[rule]
    (tree / path).write_text(text)
    assert [site.rule for site in looked(tree, axis_of("ast-grep"), every=True)] == [rule]


def test_the_ast_grep_reviewer_says_nothing_of_sound_code(tree: Path):
    for path, text in SOUND.items():
        (tree / path).write_text(text)
    assert looked(tree, axis_of("ast-grep"), every=True) == []


def test_the_ruff_reviewer_tells_errors_and_no_matters_of_taste(tree: Path):
    (tree / "a.py").write_text("import os\nx: 'int' = 1\nif x is 1:\n    y = undefined\n")
    found = looked(tree, axis_of("ruff"), every=True)
    assert sorted(site.rule for site in found) == ["F401", "F632", "F821"]


def test_a_reader_sees_what_no_fix_is_known_for_and_an_executor_does_not(tree: Path):
    (tree / "a.py").write_text("import os\ny = undefined\n")
    assert [s.rule for s in looked(tree, Ruff(select="F"), every=False)] == ["F401"]
    both = looked(tree, Ruff(select="F"), every=True)
    assert [(site.rule, bool(site.edits)) for site in both] == [("F401", True), ("F821", False)]


def test_what_a_reader_saw_is_not_taken_for_an_executors_own_look(tree: Path):
    (tree / "a.py").write_text("import os\ny = undefined\n")
    axis, made = Ruff(select="F"), list[Change]()
    looked(tree, axis, every=True)
    worked = work(
        tree,
        axis,
        allowed=frozenset(walked(tree)),
        cache=tree.parent / "cache",
        commit=made.extend,
        at="c0ffee",
    )
    assert [change.content for change in made] == [b"y = undefined\n"]
    assert worked.left.sites == ()
