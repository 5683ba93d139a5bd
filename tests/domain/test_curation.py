"""Grouping commits: the same tree in the end, whatever the order they came in."""

from hypothesis import given
from hypothesis import strategies as st

from domain.commit import Change, Commit
from domain.curation import directory, grouped


def commit(nth: int, *paths: str) -> Commit:
    changes = tuple(
        Change(path=path, old_mode="100644", new_mode="100644", old_blob="a", new_blob=f"{nth}")
        for path in paths
    )
    return Commit(sha=f"{nth:040}", tree="", parents=(), subject=f"c{nth}", changes=changes)


paths = st.lists(
    st.sampled_from(["a/x", "a/y", "b/x", "b/c/x", "root"]), min_size=1, max_size=3, unique=True
)


@given(st.lists(paths, max_size=12))
def test_every_file_sees_the_same_commits_in_the_same_order(touched: list[list[str]]):
    commits = [commit(nth, *some) for nth, some in enumerate(touched)]

    groups = grouped(commits, directory)

    after = [one for group in groups for one in group.commits]
    assert sorted(one.sha for one in after) == sorted(one.sha for one in commits)
    for path in ("a/x", "a/y", "b/x", "b/c/x", "root"):
        before = [one.sha for one in commits if path in one.paths]
        assert [one.sha for one in after if path in one.paths] == before
    assert all(directory(one) == group.name for group in groups for one in group.commits)


def test_commits_of_one_folder_are_one_unless_something_between_them_touches_their_files():
    commits = [commit(1, "a/x"), commit(2, "b/x"), commit(3, "a/y"), commit(4, "a/x", "b/x")]

    names = [(group.name, len(group.commits)) for group in grouped(commits, directory)]

    assert names == [("a", 2), ("b", 1), ("", 1)]


def test_the_folder_of_a_commit_holds_all_that_it_touches():
    assert directory(commit(1, "b/c/x")) == "b/c"
    assert directory(commit(1, "b/c/x", "b/x")) == "b"
    assert directory(commit(1, "root", "a/x")) == ""
    assert directory(commit(1, "a/b/x", "a/c/b/y")) == "a"


def test_a_group_names_what_it_is_made_of():
    alone, both = grouped([commit(1, "a/x"), commit(2, "b/x"), commit(3, "b/y")], directory)

    assert alone.message("ruff:UP") == "c1\n"
    text = both.message("ruff:UP")
    assert text.startswith("b: 2 changes of ruff:UP\n\n- c2\n- c3\n")
    assert f"Swathe-Made-Of: {'0' * 12} {'0' * 12}" in text
