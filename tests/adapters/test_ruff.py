import os
from pathlib import Path

import pytest

from adapters.executors.codemod import find
from adapters.executors.reading import Reader, walked
from adapters.executors.ruff import RuffLook
from adapters.processes.tool import chunked, run_tool, tool_path
from domain.axis import Ruff
from domain.site import Listing
from domain.value import Refused

FORMAT = '"{}".format(1)'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def put(tree: Path, name: str, content: str | bytes) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_bytes(content.encode() if isinstance(content, str) else content)


def probe(
    tree: Path,
    select: str = "UP032",
    *,
    unsafe: bool = False,
    allowed: frozenset[str] | None = None,
) -> Listing:
    return find(
        tree, Ruff(select=select, unsafe=unsafe), allowed=allowed, cache=tree.parent / "cache"
    )


def marked(tree: Path, listing: Listing) -> list[str]:
    """The text that each edit replaces."""
    texts = {
        site.path: (tree / site.path).read_bytes().decode("utf-8", "surrogateescape")
        for site in listing.sites
    }
    return [
        texts[site.path][edit.start : edit.end] for site in listing.sites for edit in site.edits
    ]


@pytest.mark.parametrize(
    "content",
    [
        f"x = 1\nz = {FORMAT}\n",
        f"x = 1\r\nz = {FORMAT}\r\n",
        f"x = 1\rz = {FORMAT}\r",
        f"\ufeffx = {FORMAT}\n",
        f"x = 1\n\x0c\nz = {FORMAT}\n",
        f's = "\u2028\x85\x0b"; z = {FORMAT}\n',
        f's = "😀e\u0301\u202e"; z = {FORMAT}\n',
        f"# -*- coding: latin-1 -*-\n# \xe9\nz = {FORMAT}\n".encode("latin-1"),
        f's = "\xe9\xff"; z = {FORMAT}  # caf\xe9\n'.encode("latin-1"),
        f"z = {FORMAT}",
    ],
)
def test_an_edit_covers_exactly_what_ruff_means(tree: Path, content: str | bytes):
    put(tree, "a.py", content)

    assert marked(tree, probe(tree)) == [FORMAT]


def test_a_file_in_an_encoding_that_needs_private_characters_is_named(tree: Path):
    put(tree, "a.py", "# \U0010ff00 ".encode() + b"\xe9\n" + f"z = {FORMAT}\n".encode())

    listing = probe(tree)

    assert listing.sites == ()
    assert listing.notes == ("a.py cannot be read in any encoding that the tool knows",)


HOSTILE = ["a b.py", "new\nline.py", 'qu"ote.py', "-dash.py", "@at.py", ":(exclude)a.py", "*.py", "\u202eb.py", "é.py",
           "#h.py", "$(id).py", "'q'.py", "\\b.py", "[x].py", "{y}.py", "~t.py", "tab\t.py", "\ufffd.py"]  # fmt: skip


@pytest.mark.parametrize("listed", [True, False])
def test_a_hostile_name_is_read_and_reported_as_it_is(tree: Path, listed: bool):
    names = [*HOSTILE, os.fsdecode(b"n\xff.py"), os.fsdecode(b"n\xfe.py"), "x" * 252 + ".py"]
    for name in names:
        put(tree, name, f"z = {FORMAT}\n")

    listing = probe(tree, allowed=frozenset(names) if listed else None)

    assert sorted(site.path for site in listing.sites) == sorted(names)


def test_thousands_of_paths_go_over_in_several_calls(tree: Path):
    names = [f"{'d' * 200}/{at:05}-{'x' * 200}.py" for at in range(3000)]
    assert len(chunked(names)) > 1
    assert [name for chunk in chunked(names) for name in chunk] == names
    for name in names[:3]:
        put(tree, name, f"z = {FORMAT}\n")

    assert len(probe(tree, allowed=frozenset(names)).sites) == 3


def test_only_safe_fixes_are_sites_unless_asked(tree: Path):
    put(
        tree,
        "a.py",
        "def f(xs):\n    for x in xs:\n        if x:\n            return True\n    return False\n",
    )

    assert probe(tree, "SIM110").notes == ("1 of SIM110 have no fix that may be applied",)
    assert len(probe(tree, "SIM110", unsafe=True).sites) == 1


def test_the_settings_of_the_target_are_honoured_but_cannot_make_us_write(tree: Path):
    put(tree, "ruff.toml", 'fix = true\noutput-format = "github"\n[lint]\nexclude = ["old.py"]\n')
    put(tree, "a.py", f"z = {FORMAT}\n")
    put(tree, "old.py", f"z = {FORMAT}\n")

    assert [site.path for site in probe(tree).sites] == ["a.py"]
    assert [site.path for site in probe(tree, allowed=frozenset({"a.py", "old.py"})).sites] == [
        "a.py"
    ]
    assert (tree / "a.py").read_text() == f"z = {FORMAT}\n"


def test_settings_that_ruff_rejects_are_refused_with_its_words(tree: Path):
    put(tree, "a.py", f"z = {FORMAT}\n")
    assert len(probe(tree).sites) == 1
    put(tree, "ruff.toml", "nonsense = 1\n")

    with pytest.raises(
        Refused, match=r"ruff could not look for 'UP032' \(exit code 2\)(.|\n)*nonsense"
    ):
        probe(tree)


def test_a_selector_that_no_rule_has_is_refused(tree: Path):
    put(tree, "a.py", "x = 1\n")

    with pytest.raises(Refused, match="Unknown rule selector"):
        probe(tree, "ZZ9")


def test_a_file_that_does_not_parse_is_named_and_left_alone(tree: Path):
    put(tree, "a.py", f"z = {FORMAT}\nprint 'x'\n")
    put(tree, "b.py", f"z = {FORMAT}\n")

    listing = probe(tree)

    assert [site.path for site in listing.sites] == ["b.py"]
    assert listing.notes == ("a.py cannot be parsed, so nothing is fixed there",)


def test_generated_vendored_and_linked_files_are_counted_by_reason(tree: Path):
    put(tree, "a.py", f"z = {FORMAT}\n")
    put(tree, "vendor/b.py", f"z = {FORMAT}\n")
    put(tree, "c.py", f"# @generated\nz = {FORMAT}\n")
    (tree / "d.py").symlink_to("a.py")
    names = frozenset({"a.py", "vendor/b.py", "c.py", "d.py"})

    listing = probe(tree, allowed=names)
    everything = find(
        tree,
        Ruff(select="UP032"),
        allowed=names,
        cache=tree.parent / "cache",
        include_generated=True,
    )

    assert [site.path for site in listing.sites] == ["a.py"]
    assert listing.skipped == {"generated": 1, "symlink": 1, "vendored": 1}
    assert [site.path for site in everything.sites] == ["a.py", "c.py", "vendor/b.py"]
    assert everything.skipped == {"symlink": 1}


def test_a_file_behind_a_linked_folder_is_no_site(tree: Path):
    put(tree.parent / "elsewhere", "a.py", f"z = {FORMAT}\n")
    put(tree, "real/a.py", f"z = {FORMAT}\n")
    (tree / "linked").symlink_to(tree.parent / "elsewhere")

    listing = probe(tree, allowed=frozenset({"linked/a.py", "real/a.py"}))

    assert [site.path for site in listing.sites] == ["real/a.py"]
    assert listing.skipped == {"symlink": 1}


def test_files_of_other_languages_are_not_read_as_python(tree: Path):
    put(tree, "a.sql", f"z = {FORMAT}\n")
    put(tree, "a.py", f"z = {FORMAT}\n")

    assert [site.path for site in probe(tree, allowed=frozenset({"a.sql", "a.py"})).sites] == [
        "a.py"
    ]


def test_notebooks_are_left_alone(tree: Path):
    put(tree, "a.ipynb", '{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],'
        '"source":["x = \\"{}\\".format(1)\\n"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}')  # fmt: skip

    assert probe(tree).sites == ()


def test_the_environment_of_the_operator_does_not_reach_ruff(
    tree: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RUFF_OUTPUT_FORMAT", "github")
    monkeypatch.setenv("CANARY", "secret")
    put(tree, "a.py", f"z = {FORMAT}\n")

    assert len(probe(tree).sites) == 1
    assert b"CANARY" not in run_tool(["env"], cwd=tree).stdout


def test_nothing_is_written_into_the_tree(tree: Path):
    put(tree, "a.py", f"z = {FORMAT}\n")

    probe(tree)

    assert list(walked(tree)) == ["a.py"]


def test_a_tool_that_hangs_is_ended_and_said_so(tmp_path: Path):
    assert run_tool(["sleep", "0"], cwd=tmp_path, timeout_seconds=5).exit_code == 0
    with pytest.raises(Refused, match="sleep did not end within 0 s"):
        run_tool(["sleep", "60"], cwd=tmp_path, timeout_seconds=0.1)


def test_a_tool_that_is_missing_is_refused_with_what_to_install():
    assert Path(tool_path("ruff")).name == "ruff"
    with pytest.raises(
        Refused, match=r"no 'no-such-tool' beside (.|\n)*install 'no-such-tool' with pip"
    ):
        tool_path("no-such-tool")


def test_a_second_look_at_one_file_finds_the_same_site(tree: Path):
    put(tree, "a.py", f"z = {FORMAT}\n")
    look = RuffLook(Reader(tree), Ruff(select="UP032"), tree.parent / "cache")

    assert look(["a.py"]).sites == look(None).sites


OLD = "from typing import Optional\n\nx: Optional[int] = 1\n"
"""A site of UP007 or UP045 from Python 3.10 on."""
FAR = "import os\n"
"""A site of F401."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ruff.toml", "target-version = 'py39'\n[lint.per-file-ignores]\n'*.py' = ['F401']\n"),
        (".ruff.toml", "exclude = ['*.py']\n"),
        ("pyproject.toml", "[project]\nname = 'x'\nrequires-python = '>=3.9'\n"),
        ("pyproject.toml", "[tool.ruff.lint]\nper-file-ignores = {'*' = ['F401', 'UP']}\n"),
        ("ruff.toml", "not toml ["),
    ],
)
@pytest.mark.parametrize(
    "own",
    [
        {},
        {
            "sub/pyproject.toml": "[tool.ruff.lint.per-file-ignores]\n'c.py' = ['F401']\n",
            "pyproject.toml": "[project]\nname = 'y'\nrequires-python = '>=3.12'\n",
        },
        {"pyproject.toml": "[project]\nname = 'y'\nrequires-python = '>=3.12'\n"},
        {"ruff.toml": "target-version = 'py312'\n"},
    ],
)
def test_settings_above_the_tree_change_nothing(tree: Path, name: str, text: str, own):
    """Our clones lie below $SWATHE_HOME, wherever that is."""
    for path, content in {"a.py": OLD, "sub/b.py": FAR, "sub/c.py": FAR, **own}.items():
        put(tree, path, content)
    before = probe(tree, "F401,UP045")
    put(tree, "../" + name, text)

    after = probe(tree, "F401,UP045")

    assert [site.id for site in after.sites] == [site.id for site in before.sites]
    assert {site.path for site in after.sites} == {"a.py", "sub/b.py", "sub/c.py"} - {
        "sub/c.py" if "sub/pyproject.toml" in own else ""
    }
    assert sorted(walked(tree)) == sorted({"a.py", "sub/b.py", "sub/c.py", *own})


def test_the_python_version_of_the_project_is_still_read(tree: Path):
    put(tree, "a.py", OLD)
    put(tree, "pyproject.toml", "[project]\nname = 'y'\nrequires-python = '>=3.9'\n")
    put(tree, "../pyproject.toml", "[project]\nname = 'x'\nrequires-python = '>=3.12'\n")

    assert probe(tree, "UP045").sites == ()


def test_a_broken_file_of_settings_in_the_tree_is_named(tree: Path):
    put(tree, "a.py", OLD)
    put(tree, "pyproject.toml", "not toml [")

    with pytest.raises(Refused, match="pyproject"):
        probe(tree, "UP045")


NOTEBOOK = """{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [],
 "source": ["import os"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"""


@pytest.mark.parametrize("allowed", [None, frozenset({"a.py", "b.ipynb"})])
def test_a_notebook_is_counted_as_skipped_and_never_a_site(tree: Path, allowed):
    put(tree, "a.py", FAR)
    put(tree, "b.ipynb", NOTEBOOK)

    found = probe(tree, "F401", allowed=allowed)

    assert [site.path for site in found.sites] == ["a.py"]
    assert found.skipped == {"notebook": 1}


def test_a_notebook_out_of_scope_is_not_counted(tree: Path):
    put(tree, "a.py", FAR)
    put(tree, "b.ipynb", NOTEBOOK)

    assert probe(tree, "F401", allowed=frozenset({"a.py"})).skipped == {}
