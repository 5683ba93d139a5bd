import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.executors.codemod import find, work
from adapters.executors.reading import walked
from domain.axis import Commands
from domain.change import Change, Grain, Worked
from domain.value import Refused

FIND = """
import json, pathlib
for path in sorted(pathlib.Path(".").rglob("*.txt")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "old" in line:
            print(json.dumps({"path": str(path), "line": number, "rule": "R1", "message": "Say new"}))
"""
EDIT = """
import os, pathlib
path, number = pathlib.Path(os.environ["SWATHE_PATH"]), int(os.environ["SWATHE_LINE"])
lines = path.read_text().splitlines(keepends=True)
assert "old" in lines[number - 1], (path, number, lines)
lines[number - 1] = lines[number - 1].replace("old", "new")
path.write_text("".join(lines))
"""


class Bench:
    """A tree without git: it knows what changed from a copy of the beginning."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.base, self.scripts = folder / "tree", folder / "base", folder / "scripts"
        for path in (self.tree, self.scripts):
            path.mkdir()
        self.commits: list[tuple[Change, ...]] = []
        self.tried = 0

    def put(self, name: str, content: str | bytes) -> Path:
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return self.tree / name

    def axis(self, find_script: str = FIND, edit_script: str = EDIT) -> Commands:
        (self.scripts / "find.py").write_text(find_script)
        (self.scripts / "edit.py").write_text(edit_script)
        return Commands(
            find=f"{sys.executable} {self.scripts}/find.py",
            edit=f"{sys.executable} {self.scripts}/edit.py",
        )

    def changed(self) -> Sequence[str]:
        self.tried += 1
        names = {*walked(self.tree), *walked(self.base)}
        return sorted(
            name for name in names if _state(self.tree / name) != _state(self.base / name)
        )

    def restore(self, paths: Sequence[str]) -> None:
        for path in paths:
            (self.tree / path).unlink(missing_ok=True)
            if os.path.lexists(self.base / path):
                shutil.copy2(self.base / path, self.tree / path, follow_symlinks=False)

    def commit(self, changes: Sequence[Change]) -> None:
        self.commits.append(tuple(changes))

    def work(
        self, axis: Commands, *, exclude: frozenset[str] = frozenset(), grain: Grain = "finding"
    ) -> Worked:
        shutil.copytree(self.tree, self.base, symlinks=True)
        return work(
            self.tree,
            axis,
            allowed=None,
            cache=self.tree.parent / "cache",
            commit=self.commit,
            exclude=exclude,
            grain=grain,
            tree=self,
        )

    @property
    def contents(self) -> list[dict[str, bytes | None]]:
        return [{change.path: change.content for change in changes} for changes in self.commits]


def _state(path: Path) -> object:
    if path.is_symlink():
        return path.readlink()
    return (path.read_bytes(), path.stat().st_mode) if path.exists() else None


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_each_site_is_edited_and_committed_on_its_own(bench: Bench):
    bench.put("a.txt", "old\nx\nold old\n")
    bench.put("b.txt", "old\n")

    worked = bench.work(bench.axis())

    assert bench.contents == [
        {"a.txt": b"new\nx\nold old\n"},
        {"a.txt": b"new\nx\nnew new\n"},
        {"b.txt": b"new\n"},
    ]
    assert bench.commits[0][0].subject == "Edit R1 in a.txt:1: say new"
    assert [site.line for changes in bench.commits for site in changes[0].sites] == [1, 3, 1]
    assert (worked.commits, worked.rounds, worked.left.sites, worked.left.notes) == (3, 1, (), ())


def test_a_site_that_an_earlier_edit_moved_is_edited_where_it_went(bench: Bench):
    """F14."""
    bench.put("a.txt", "old\nx\nold\n")
    grow = EDIT.replace('.replace("old", "new")', '.replace("old", "new\\nnew\\nnew")')

    worked = bench.work(bench.axis(edit_script=grow))

    assert bench.contents[-1] == {"a.txt": b"new\nnew\nnew\nx\nnew\nnew\nnew\n"}
    assert (worked.commits, worked.rounds) == (2, 1)


def test_a_change_that_only_adds_a_file_is_handed_over(bench: Bench):
    """F13."""
    bench.put("a.txt", "one\n")
    lister = 'import os, json\nif not os.path.exists("new.md"): print(json.dumps({"path": "a.txt", "id": "doc"}))\n'

    worked = bench.work(bench.axis(lister, 'open("new.md", "w").write("text")\n'))

    assert bench.contents == [{"new.md": b"text"}]
    assert [site.path for site in bench.commits[0][0].sites] == ["a.txt"]
    assert worked.left.sites == ()


def test_a_change_may_span_files_and_remove_one(bench: Bench):
    bench.put("a.txt", "old\n")
    bench.put("gone.md", "x")
    bench.put("kept.md", "x")

    bench.work(
        bench.axis(edit_script=EDIT + 'os.remove("gone.md")\nos.symlink("kept.md", "link.md")\n')
    )

    assert bench.contents == [{"a.txt": b"new\n", "gone.md": None, "link.md": b"kept.md"}]
    assert sum(len(change.sites) for change in bench.commits[0]) == 1


def test_an_edit_that_changes_nothing_is_noted_and_the_others_go_on(bench: Bench):
    bench.put("a.txt", "old\n")
    bench.put("b.txt", "old\n")

    worked = bench.work(
        bench.axis(
            edit_script='import os\nif os.environ["SWATHE_PATH"] == "a.txt": exit()\n' + EDIT
        )
    )

    assert bench.contents == [{"b.txt": b"new\n"}]
    assert worked.left.notes == ("1 of the sites: no edit",)
    assert [site.path for site in worked.left.sites] == ["a.txt"]


def test_an_edit_that_fails_leaves_the_tree_as_it_was(bench: Bench):
    bench.put("a.txt", "old\nold\n")
    file = bench.put("b.txt", "old\n")
    file.chmod(0o755)
    fail = (
        EDIT + 'if path.name == "b.txt" or number == 2: open("rest", "w"); path.unlink(); exit(3)\n'
    )

    worked = bench.work(bench.axis(edit_script=fail))

    assert bench.contents == [{"a.txt": b"new\nold\n"}]
    assert list(walked(bench.tree)) == ["a.txt", "b.txt"]
    assert (bench.tree / "a.txt").read_bytes() == b"new\nold\n"
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"old\n", 0o755)
    assert worked.left.notes == ("2 of the sites: edit ended with exit code 3",)


def test_an_edit_that_leaves_its_own_site_behind_is_stopped(bench: Bench):
    bench.put("a.txt", "old\n")

    worked = bench.work(bench.axis(edit_script='open("a.txt", "a").write("more\\n")\n'))

    assert bench.contents == [{"a.txt": b"old\nmore\n"}]
    assert worked.left.notes == ("a.txt left alone: the edit leaves its own site behind",)


def test_an_edit_that_always_makes_new_sites_is_bounded(bench: Bench):
    bench.put("a.txt", "old\n")
    grow = EDIT.replace('.replace("old", "new")', '.replace("old", "oldest ")')

    assert bench.work(bench.axis(edit_script=grow)).rounds == 10


def test_excluded_sites_are_not_tried(bench: Bench):
    bench.put("a.txt", "old\nold\nold\n")
    axis = bench.axis()
    second = find(bench.tree, axis, allowed=None, cache=bench.tree).sites[1]

    bench.work(axis, exclude=frozenset({second.id}))

    assert bench.contents[-1] == {"a.txt": b"new\nold\nnew\n"}


@pytest.mark.parametrize(("grain", "commits"), [("finding", 3), ("file", 2), ("rule", 1)])
def test_a_commit_holds_what_the_grain_says(bench: Bench, grain: Grain, commits: int):
    bench.put("a.txt", "old\nold\n")
    bench.put("b.txt", "old\n")

    assert bench.work(bench.axis(), grain=grain).commits == commits
    assert sum(len(change.sites) for changes in bench.commits for change in changes) == 3


def test_a_file_in_latin_1_with_windows_line_ends_keeps_its_bytes(bench: Bench):
    """F1, F2: what the command wrote is what is handed over."""
    bench.put("a.bin.txt", b"caf\xe9\r\nold\r\n")
    lister = 'import json\nprint(json.dumps({"path": "a.bin.txt", "line": 2}))\n'
    edit = 'p = "a.bin.txt"\nb = open(p, "rb").read().replace(b"old", b"new")\nopen(p, "wb").write(b)\n'

    bench.work(bench.axis(lister, edit))

    assert bench.contents == [{"a.bin.txt": b"caf\xe9\r\nnew\r\n"}]


def test_the_edit_is_told_the_site_and_no_key_of_ours(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    bench.put("a.txt", "x\nold\n")

    bench.work(
        bench.axis(
            edit_script='import os, json\njson.dump(dict(os.environ), open("told.json", "w"))\n'
        )
    )

    told = json.loads(bench.contents[0]["told.json"] or b"")
    assert json.loads(told["SWATHE_SITE"]) | {"id": ""} == {
        "path": "a.txt", "line": 2, "end_line": 2, "rule": "R1", "message": "Say new", "id": "",
    }  # fmt: skip
    assert (told["SWATHE_PATH"], told["SWATHE_LINE"]) == ("a.txt", "2")
    assert "ANTHROPIC_API_KEY" not in told


def test_a_hostile_name_reaches_the_edit_as_it_is(bench: Bench):
    name = os.fsdecode(b"-new\nli'ne $(id) \xff.txt")
    bench.put(name, "old\n")
    lister = f"import json\nprint(json.dumps({{'path': {name!r}}}))\n"
    edit = "import os\nopen(os.environ['SWATHE_PATH'], 'w').write('new')\n"

    bench.work(bench.axis(lister, edit))

    assert bench.contents == [{name: b"new"}]


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x.txt", "gone.txt", "link.txt", "", "fifo.txt"]
)
def test_a_site_outside_the_tree_is_dropped_and_counted(bench: Bench, path: str):
    bench.put("a.txt", "old\n")
    (bench.tree.parent / "x.txt").write_text("old\n")
    (bench.tree / "link.txt").symlink_to("../x.txt")
    os.mkfifo(bench.tree / "fifo.txt")
    lister = f'import json\nfor p in ("a.txt", {path!r}): print(json.dumps({{"path": p}}))\n'

    listing = find(bench.tree, bench.axis(lister), allowed=None, cache=bench.tree)

    assert [site.path for site in listing.sites] == ["a.txt"]
    assert len(listing.notes) == 1


def test_the_scope_limits_what_find_may_name(bench: Bench):
    bench.put("a.txt", "old\n")
    bench.put("b.txt", "old\n")

    listing = find(bench.tree, bench.axis(), allowed=frozenset({"b.txt"}), cache=bench.tree)

    assert [site.path for site in listing.sites] == ["b.txt"]
    assert listing.notes == ("sites outside the scope: 1",)


def test_remarks_of_find_are_no_sites(bench: Bench):
    bench.put("a.txt", "old\n")
    chatty = 'import sys\nprint("looking")\nprint("{", file=sys.stderr)\n' + FIND

    assert len(find(bench.tree, bench.axis(chatty), allowed=None, cache=bench.tree).sites) == 1


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('print("{not json")', "line 1 of .* is no site"),
        ("print('{\"line\": 3}')", "Field required"),
        ('print(\'{"path": "a.txt", "line": 0}\')', "greater than or equal to 1"),
        ('import sys\nsys.exit("no such table")', "ended with exit code 1: 'no such table'"),
    ],
)
def test_a_find_that_goes_wrong_is_refused_with_its_words(bench: Bench, script: str, said: str):
    bench.put("a.txt", "old\n")
    with pytest.raises(Refused, match=said):
        find(bench.tree, bench.axis(script), allowed=None, cache=bench.tree)


def test_a_find_that_prints_nothing_is_the_end(bench: Bench):
    worked = bench.work(bench.axis(""))

    assert (worked.commits, worked.left.sites) == (0, ())


def test_a_message_of_a_megabyte_is_cut(bench: Bench):
    bench.put("a.txt", "old\n")
    lister = FIND.replace('"Say new"', '"x" * 1_000_000')

    assert bench.work(bench.axis(lister)).commits == 1
