"""Commits written by fast-import: exactly the paths, bytes and modes that were asked for."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repos import HOSTILE, Repo

from adapters.repository.git import GitFailed, Place
from adapters.repository.writing import Draft, quoted, write_commits


@pytest.fixture(name="place")
def _place(target: Repo) -> Place:
    return Place(git_dir=target.folder / ".git")


def test_drafts_become_a_line_of_commits_on_a_parent(target, place):
    first, second = write_commits(
        place,
        [Draft("one\n", {"new.py": b"1\n"}, target.head), Draft("two\n", {"new.py": b"2\n"})],
        5,
    )

    assert target.git("rev-parse", f"{second}^", f"{first}^").split() == [first, target.head]
    assert target.tree(second) == {**target.tree("HEAD"), "new.py": ("100644", b"2\n")}


def test_no_draft_is_no_commit(place):
    assert write_commits(place, [], 5) == []


def test_the_same_drafts_at_the_same_time_give_the_same_ids(target, place):
    drafts = [Draft("one\n", {"new.py": b"1\n"}, target.head)]

    assert write_commits(place, drafts, 5) == write_commits(place, drafts, 5)
    assert write_commits(place, drafts, 5) != write_commits(place, drafts, 6)


def test_a_draft_may_go_on_an_earlier_one_of_the_same_list(target, place):
    drafts = [
        Draft("a\n", {"x": b"a"}, target.head),
        Draft("b\n", {"y": b"b"}),
        Draft("c\n", {"z": b"c"}, 0),
        Draft("root\n", {"r": b"r"}, root=True),
    ]

    a, b, c, root = write_commits(place, drafts, 5)

    assert target.git("rev-parse", f"{b}^", f"{c}^").split() == [a, a]
    assert set(target.tree(c)) == set(target.tree("HEAD")) | {"x", "z"}
    assert target.tree(root) == {"r": ("100644", b"r")}
    assert target.git("rev-list", "--count", root) == "1"


def test_modes_are_kept_and_a_given_entry_is_taken_as_it_is(target, place):
    """F3."""
    blob = target.git("rev-parse", "HEAD:a.py")
    draft = Draft(
        "m\n",
        {"run.sh": b"#!/bin/sh\n", "copy.py": ("100755", blob), "link": ("120000", blob)},
        target.head,
        modes={"run.sh": "100755"},
    )

    (sha,) = write_commits(place, [draft], 5)

    modes = {path: mode for path, (mode, _) in target.tree(sha).items()}
    assert (modes["run.sh"], modes["copy.py"], modes["link"]) == ("100755", "100755", "120000")


def test_a_file_may_become_a_folder_and_a_folder_a_file(target, place):
    drafts = [
        Draft("to a folder\n", {"a.py": ("000000", ""), "a.py/inner": b"x"}, target.head),
        Draft("to a file\n", {"pkg/b.py": ("000000", ""), "pkg": b"y"}),
    ]

    sha = write_commits(place, drafts, 5)[-1]

    assert set(target.tree(sha)) == {"a.py/inner", "pkg", "tests/test_a.py"}


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_only_a_name(target, place, name):
    """F9."""
    (sha,) = write_commits(place, [Draft("m\n", {name: b"\x00\xff\r\n"}, target.head)], 5)

    assert target.changed(sha) == {name}
    assert target.tree(sha)[name] == ("100644", b"\x00\xff\r\n")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(
        st.binary(min_size=1, max_size=40)
        .filter(lambda name: not {b"/", b"\0"} & {name[i : i + 1] for i in range(len(name))})
        .filter(lambda name: name not in (b".", b"..") and not name.lower().startswith(b".git")),
        st.binary(max_size=200),
        min_size=1,
        max_size=8,
    )
)
def test_any_bytes_in_names_and_contents_come_back(target, place, files):
    (sha,) = write_commits(
        place,
        [Draft("m\n", {os.fsdecode(name): content for name, content in files.items()}, root=True)],
        5,
    )

    assert {os.fsencode(name): content for name, (_, content) in target.tree(sha).items()} == files


def test_a_message_with_a_nul_makes_a_commit_that_fsck_takes(target, place):
    """F10."""
    (sha,) = write_commits(place, [Draft("before\0after\n", {"n": b""}, target.head)], 5)

    assert target.git("log", "-1", "--format=%s", sha) == "beforeafter"
    assert "nul" not in target.git("fsck", "--strict", "--no-dangling")


def test_what_fast_import_refuses_is_an_error_with_its_words(place):
    with pytest.raises(GitFailed, match="fast-import"):
        write_commits(place, [Draft("m\n", {"x": b""}, "f" * 40)], 5)


def test_a_quoted_path_is_plain_ascii():
    assert quoted('a"\\\n\udcff') == b'"a\\"\\\\\\012\\377"'
