import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.commit import ABSENT, Change, Commit
from domain.replay import begin


def change(path, old, new, *, mode="100644", old_mode="100644"):
    """From one blob to another; an empty one is no file."""
    return Change(
        path=path,
        old_mode=old_mode if old else ABSENT,
        new_mode=mode if new else ABSENT,
        old_blob=old or "0",
        new_blob=new or "0",
    )


def commit(sha, *changes):
    return Commit(sha=sha, tree="", parents=("p",), subject=sha, changes=changes)


def never(ours, base, theirs):
    raise AssertionError((ours, base, theirs))


def joined(ours, base, theirs):
    return f"{ours}+{theirs}"


def conflicting(ours, base, theirs):
    return None


def put(commits, *shas, merge=never):
    line = begin(commits)
    for one in commits:
        if not shas or one.sha in shas:
            line.apply(one, merge)
    return line


CHAIN = (
    commit("a", change("x", "1", "2")),
    commit("b", change("x", "2", "3"), change("y", "", "1")),
    commit("c", change("y", "1", "")),
)


def test_the_tip_begins_as_the_chain_found_it():
    assert begin(CHAIN).tree == {"x": ("100644", "1"), "y": (ABSENT, "0")}


def test_commits_in_order_need_no_merge():
    line = put(CHAIN)

    assert line.tree == {"x": ("100644", "3"), "y": (ABSENT, "0")}
    assert [one.sha for one, _ in line.steps] == ["a", "b", "c"]


def test_a_tip_that_differs_is_merged_from_what_the_commit_found():
    asked = []
    line = put(CHAIN, "b", merge=lambda *blobs: asked.append(blobs) or "merged")

    assert asked == [("1", "2", "3")]
    assert line.steps[0][1]["x"] == ("100644", "merged")


def test_a_conflict_leaves_out_the_whole_commit_and_nothing_else():
    line = put((*CHAIN, commit("d", change("z", "1", "2"))), "b", "d", merge=conflicting)

    assert [one.sha for one in line.conflicts] == ["b"]
    assert [one.sha for one, _ in line.steps] == ["d"]
    assert line.tree["y"] == (ABSENT, "0")


@pytest.mark.parametrize(
    "second",
    [
        change("x", "2", ""),
        change("x", "2", "3", mode="120000"),
        change("x", "2", "3", mode="160000"),
        change("x", "2", "3", old_mode="120000", mode="120000"),
    ],
    ids=["removed", "now a link", "now a submodule", "a link"],
)
def test_only_regular_files_are_merged(second):
    chain = (commit("a", change("x", "1", "2")), commit("b", second))

    assert put(chain, "b").conflicts
    assert not put(chain[:1], "a").conflicts


def test_a_changed_mode_is_kept_when_the_content_is_merged():
    chain = (commit("a", change("x", "1", "2")), commit("b", change("x", "2", "3", mode="100755")))

    assert put(chain, "b", merge=joined).tree["x"] == ("100755", "1+3")


def test_a_mode_of_the_tip_stays_when_the_content_is_merged():
    chain = (
        commit("a", change("x", "1", "2")),
        commit("b", change("x", "2", "2", mode="100755")),
        commit("c", change("x", "2", "3", old_mode="100755", mode="100755")),
    )

    assert put(chain, "a", "c", merge=joined).tree["x"] == ("100644", "2+3")


def test_a_commit_that_would_change_nothing_is_left_out():
    chain = (
        commit("a", change("x", "1", "2")),
        commit("b", change("x", "2", "1")),
        commit("c", change("x", "1", "2")),
    )

    assert [one.sha for one in put(chain, "a", "c").conflicts] == ["c"]
    assert put(chain).conflicts == []


def test_a_part_that_is_done_already_does_not_stop_the_rest():
    chain = (
        commit("a", change("x", "1", "2")),
        commit("b", change("x", "2", "1")),
        commit("c", change("x", "1", "2"), change("y", "1", "2")),
    )

    assert put(chain, "a", "c").steps[1][1] == {"y": ("100644", "2")}


def test_a_file_and_a_folder_of_one_name_do_not_replace_each_other():
    to_folder = (commit("a", change("d", "1", "")), commit("b", change("d/x/y", "", "2")))
    to_file = (commit("a", change("d/x/y", "1", "")), commit("b", change("d", "", "2")))

    for chain in (to_folder, to_file):
        assert put(chain, "b").conflicts == [chain[1]]
        assert put(chain).conflicts == []


def test_a_file_that_becomes_a_folder_in_one_commit_is_in_nobodys_way():
    chain = (
        commit("a", change("d", "1", ""), change("d/x", "", "2")),
        commit("b", change("d/x", "2", ""), change("d", "", "1")),
    )

    assert put(chain).conflicts == []


def test_a_name_that_only_begins_alike_is_in_nobodys_way():
    chain = (
        commit("a", change("d.py", "1", "2")),
        commit("b", change("d", "", "2")),
        commit("c", change("d.py/x", "", "1")),
    )

    assert put(chain, "b").conflicts == []


def test_trying_a_commit_leaves_the_tip_as_it_was():
    line = put(CHAIN, "a")
    before = dict(line.tree)

    assert line.fitted(CHAIN[1], never) == {"x": ("100644", "3"), "y": ("100644", "1")}
    assert (line.tree, len(line.steps)) == (before, 1)


EDITS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "z"]), st.sampled_from(["", "1", "2", "3"])), max_size=8
)


def chain_of(edits):
    files, commits = {"x": "1", "y": "1"}, []
    for path, blob in edits:
        if files.get(path, "") != blob:
            commits.append(commit(str(len(commits)), change(path, files.get(path, ""), blob)))
            files[path] = blob
    return commits, files


@given(EDITS)
def test_all_commits_in_order_end_where_the_chain_ends(edits):
    """Law, and without a single merge."""
    commits, files = chain_of(edits)

    line = put(commits)

    assert line.conflicts == []
    for path, (mode, blob) in line.tree.items():
        assert files[path] == ("" if mode == ABSENT else blob)


@given(EDITS, st.sets(st.integers(0, 7)))
def test_every_chosen_commit_is_applied_or_a_conflict(edits, chosen):
    """Law: none is lost, none counts twice, and the steps tell the tree."""
    commits, _ = chain_of(edits)
    line = begin(commits)
    before = dict(line.tree)
    shas = [one.sha for one in commits if int(one.sha) in chosen]
    for one in commits:
        if one.sha in shas:
            line.apply(one, conflicting)

    assert sorted(
        [one.sha for one, _ in line.steps] + [one.sha for one in line.conflicts]
    ) == sorted(shas)
    for _, entries in line.steps:
        assert entries
        before |= entries
    assert before == line.tree
