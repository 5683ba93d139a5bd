import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.executors.codemod import find, work
from adapters.executors.reading import walked
from adapters.processes.tool import run_tool, tool_path
from domain.axis import AstGrep, Axis, Ruff, Sentence
from domain.change import Change, Grain, Worked
from domain.value import Refused

FORMAT = '"{}".format(1)'
ELSE = "def f(a):\n    if a:\n        return 1\n    elif a is None:\n        return 2\n    else:\n        return 3\n"


class Bench:
    """A tree, and the commits that were made from it."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.cache = folder / "cache"
        self.commits: list[tuple[Change, ...]] = []

    def put(self, name: str, content: str | bytes) -> Path:
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return self.tree / name

    def commit(self, changes: Sequence[Change]) -> None:
        self.commits.append(tuple(changes))

    def work(
        self,
        axis: Axis,
        *,
        exclude: frozenset[str] = frozenset(),
        grain: Grain = "finding",
        max_rounds: int = 100,
    ) -> Worked:
        return work(
            self.tree,
            axis,
            allowed=frozenset(walked(self.tree)),
            cache=self.cache,
            commit=self.commit,
            exclude=exclude,
            grain=grain,
            max_rounds=max_rounds,
        )

    @property
    def contents(self) -> list[bytes | None]:
        return [change.content for changes in self.commits for change in changes]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_each_site_is_a_commit_and_the_last_one_is_the_tree(bench: Bench):
    """F14: two sites in one file, the second moved by the first one's edit."""
    file = bench.put("a.py", f"import os\nx = {FORMAT}\ny = {FORMAT}\n")

    worked = bench.work(Ruff(select="F401,UP032"))

    assert bench.contents == [
        f"x = {FORMAT}\ny = {FORMAT}\n".encode(),
        f'x = f"{{1}}"\ny = {FORMAT}\n'.encode(),
        b'x = f"{1}"\ny = f"{1}"\n',
    ]
    assert file.read_bytes() == bench.contents[-1]
    assert (worked.commits, worked.rounds, worked.left.sites) == (3, 1, ())
    assert bench.commits[1][0].subject == "Fix UP032 in a.py:2: use f-string instead of format call"


def test_a_file_with_windows_line_ends_keeps_every_other_byte(bench: Bench):
    """F1."""
    bench.put("a.py", f"x = 1\r\ny = {FORMAT}\r\n\r\nz = 2")

    bench.work(Ruff(select="UP032"))

    assert bench.contents == [b'x = 1\r\ny = f"{1}"\r\n\r\nz = 2']


def test_a_file_in_latin_1_keeps_every_other_byte(bench: Bench):
    """F2."""
    before = b"# -*- coding: latin-1 -*-\n# caf\xe9\nx = %s  # \xff\n" % FORMAT.encode()
    bench.put("a.py", before)

    bench.work(Ruff(select="UP032"))

    assert bench.contents == [before.replace(FORMAT.encode(), b'f"{1}"')]


def test_the_mode_of_a_file_stays(bench: Bench):
    """F3."""
    file = bench.put("a.py", f"x = {FORMAT}\n")
    file.chmod(0o755)

    bench.work(Ruff(select="UP032"))

    assert file.stat().st_mode & 0o777 == 0o755


def test_nothing_is_written_through_a_link(bench: Bench):
    outside = bench.tree.parent / "outside.py"
    outside.write_text(f"x = {FORMAT}\n")
    (bench.tree / "a.py").symlink_to(outside)
    bench.put("b.py", f"x = {FORMAT}\n")

    worked = bench.work(Ruff(select="UP032"))

    assert outside.read_text() == f"x = {FORMAT}\n"
    assert [changes[0].path for changes in bench.commits] == ["b.py"]
    assert worked.left.skipped == {"symlink": 1}


def test_hostile_names_come_back_byte_for_byte(bench: Bench):
    """F9."""
    names = [
        "new\nline.py",
        "-x.py",
        "@x.py",
        ":(exclude)a.py",
        "*.py",
        os.fsdecode(b"\xff.py"),
        "\u202ex.py",
    ]
    for name in names:
        bench.put(name, f"x = {FORMAT}\n")

    bench.work(Ruff(select="UP032"))

    assert [changes[0].path for changes in bench.commits] == sorted(names)
    assert all(changes[0].subject.isprintable() for changes in bench.commits)


def test_fixes_that_uncover_sites_are_followed_to_the_end(bench: Bench):
    file = bench.put("a.py", ELSE)

    worked = bench.work(Ruff(select="RET505"))

    assert (worked.commits, worked.rounds, worked.left.sites) == (2, 2, ())
    assert file.read_text().endswith("    if a is None:\n        return 2\n    return 3\n")


def test_two_fixes_that_break_a_file_together_are_made_one_after_the_other(bench: Bench):
    """Ruff keeps such fixes apart by isolation groups, which its JSON does not tell."""
    file = bench.put("a.py", "def f():\n    import os\n    import sys\n\n\nx = 1\n")

    worked = bench.work(Ruff(select="F401"))

    assert bench.contents == [
        b"def f():\n    import sys\n\n\nx = 1\n",
        b"def f():\n    pass\n\n\nx = 1\n",
    ]
    assert file.read_bytes() == bench.contents[-1]
    assert worked.left.sites == ()


def test_findings_with_one_and_the_same_edit_are_one_commit(bench: Bench):
    bench.put("a.py", "from typing import List, Dict\n")

    bench.work(Ruff(select="F401"))

    (((change),),) = bench.commits
    assert change.content == b""
    assert [site.message for site in change.sites] == [
        "`typing.List` imported but unused",
        "`typing.Dict` imported but unused",
    ]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_excluded_site_is_left_and_its_equals_are_not(bench: Bench, number: int):
    bench.put("a.py", f"x = {FORMAT}\n" * 3)
    axis = Ruff(select="UP032")
    sites = find(bench.tree, axis, allowed=None, cache=bench.cache).sites
    assert len({site.id for site in sites}) == 3
    assert len({site.key for site in sites}) == 1

    worked = bench.work(axis, exclude=frozenset({sites[number].id}))

    lines = ['x = f"{1}"\n'] * 3
    lines[number] = f"x = {FORMAT}\n"
    assert bench.contents[-1] == "".join(lines).encode()
    assert [site.line for site in worked.left.sites] == [number + 1]


def test_what_was_excluded_before_its_equals_landed_is_still_excluded(bench: Bench):
    bench.put("a.py", f"x = {FORMAT}\n" * 3)
    axis = Ruff(select="UP032")
    third = find(bench.tree, axis, allowed=None, cache=bench.cache).sites[2].id
    bench.put("a.py", f'x = f"{{1}}"\nx = f"{{1}}"\nx = {FORMAT}\n')

    assert bench.work(axis, exclude=frozenset({third})).commits == 0
    assert bench.work(axis).commits == 1


def test_a_finding_is_excluded_with_the_others_of_its_edit(bench: Bench):
    bench.put("a.py", "from typing import List, Dict\n")
    axis = Ruff(select="F401")
    one = find(bench.tree, axis, allowed=None, cache=bench.cache).sites[0]

    assert bench.work(axis, exclude=frozenset({one.id})).commits == 0


def test_the_grain_file_makes_one_commit_of_a_file(bench: Bench):
    bench.put("a.py", f"x = {FORMAT}\n{ELSE}")
    bench.put("b.py", f"x = {FORMAT}\n")

    worked = bench.work(Ruff(select="UP032,RET505"), grain="file")

    assert [
        [(change.path, len(change.sites)) for change in changes] for changes in bench.commits
    ] == [
        [("a.py", 3)],
        [("b.py", 1)],
    ]
    assert bench.commits[0][0].subject == "Fix UP032, RET505 in a.py (3 sites)"
    assert bench.commits[0][0].content == (bench.tree / "a.py").read_bytes()
    assert worked.commits == 2


def test_the_grain_rule_makes_one_commit_of_a_rule(bench: Bench):
    bench.put("a.py", f"x = {FORMAT}\n{ELSE}")
    bench.put("b.py", f"x = {FORMAT}\n")

    worked = bench.work(Ruff(select="UP032,RET505"), grain="rule")

    assert [changes[0].subject for changes in bench.commits] == [
        "Fix RET505 in a.py (2 sites)",
        "Fix UP032 in 2 files (2 sites)",
    ]
    assert FORMAT.encode() in (bench.commits[0][0].content or b"")
    assert [change.path for change in bench.commits[1]] == ["a.py", "b.py"]
    assert worked.commits == 2


@pytest.mark.parametrize("grain", ["finding", "file", "rule"])
def test_every_grain_ends_with_the_same_tree(bench: Bench, grain: Grain):
    bench.put("a.py", f"import os\nx = {FORMAT}\n{ELSE}")

    bench.work(Ruff(select="F401,UP032,RET505"), grain=grain)

    assert (bench.tree / "a.py").read_text() == (
        'x = f"{1}"\ndef f(a):\n    if a:\n        return 1\n    if a is None:\n        return 2\n    return 3\n'
    )


def test_two_runs_make_the_same_commits(bench: Bench, tmp_path: Path):
    for name in ("b.py", "a.py", "c/d.py"):
        bench.put(name, f"import os\nx = {FORMAT}\n{ELSE}")
    (tmp_path / "second").mkdir()
    other = Bench(tmp_path / "second")
    shutil.copytree(bench.tree, other.tree, dirs_exist_ok=True)

    bench.work(Ruff(select="F401,UP032,RET505"))
    other.work(Ruff(select="F401,UP032,RET505"))

    assert bench.commits == other.commits


def test_rules_that_undo_each_other_end(bench: Bench):
    file = bench.put("a.py", "a(1)\n")
    rules = (
        "id: to-b\nlanguage: python\nrule: {pattern: a($X)}\nfix: b($X)\n---\n"
        "id: to-a\nlanguage: python\nrule: {pattern: b($X)}\nfix: a($X)\n"
    )

    worked = bench.work(AstGrep(rule=rules))

    assert bench.contents == [b"b(1)\n"]
    assert file.read_bytes() == b"b(1)\n"
    assert worked.left.notes == ("a.py left alone: its fixes undo each other",)


def test_a_rule_that_matches_what_it_wrote_changes_nothing(bench: Bench):
    file = bench.put("a.py", "f(1)\n")
    bench.put("b.py", "h(1)\n")

    worked = bench.work(
        AstGrep(rule="id: x\nlanguage: python\nrule: {pattern: f($X)}\nfix: 'f(f($X))'\n")
    )

    assert bench.commits == []
    assert file.read_bytes() == b"f(1)\n"
    assert worked.left.notes == ("a.py left alone: its rule matches what it wrote",)


def test_nested_matches_are_changed_from_the_outside_in(bench: Bench):
    bench.put("a.py", "f(f(f(1)))\n")

    worked = bench.work(
        AstGrep(rule="id: x\nlanguage: python\nrule: {pattern: f($X)}\nfix: g($X)\n")
    )

    assert bench.contents == [b"g(f(f(1)))\n", b"g(g(f(1)))\n", b"g(g(g(1)))\n"]
    assert worked.left.notes == ()


def test_an_edit_that_changes_nothing_makes_no_commit(bench: Bench):
    bench.put("a.py", "f(1)\n")

    worked = bench.work(
        AstGrep(rule="id: x\nlanguage: python\nrule: {pattern: f($X)}\nfix: f($X)\n")
    )

    assert worked.commits == 0
    assert len(worked.left.sites) == 1


def test_rounds_are_bounded_and_what_is_open_is_named(bench: Bench):
    bench.put("a.py", ELSE)

    worked = bench.work(Ruff(select="RET505"), max_rounds=1)

    assert worked.commits == 1
    assert worked.left.notes == ("a.py not settled after 1 rounds",)
    assert bench.work(Ruff(select="RET505")).left.notes == ()


def test_the_scope_is_kept_and_an_empty_one_holds_nothing(bench: Bench):
    bench.put("a.py", f"x = {FORMAT}\n")
    bench.put("b.py", f"x = {FORMAT}\n")
    axis = Ruff(select="UP032")

    assert find(bench.tree, axis, allowed=frozenset(), cache=bench.cache).sites == ()
    work(bench.tree, axis, allowed=frozenset({"b.py"}), cache=bench.cache, commit=bench.commit)

    assert [changes[0].path for changes in bench.commits] == ["b.py"]


def test_a_sentence_is_refused(bench: Bench):
    with pytest.raises(Refused, match="Choose a model executor"):
        bench.work(Sentence(text="make it better"))


@pytest.mark.parametrize("select", ["RET505", "UP,C4,SIM", "F401,I,UP", "PIE790", "ALL"])
def test_the_end_is_what_ruff_itself_would_write(bench: Bench, tmp_path: Path, select: str):
    for at, source in enumerate(sorted(Path(__file__).parents[2].glob("tests/**/*.py"))[:12]):
        bench.put(f"m{at}.py", source.read_text())
    bench.put(
        "x.py",
        f"import os, sys\nfrom typing import List, Optional\nx: Optional[List[int]] = {FORMAT}\n{ELSE}",
    )
    bench.put("y.py", f"\ufeffimport sys\r\ndef f():\r\n    pass\r\n    pass\r\nx = {FORMAT}\r\n")
    theirs = tmp_path / "theirs"
    shutil.copytree(bench.tree, theirs)

    bench.work(Ruff(select=select))
    fixed = [
        tool_path("ruff"),
        "check",
        "--fix",
        "--exit-zero",
        "--no-cache",
        "--select",
        select,
        ".",
    ]
    run_tool(fixed, cwd=theirs)

    for name in walked(theirs):
        assert (bench.tree / name).read_bytes() == (theirs / name).read_bytes(), name


AT_ONE = {"commit": "one", "allowed": frozenset({"a.py"})}


@pytest.mark.parametrize(
    ("told", "at", "allowed"),
    [
        (AT_ONE, "one", {"a.py"}),
        (AT_ONE, "two", {"a.py"}),
        (AT_ONE, "one", {"a.py", "b.py"}),
        ({**AT_ONE, "commit": ""}, "one", {"a.py"}),
        ({**AT_ONE, "allowed": frozenset({"a.py", "b.py"})}, "one", {"a.py"}),
        ({**AT_ONE, "allowed": frozenset({"b.py"})}, "one", {"a.py"}),
    ],
    ids=["the same", "another commit", "more files", "no commit", "fewer files", "other files"],
)
def test_a_pass_changes_the_same_whatever_was_looked_at_before(bench: Bench, told, at, allowed):
    for name in ("a.py", "b.py"):
        bench.put(name, f"x = {FORMAT}\n")
    axis = Ruff(select="UP032")
    find(bench.tree, axis, cache=bench.cache, **told)
    if at == "two":
        bench.put("a.py", f"import os\nx = {FORMAT}\n")

    worked = work(
        bench.tree,
        axis,
        allowed=frozenset(allowed),
        cache=bench.cache,
        commit=bench.commit,
        at=at,
    )

    before = b"import os\n" if at == "two" else b""
    assert bench.contents == [before + b'x = f"{1}"\n', b'x = f"{1}"\n'][: len(allowed)]
    assert worked.commits == len(allowed)
    assert worked.left.sites == ()
