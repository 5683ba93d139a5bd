"""Candidates: any subset of a chain on a tip, as plain git would put it there, or a conflict."""

from contextlib import suppress

import pytest
from git import GitCommandError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repos import HOSTILE, Repo

from adapters.repository import merging
from adapters.repository.git import git
from adapters.repository.replaying import candidate
from adapters.repository.workspaces import store

LINES = [f"line {n}\n" for n in range(40)]
TEXT = "".join(LINES)


def line(*changed: int) -> str:
    return "".join(f"LINE {n}\n" if n in changed else text for n, text in enumerate(LINES))


@pytest.fixture(name="base")
def _base(target: Repo) -> str:
    return target.commit({"long.py": TEXT, "other.py": "o\n"})


@pytest.fixture(name="put")
def _put(base, target, open_campaign):
    """Put some commits of a chain on the base; the candidate, and its tree."""
    campaign = open_campaign(target)

    def put(chain, *numbers, good=(), tip=None):
        shas = [chain.commits[n].sha for n in numbers]
        made = candidate(
            store(campaign.workspace),
            chain,
            [chain.commits[n].sha for n in good],
            shas,
            tip or chain.base,
        )
        return made, tree(campaign, made.commit)

    put.campaign = campaign
    return put


def tree(campaign, commit):
    place = store(campaign.workspace)
    rows = git(place, "ls-tree", "-r", "-z", commit).split(b"\0")
    found = {}
    for row in rows:
        if row:
            head, _, path = row.partition(b"\t")
            mode, _, blob = head.decode().split()
            found[path.decode("utf-8", "surrogateescape")] = (
                mode,
                git(place, "cat-file", "blob", blob),
            )
    return found


def test_all_commits_in_order_give_the_chains_own_tree(put):
    chain = put.campaign.chain(
        {"long.py": line(3)}, {"long.py": line(3, 20), "new": "n"}, {"other.py": None}
    )

    made, _ = put(chain, 0, 1, 2)

    assert made.tree == chain.commits[-1].tree
    assert made.conflicts == ()
    assert made.applied == tuple(commit.sha for commit in chain.commits)


def test_no_commit_gives_the_tips_own_tree(put, target):
    chain = put.campaign.chain({"long.py": line(3)})

    made, _ = put(chain)

    assert made.tree == target.git("rev-parse", "HEAD^{tree}")


def test_a_commit_without_the_ones_before_it_brings_only_its_own_change(put):
    """F14."""
    chain = put.campaign.chain(
        {"long.py": line(3)}, {"long.py": line(3, 20)}, {"long.py": line(3, 20, 37)}
    )

    made, found = put(chain, 2)

    assert made.conflicts == ()
    assert found["long.py"][1].decode() == line(37)


def test_a_change_between_two_that_are_left_out_is_merged_by_git(put):
    chain = put.campaign.chain(
        {"long.py": line(3)}, {"long.py": line(3, 37)}, {"long.py": line(3, 20, 37)}
    )

    made, found = put(chain, 2)

    assert made.conflicts == ()
    assert found["long.py"][1].decode() == line(20)


def test_a_commit_that_builds_on_one_left_out_is_a_conflict(put):
    chain = put.campaign.chain(
        {"long.py": line(3)}, {"long.py": line(3).replace("LINE 3", "again 3")}, {"other.py": "p\n"}
    )

    made, found = put(chain, 1, 2)

    assert made.conflicts == (chain.commits[1].sha,)
    assert made.applied == (chain.commits[2].sha,)
    assert found["long.py"][1].decode() == TEXT


def test_a_conflict_in_one_file_leaves_out_the_whole_commit(put):
    chain = put.campaign.chain({"long.py": line(3)}, {"long.py": "rewritten\n", "other.py": "p\n"})

    _, found = put(chain, 1)

    assert found["other.py"][1] == b"o\n"


def test_what_is_good_is_on_the_tip_already(put):
    chain = put.campaign.chain(
        {"long.py": line(3)}, {"long.py": line(3, 20)}, {"long.py": line(3, 20, 37)}
    )
    first, _ = put(chain, 0)

    made, found = put(chain, 2, good=(0,), tip=first.commit)

    assert found["long.py"][1].decode() == line(3, 37)
    assert (
        git(store(put.campaign.workspace), "rev-parse", f"{made.commit}^").decode().strip()
        == first.commit
    )


def test_a_deleted_file_that_a_later_commit_edits_is_a_conflict(put):
    chain = put.campaign.chain({"long.py": line(3)}, {"long.py": None})

    made, _ = put(chain, 1)
    also, _ = put(chain, 0, 1)

    assert made.conflicts == (chain.commits[1].sha,)
    assert also.conflicts == ()


def test_binary_content_is_taken_whole_and_never_merged(put):
    chain = put.campaign.chain(
        {"x.bin": b"\0" + b"a\n" * 50}, {"x.bin": b"\0" + b"a\n" * 49 + b"b\n"}
    )

    _, found = put(chain, 0, 1)
    alone, _ = put(chain, 1)

    assert found["x.bin"][1] == b"\0" + b"a\n" * 49 + b"b\n"
    assert alone.conflicts == (chain.commits[1].sha,)


def test_a_file_too_large_to_merge_is_a_conflict(put, monkeypatch):
    chain = put.campaign.chain({"long.py": line(3)}, {"long.py": line(3, 20)})
    monkeypatch.setattr(merging, "MAX_MERGE", 100)

    made, _ = put(chain, 1)

    assert made.conflicts == (chain.commits[1].sha,)


def test_a_file_in_the_way_of_a_folder_is_a_conflict_and_not_lost(put):
    """D/F: without the commit that removes the file, the folder has no place."""
    chain = put.campaign.chain({"other.py": None}, {"other.py/inner": "x\n"}, {"long.py": line(3)})

    made, found = put(chain, 1, 2)
    whole, all_of_it = put(chain, 0, 1, 2)

    assert made.conflicts == (chain.commits[1].sha,)
    assert found["other.py"] == ("100644", b"o\n")
    assert whole.tree == chain.commits[-1].tree
    assert set(all_of_it) >= {"other.py/inner"}


def test_a_folder_in_the_way_of_a_file_is_a_conflict_and_not_lost(put):
    chain = put.campaign.chain({"pkg/b.py": None}, {"pkg": "now a file\n"})

    made, found = put(chain, 1)

    assert made.conflicts == (chain.commits[1].sha,)
    assert found["pkg/b.py"] == ("100644", b"b = 1\n")


def test_a_file_that_becomes_a_folder_in_one_commit_is_no_conflict(put):
    chain = put.campaign.chain(
        {"other.py": None, "other.py/inner": "x\n"}, {"other.py/inner": None, "other.py": "back\n"}
    )

    both, found = put(chain, 0, 1)

    assert both.conflicts == ()
    assert found["other.py"] == ("100644", b"back\n")


def test_a_removal_that_is_none_any_more_does_not_take_a_folder_with_it(put):
    chain = put.campaign.chain(
        {"other.py": None},
        {"other.py/inner": "x\n"},
        {"other.py/inner": None, "other.py": "back\n"},
        {"other.py": None},
    )

    made, found = put(chain, 0, 1, 3)

    assert made.conflicts == (chain.commits[3].sha,)
    assert found["other.py/inner"] == ("100644", b"x\n")


def test_a_commit_that_would_change_nothing_is_left_out(put):
    """The second one makes what the first made: it would land empty."""
    chain = put.campaign.chain({"other.py": "p\n"}, {"other.py": "o\n"}, {"other.py": "p\n"})

    made, _ = put(chain, 0, 2)

    assert made.applied == (chain.commits[0].sha,)
    assert made.conflicts == (chain.commits[2].sha,)


def test_paths_that_differ_only_by_case_are_two_paths(put):
    chain = put.campaign.chain({"Other.py": "1\n"}, {"OTHER.py": "2\n"})

    _, found = put(chain, 1)

    assert (found["other.py"][1], found["OTHER.py"][1]) == (b"o\n", b"2\n")
    assert "Other.py" not in found


def test_hostile_names_are_replayed(put):
    """F9."""
    chain = put.campaign.chain(*({name: f"{n}\n"} for n, name in enumerate(HOSTILE)))

    _, found = put(chain, *range(0, 19, 2))

    assert {name for name in HOSTILE if name in found} == set(HOSTILE[::2])


def test_the_order_of_a_probe_is_the_order_it_was_given_in(put):
    chain = put.campaign.chain({"long.py": line(3)}, {"other.py": "p\n"})

    made, _ = put(chain, 1, 0)

    assert made.applied == (chain.commits[1].sha, chain.commits[0].sha)
    assert made.tree == chain.commits[-1].tree


def test_the_same_question_gives_the_same_commit(put):
    chain = put.campaign.chain({"long.py": line(3)}, {"long.py": line(3, 30)})

    assert put(chain, 1) == put(chain, 1)


EDIT = st.tuples(
    st.sampled_from(["long.py", "other.py", "x/y", "x"]),
    st.one_of(st.none(), st.sets(st.integers(0, 39), max_size=3)),
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(EDIT, min_size=1, max_size=6), st.sets(st.integers(0, 5)))
def test_any_subset_is_what_cherry_picking_gives_or_a_conflict(put, target, base, edits, chosen):
    """Law: where we see no conflict, git gives the same tree; and what git sees as one, so do we."""
    files = {"long.py": TEXT, "other.py": "o\n"}
    steps = []
    for path, lines in edits:
        content = None if lines is None else line(*lines)
        blocked = (path == "x" and "x/y" in files) or (path == "x/y" and "x" in files)
        if content == files.get(path) or blocked:
            continue
        files = (
            {**files, path: content}
            if content is not None
            else {p: c for p, c in files.items() if p != path}
        )
        steps.append({path: content})
    if not steps:
        return
    chain = put.campaign.chain(*steps, base=base)
    numbers = [n for n in sorted(chosen) if n < len(chain.commits)]

    made, ours = put(chain, *numbers)

    assert set(made.applied) | set(made.conflicts) == {chain.commits[n].sha for n in numbers}
    if len(numbers) == len(chain.commits):
        assert made.tree == chain.commits[-1].tree
    gits, conflicts = picked(target, put.campaign, base, made.applied)
    assert conflicts == []
    assert gits == ours


def picked(target, campaign, base, shas):
    """The tree after `git cherry-pick`, and what it could not pick."""
    objects = store(campaign.workspace).git_dir / "objects"
    (target.folder / ".git/objects/info/alternates").write_text(f"{objects}\n")
    target.git("checkout", "-q", "-f", "--detach", base)
    conflicts = []
    for sha in shas:
        try:
            target.git("-c", "merge.renames=false", "cherry-pick", sha)
        except GitCommandError:
            conflicts.append(sha)
            with suppress(GitCommandError):
                target.git("cherry-pick", "--abort")
    return target.tree("HEAD"), conflicts


def test_merged_content_in_a_sha256_repository_has_its_own_ids(tmp_path, open_campaign):
    repo = Repo(tmp_path / "long", "--object-format=sha256")
    repo.commit({"long.py": TEXT})
    campaign = open_campaign(repo)
    chain = campaign.chain({"long.py": line(3)}, {"long.py": line(3, 20)})

    made = candidate(store(campaign.workspace), chain, (), [chain.commits[1].sha], chain.base)

    assert made.conflicts == ()
    assert tree(campaign, made.commit)["long.py"][1].decode() == line(20)
