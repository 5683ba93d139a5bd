"""Reading a chain: every fact that admission asks for, from raw modes, numbers and lines."""

import os

import pytest
from repos import HOSTILE, Campaign, Repo

from adapters.repository.chains import MAX_LINK, read_chain
from adapters.repository.workspaces import store


@pytest.fixture(name="read")
def _read(target: Repo, campaign: Campaign):
    """Read what the target's branch has since a commit, through a store that borrows from it."""
    base = target.head

    def read(since: str = base):
        return read_chain(store(campaign.workspace), since, target.head)

    return read


def test_an_empty_chain_is_no_commits(read):
    assert read() == ()


def test_commits_come_oldest_first_with_tree_parents_and_message(target, read):
    first = target.commit({"a.py": "1\n"}, "one\n\nbody\nof two lines")
    second = target.commit({"a.py": "2\n"}, "two")

    one, two = read()

    assert (one.sha, two.sha) == (first, second)
    assert (one.subject, one.body, two.body) == ("one", "body\nof two lines", "")
    assert two.parents == (first,)
    assert two.tree == target.git("rev-parse", "HEAD^{tree}")


def test_an_empty_message_is_read(target, read):
    target.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")

    assert (read()[0].subject, read()[0].changes) == ("", ())


def test_kinds_of_changes_are_told_apart(target, read):
    target.commit({"new.py": "1\n2\n", "pkg/b.py": None, "a.py": "one\n"})

    changes = {change.path: change for change in read()[0].changes}

    assert (changes["new.py"].adds, changes["new.py"].added, changes["new.py"].size) == (True, 2, 4)
    assert (changes["pkg/b.py"].deletes, changes["pkg/b.py"].deleted, changes["pkg/b.py"].size) == (
        True,
        1,
        0,
    )
    assert (changes["a.py"].adds, changes["a.py"].deleted) == (False, 8)


def test_one_replaced_token_is_one_line_each_way_also_with_windows_line_ends(target, read):
    """F1."""
    base = target.commit({"c.py": b"x = 1\r\ny = 2\r\n"})
    target.commit({"c.py": b"x = 1\r\ny = 3\r\n"})

    (change,) = read(base)[0].changes

    assert (change.added, change.deleted, change.line_endings) == (1, 1, False)


def test_changed_line_endings_are_noticed(target, read):
    base = target.commit({"c.py": b"x = 1\r\ny = 2\r\n", "d.py": "x\n"})
    target.commit({"c.py": b"x = 1\ny = 3\n", "d.py": "y\n"})

    changes = {change.path: change.line_endings for change in read(base)[0].changes}

    assert changes == {"c.py": True, "d.py": False}


def test_binary_content_is_noticed_and_text_in_another_encoding_is_text(target, read):
    """F2."""
    target.commit({"x.bin": b"\0\1", "latin.py": b"# caf\xe9\n"})

    assert {c.path: c.binary for c in read()[0].changes} == {"x.bin": True, "latin.py": False}


def test_attributes_of_the_repository_do_not_hide_a_change(target, read):
    """`-diff` would make a text file look binary, `binary` a script unseen."""
    target.commit({".gitattributes": "*.py -diff\n*.sh binary\n"})
    base = target.head
    target.commit({"a.py": "2\n", "x.sh": "y\n"})

    assert [(c.path, c.binary) for c in read(base)[0].changes] == [("a.py", False), ("x.sh", False)]


def test_modes_links_and_submodules_are_told(target, read, tmp_path):
    (target.folder / "a.py").chmod(0o755)
    (target.folder / "link").symlink_to("../../etc/passwd")
    (target.folder / "pkg/b.py").unlink()
    (target.folder / "pkg/b.py").symlink_to("../a.py")
    target.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    target.git("add", "a.py", "link", "pkg/b.py")
    target.git("commit", "-q", "-m", "x")

    changes = {change.path: change for change in read()[0].changes}

    assert (changes["a.py"].old_mode, changes["a.py"].new_mode) == ("100644", "100755")
    assert (changes["link"].new_mode, changes["link"].link) == ("120000", "../../etc/passwd")
    assert (changes["pkg/b.py"].old_mode, changes["pkg/b.py"].link) == ("100644", "../a.py")
    assert (changes["sub"].new_mode, changes["sub"].size) == ("160000", 0)


def test_a_link_too_long_for_a_path_points_nowhere(target, read):
    blob = target.folder / "long"
    blob.write_text("x/" * MAX_LINK)
    oid = target.git("hash-object", "-w", "long")
    target.git("update-index", "--add", "--cacheinfo", f"120000,{oid},link")
    target.git("commit", "-q", "-m", "x")

    assert read()[0].changes[0].link == ""


def test_hostile_names_come_out_as_they_went_in(target, read):
    """F9."""
    target.commit(dict.fromkeys(HOSTILE, "x\n"))

    assert {change.path for change in read()[0].changes} == set(HOSTILE)
    assert all(change.added == 1 for change in read()[0].changes)


def test_text_after_many_bytes_cannot_forge_a_record(target, read):
    """A NUL beyond the first 8,000 bytes leaves a file a text one, and the records are NUL-separated."""
    forged = (
        b"x\n" * 5000 + b"\0:000000 100644 %s %s A\0forged.py\0" % (b"0" * 40, b"1" * 40) + b"\n"
    )
    target.commit({"big.txt": forged})

    assert [change.path for change in read()[0].changes] == ["big.txt"]


def test_a_line_that_is_a_commit_id_does_not_end_a_diff(target, read):
    target.commit({"a.py": "old_name\n"})
    sha = target.head
    target.commit({"a.py": f"{sha}\n", "z.py": "z\n"})

    assert read()[1].removed == ("old_name",)


def test_a_merge_commit_has_both_parents_and_what_it_brings_to_the_first(target, read):
    target.git("checkout", "-q", "-b", "side")
    target.commit({"side.py": "s\n"})
    target.git("checkout", "-q", "main")
    target.commit({"a.py": "m\n"})
    target.git("merge", "-q", "--no-ff", "-m", "merged", "side")
    target.commit({"a.py": "after = removed_word\n"})

    first, merge, after = read()

    assert (len(first.parents), len(merge.parents), len(after.parents)) == (1, 2, 1)
    assert merge.paths == ("side.py",)


def test_identifiers_that_a_commit_removes_are_kept_and_the_moved_ones_are_not(target, read):
    target.commit({"a.py": "import first, second\nvalue = third\n"})
    target.commit({"a.py": "import first\nvalue = third\n"})

    assert read()[1].removed == ("second",)


def test_a_commit_made_in_another_encoding_is_read(target, read):
    target.raw(
        "-c",
        "i18n.commitEncoding=ISO-8859-1",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        os.fsdecode(b"caf\xe9"),
    )

    assert read()[0].subject == "café"


def test_many_commits_are_read_by_few_processes(target, read):
    for n in range(30):
        target.commit({f"f{n}.py": f"{n}\n"})

    assert [commit.paths for commit in read()] == [(f"f{n}.py",) for n in range(30)]


def test_paths_with_a_filter_are_told_by_the_attributes_of_the_base(target, read):
    """Of every folder above, with what a nearer one takes back, macros and odd names."""
    base = target.commit(
        {
            ".gitattributes": "[attr]big filter=lfs -text\n*.bin big\n*.x filter=x\n*.none filter\n",
            "deep/.gitattributes": "*.x -filter\n*.py filter=strip\n",
        }
    )
    names = (
        "a.bin",
        "new\nline.bin",
        "d\ne/a.bin",
        "\udcff.x",
        "deep/a.x",
        "deep/er/a.py",
        "a.none",
        "top.py",
    )
    target.commit(dict.fromkeys(names, "1\n"))

    found = {change.path: change.filter for change in read(base)[0].changes}

    assert found == {
        "a.bin": "lfs", "new\nline.bin": "lfs", "d\ne/a.bin": "lfs", "\udcff.x": "x", "deep/a.x": "", "deep/er/a.py": "strip", "a.none": "",
        "top.py": "",
    }  # fmt: skip


def test_a_filter_that_the_chain_itself_brings_or_takes_away_counts(target, read):
    base = target.commit({".gitattributes": "*.bin filter=lfs\n"})
    target.commit({".gitattributes": "*.py filter=strip\n"})
    target.commit({"a.py": "2\n", "a.bin": "2\n"})

    assert {c.path: c.filter for c in read(base)[1].changes} == {"a.py": "strip", "a.bin": "lfs"}


def test_more_folders_than_a_command_line_holds_are_asked(target, read):
    base = target.commit({".gitattributes": "*.bin filter=lfs\n"})
    blob = target.git("hash-object", "-w", "a.py")
    long = "d" * 250
    rows = "".join(f"100644 {blob}\t{long}/{n:05d}{long}/{long}/a.bin\n" for n in range(2_000))
    (target.folder / ".git" / "rows").write_text(rows)
    target.git("-c", "alias.add-rows=!git update-index --index-info < .git/rows", "add-rows")
    target.git("commit", "-q", "-m", "x")

    changes = read(base)[0].changes

    assert len(changes) == 2_000
    assert {change.filter for change in changes} == {"lfs"}


def test_a_repository_without_a_filter_is_asked_nothing(target, read):
    base = target.commit({".gitattributes": "*.py diff=python\n"})
    target.commit({"a.py": "2\n", "pkg/b.py": None})

    assert [change.filter for change in read(base)[0].changes] == ["", ""]
