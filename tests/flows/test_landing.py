"""A campaign that lands: what is on the branch afterwards, and what is not."""

import os

import pytest
from harness import CHECKS, breaks, sh

from domain.value import Refused

pytestmark = pytest.mark.flow


def test_every_site_lands_as_a_commit_of_its_own(make):
    repo = make(3, pytest=True)

    report = repo.run()

    assert report.ending == "complete"
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m2.py:1", "m3.py:1"]
    assert repo.log() == [commit.sha for commit in report.landed]
    assert repo.landed("m2.py") == "VALUE = 2  # DONE:m2"
    assert report.gate_runs == 3, "the base, the broken base, and one batch"


def test_a_commit_that_breaks_a_test_is_parked_with_the_test_it_breaks(make):
    repo = make(3, pytest=True)
    repo.edits("m2", breaks(2))

    report = repo.run()

    assert report.ending == "exhausted"
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m3.py:1"]
    (parked,) = report.parked
    assert (parked.site, parked.reason) == ("m2.py:1", "red")
    assert [failure.test for failure in parked.failures] == ["tests/test_m2.py::test_m2"]
    assert repo.refs[parked.ref] == parked.sha


def test_two_sites_of_one_file_land_as_two_commits(make):
    """F14: the first edit moves the second site down."""
    repo = make(1, {"m1.py": "VALUE = 1  # SITE:one\nOTHER = 2  # SITE:two\n"})
    repo.edits("one", "sed -i 's/SITE:one/DONE/; 1a # a line\\n# another' m1.py")

    report = repo.run()

    assert report.ending == "complete"
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m1.py:2"]
    assert repo.landed("m1.py") == "VALUE = 1  # DONE\n# a line\n# another\nOTHER = 2  # DONE:two"


def test_a_change_that_only_adds_files_lands(make):
    """F13: the site goes away because a file is there."""
    repo = make(1)
    find = f"sh {repo.tools}/find-missing.sh"
    (repo.tools / "find-missing.sh").write_text(
        '[ -e doc/m1.md ] || echo \'{"path":"m1.py","line":1,"rule":"doc"}\'\n'
    )

    report = repo.run(axis=f"cmd:{find} => mkdir -p doc; echo About > doc/m1.md")

    assert report.ending == "complete"
    assert repo.git("show", "--format=", "--name-status", report.tip) == "A\tdoc/m1.md"


def test_what_the_gate_writes_is_in_no_commit(make):
    """F12, T32: nothing ignores these files."""
    repo = make(2)
    repo.gate(f"mkdir -p build; touch build/out .env run.log\n{CHECKS}")

    report = repo.run(verify_each=True)

    assert report.ending == "complete"
    assert repo.git("diff", "--name-only", "main", repo.branch).split() == ["m1.py", "m2.py"]


def test_uncommitted_work_is_neither_seen_nor_touched(make):
    """F4, T54: modified, staged and untracked files, and the lock of somebody else's git."""
    repo = make(2)
    repo.write({"m2.py": "VALUE = 7\n", "staged.py": "# SITE:staged\n", "new.py": "# SITE:new\n"})
    repo.git("add", "staged.py")
    repo.write({".git/index.lock": ""})
    mine = [
        repo.folder / name
        for name in ("m2.py", "staged.py", "new.py", ".git/index", ".git/index.lock", ".git/HEAD")
    ]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in mine]

    report = repo.run()

    assert report.ending == "complete"
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m2.py:1"]
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in mine] == before
    assert any("3 uncommitted files" in note and "not seen" in note for note in report.notes)


def test_a_clean_work_tree_gets_no_such_note(make):
    assert not any("uncommitted" in note for note in make(1).run().notes)


def test_a_detached_head_is_a_base(make):
    """F7."""
    repo = make(2)
    repo.git("checkout", "-q", "--detach")
    repo.git("branch", "-m", "main", "trunk")

    report = repo.run()

    assert report.ending == "complete"
    assert repo.git("rev-parse", "trunk") == report.base


def test_a_shallow_clone_is_worked_on(make, tmp_path):
    """F7."""
    origin = make(2)
    origin.write({"later.txt": "more\n"}).commit("Later")
    repo = make(0, name="shallow")
    repo.git("fetch", "-q", "--depth", "1", f"file://{origin.folder}", "main")
    repo.git("checkout", "-q", "FETCH_HEAD")
    assert (repo.folder / ".git" / "shallow").exists()

    report = repo.run()

    assert report.ending == "complete"
    assert len(repo.log(since=report.base)) == 2


def test_a_linked_worktree_is_a_target_and_its_head_is_the_base(make, tmp_path):
    """F7, T51, T53."""
    repo = make(2)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "m1.py").write_text("VALUE = 1  # done by hand\n")
    repo.git("-C", str(tmp_path / "side"), "commit", "-q", "-a", "-m", "By hand")
    side = repo.git("rev-parse", "side")

    report = repo.run(repo=str(tmp_path / "side"))

    assert report.base == side
    assert [commit.site for commit in report.landed] == ["m2.py:1"]
    assert repo.git("merge-base", "side", repo.branch) == side
    assert repo.git("-C", str(tmp_path / "side"), "status", "--porcelain") == ""


def test_the_base_that_was_asked_for_is_the_base(make):
    """T53: and it is named in the report."""
    repo = make(2)
    first = repo.git("rev-parse", "HEAD")
    repo.write({"m1.py": "VALUE = 1\n"}).commit("Done by hand")

    report = repo.run(base="HEAD~1")

    assert report.base == first
    assert len(report.landed) == 2


def test_a_branch_that_somebody_stands_on_is_not_moved(make):
    """T50, T51."""
    repo = make(2)
    report = repo.run(budget={"max_passes": 1}, paths=("m1.py",))
    repo.git("checkout", "-q", repo.branch.removeprefix("refs/heads/"))

    with pytest.raises(Refused, match="is checked out in"):
        repo.run(base="main")

    assert repo.git("rev-parse", "HEAD") == report.tip
    repo.git("checkout", "-q", "main")
    assert repo.run().ending == "complete"


def test_the_scope_is_what_the_globs_say(make):
    repo = make(3)

    report = repo.run(paths=("m2.py", "tests/"))

    assert report.ending == "complete"
    assert [commit.site for commit in report.landed] == ["m2.py:1"]
    assert repo.landed("m1.py").endswith("SITE:m1")


def test_the_scope_can_be_what_a_branch_touched(make):
    repo = make(3)
    repo.git("checkout", "-q", "-b", "feature")
    repo.write({"m3.py": "VALUE = 3  # SITE:m3, touched\n"}).commit("Touch one")
    repo.git("checkout", "-q", "main")
    repo.write({"m1.py": "VALUE = 1  # SITE:m1, too\n"}).commit("Touch another on main")
    repo.git("checkout", "-q", "feature")

    report = repo.run(branch="main")

    assert [commit.site for commit in report.landed] == ["m3.py:1"]
    assert report.ending == "complete"


CLASSES = "class A(object):\n    x = 1\n\n\nclass B(object):\n    y: 'int' = 2\n"


@pytest.mark.parametrize(("grain", "commits"), [("finding", 4), ("file", 2), ("rule", 1)])
def test_the_grain_says_what_one_commit_settles(make, grain, commits):
    repo = make(1, {"a.py": CLASSES, "b.py": CLASSES})
    repo.gate(f"python -m compileall -q a.py b.py || exit 1\n{CHECKS}")

    report = repo.run(axis="ruff:UP004", grain=grain)

    assert report.ending == "complete"
    assert len(report.landed) == commits
    assert repo.landed("a.py") == CLASSES.replace("(object)", "").rstrip("\n")


def test_a_url_is_worked_on_in_a_mirror_of_ours(make):
    origin = make(2)
    before = origin.files()

    report = origin.run(repo=f"file://{origin.folder}")

    assert report.ending == "complete"
    assert origin.files() == before
    assert sh(report.take, origin.folder).ok
    assert origin.git("rev-parse", report.branch) == report.tip
    again = origin.run(repo=f"file://{origin.folder}")
    assert again.ending == "nothing-to-do"


RULE = """
id: no-var
language: javascript
rule: { pattern: "var $A = $B;" }
fix: "let $A = $B;"
"""


def test_an_ast_grep_axis_runs_on_javascript_with_a_shell_gate(make, tmp_path):
    repo = make(
        0,
        {
            "a.js": "var one = 1;\nvar two = 2;\n",
            "b.js": "var three = 3;\n",
            "use.txt": "one\ntwo\nthree\n",
        },
    )
    (tmp_path / "no-var.yml").write_text(RULE)
    gate = 'while read name; do grep -qxE "(var|let) $name = [0-9];" $(ls *.js) || exit 1; done < use.txt; head -qn1 *.js | grep -qv . && exit 1 || exit 0'

    report = repo.run(axis=f"ast-grep:{tmp_path / 'no-var.yml'}", verify=(gate,))

    assert report.ending == "complete"
    assert report.branch == "swathe/ast-grep-no-var-" + report.branch.rsplit("-", 1)[1]
    assert repo.landed("a.js") == "let one = 1;\nlet two = 2;"
    assert len(report.landed) == 3


def test_the_command_that_takes_the_work_home_does(make):
    """T71."""
    repo = make(2)
    report = repo.run()

    done = sh(report.take, repo.folder)

    assert done.ok, done.errors
    assert repo.git("rev-parse", "main") == report.tip == repo.log(since=report.base)[-1]
    assert repo.run().ending == "nothing-to-do"


HOSTILE = (
    b"a space.txt", b"new\nline.txt", b'quo"te.txt', b"apo'strophe.txt", b"-rf.txt", b"--upload-pack=x", b"\xff.txt",
    b":(exclude)a", b":!b", b"*", b"?.txt", b"[ab].txt", b"back\\slash.txt", b"tab\tin.txt", "\u202ebidi.txt".encode(),
    "\u00e9.txt".encode(), b"#hash.txt", b"$(id).txt", b"n" * 250 + b".txt",
)  # fmt: skip
FIND_ALL = """
import json, os
for name in sorted(os.listdir(b".")):
    if os.path.isfile(name) and b"SITE" in open(name, "rb").read():
        print(json.dumps({"path": os.fsdecode(name), "line": 1, "rule": "site"}))
"""
EDIT_ONE = """
import os
path = os.environb[b"SWATHE_PATH"]
data = open(path, "rb").read().replace(b"SITE", b"DONE")
open(path, "wb").write(data)
"""


def test_files_with_hostile_names_are_edited_and_nothing_else_is(make):
    """F9."""
    repo = make(0, {"VALUE.py": "VALUE = 1\n", "tests/values": "VALUE.py 1\n"})
    content = b"a line \xe9 SITE\r\n"
    for name in HOSTILE:
        (repo.folder / os.fsdecode(name)).write_bytes(content)
    repo.commit("Hostile")
    (repo.tools / "find.py").write_text(FIND_ALL)
    (repo.tools / "edit.py").write_text(EDIT_ONE)
    gate = 'for file in *; do [ -d "$file" ] || ! head -c1 -- "./$file" | grep -qx \'\' || exit 1; done'

    report = repo.run(
        axis=f"cmd:python3 {repo.tools}/find.py => python3 {repo.tools}/edit.py", verify=(gate,)
    )

    assert report.parked == ()
    assert (report.ending, len(report.landed)) == ("complete", 19)
    listed = repo.tools / "changed"
    assert sh(f"git diff -z --name-only main {repo.branch} > {listed}", repo.folder).ok
    assert sorted(listed.read_bytes().removesuffix(b"\0").split(b"\0")) == sorted(HOSTILE)
    assert repo.git("diff", "--shortstat", "main", repo.branch).strip() == (
        "19 files changed, 19 insertions(+), 19 deletions(-)"
    )
