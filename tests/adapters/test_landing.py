"""Landing: the only writes to the target, all refs together, and none over somebody else's work."""

import os

import pytest
from repos import Repo

from adapters.repository.git import GitFailed
from adapters.repository.landing import (
    Moved,
    move_refs,
    moved_by_us,
    put_in,
    refuse_blocked,
    refuse_checked_out,
    refuse_foreign,
    stale_locks,
    stands,
)
from adapters.repository.workspaces import target_place
from domain.value import Refused

BRANCH = "refs/heads/swathe/ruff-up"
STATE = "refs/swathe/ruff-up/state"


@pytest.fixture(name="sent")
def _sent(target, campaign):
    """A commit on the base that the target has, and no ref names."""
    chain = campaign.chain({"a.py": "2\n"})
    put_in(campaign.workspace, [chain.commits[0].sha], [chain.base])
    return chain.commits[0].sha


def test_sent_objects_are_whole_and_no_ref_moves(target, sent):
    assert target.tree(sent)["a.py"] == ("100644", b"2\n")
    assert list(target.refs) == ["refs/heads/main"]
    assert target.git("fsck", "--strict", "--no-dangling") == ""


def test_refs_move_together_and_tell_why(target, campaign, sent):
    move_refs(campaign.workspace, {BRANCH: (sent, None), STATE: (sent, None)}, "land 1, park 0")

    assert (target.refs[BRANCH], target.refs[STATE]) == (sent, sent)
    assert "swathe: land 1, park 0" in target.git("reflog", "show", BRANCH)


def test_a_run_that_waited_is_told_when_another_went_on(target, campaign, sent):
    stands(campaign.workspace, target.head)  # nothing has landed yet
    target.git("update-ref", BRANCH, sent)

    stands(campaign.workspace, sent)
    with pytest.raises(Moved, match="another run has moved 'swathe/ruff-up' while this one waited"):
        stands(campaign.workspace, target.head)


def test_one_ref_that_was_moved_holds_back_all(target, campaign, sent):
    target.git("update-ref", STATE, target.head)

    for old in (None, sent):
        with pytest.raises(Moved, match="nothing was overwritten"):
            move_refs(campaign.workspace, {BRANCH: (sent, None), STATE: (sent, old)}, "x")

    assert BRANCH not in target.refs
    assert target.refs[STATE] == target.head


def test_a_ref_that_vanished_is_moved_by_somebody_else(target, campaign, sent):
    with pytest.raises(Moved):
        move_refs(campaign.workspace, {BRANCH: (sent, target.head)}, "x")

    move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")
    assert target.refs[BRANCH] == sent


def test_a_move_that_was_made_already_is_no_second_one(target, campaign, sent):
    move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")
    log = target.git("reflog", "show", BRANCH)

    move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")

    assert target.git("reflog", "show", BRANCH) == log


def test_a_branch_that_points_to_another_does_not_drag_it_along(target, campaign, sent):
    """`swathe/x` as a symbolic ref to main: main stays."""
    head = target.head
    target.git("symbolic-ref", BRANCH, "refs/heads/main")

    move_refs(campaign.workspace, {BRANCH: (sent, head)}, "x")

    assert (target.refs[BRANCH], target.refs["refs/heads/main"]) == (sent, head)


def test_hooks_of_the_target_do_not_run_and_cannot_object(target, campaign, sent, tmp_path):
    """F5, T52: `reference-transaction` could veto every landing."""
    for folder in (target.folder / ".git/hooks", tmp_path / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("reference-transaction", "update", "pre-receive", "post-update", "pre-commit"):
            (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/fired\nexit 1\n")
            (folder / name).chmod(0o755)
    target.git("config", "core.hooksPath", str(tmp_path / "hooks"))

    move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")

    assert target.refs[BRANCH] == sent
    assert not (tmp_path / "fired").exists()


def test_a_lock_of_ours_that_a_kill_left_is_cleared_and_a_foreign_one_is_not(
    target, campaign, sent
):
    git_dir = target.folder / ".git"
    ours = [
        "refs/heads/swathe/ruff-up.lock",
        "refs/swathe/ruff-up/state.lock",
        "refs/swathe/ruff-up/parked/abc.lock",
    ]
    foreign = [
        "index.lock",
        "HEAD.lock",
        "config.lock",
        "refs/heads/main.lock",
        "refs/heads/swathe/other.lock",
    ]
    for name in (*ours, *foreign):
        (git_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (git_dir / name).write_text("")
    with pytest.raises(GitFailed):
        move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")

    removed = stale_locks(campaign.workspace)

    assert [f"{name}.lock" for name in removed] == ours[:1] + sorted(ours[1:])
    assert all((git_dir / name).exists() for name in foreign)
    move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")
    assert target.refs[BRANCH] == sent


def test_a_branch_that_nobody_stands_on_may_move(target, campaign):
    target.git("branch", "swathe/ruff-up")

    refuse_checked_out(campaign.workspace)


def test_a_branch_that_the_operator_stands_on_is_refused(target, campaign):
    target.git("checkout", "-q", "-b", "swathe/ruff-up")

    with pytest.raises(Refused, match=f"'swathe/ruff-up' is checked out in {target.folder}"):
        refuse_checked_out(campaign.workspace)


def test_a_branch_checked_out_in_a_linked_worktree_is_refused(
    target, campaign, tmp_path, open_campaign
):
    """T51: also when we are started from inside that worktree."""
    place = tmp_path / os.fsdecode(b"li\xffnked")
    target.git("worktree", "add", "-q", "-b", "swathe/ruff-up", str(place))

    for one in (campaign, open_campaign(place)):
        with pytest.raises(Refused, match="is checked out in"):
            refuse_checked_out(one.workspace)


def test_a_branch_in_the_middle_of_a_rebase_is_refused(target, campaign):
    """It is checked out nowhere meanwhile, and the end of the rebase would move it back."""
    base = target.head
    target.commit({"a.py": "main\n"})
    target.git("checkout", "-q", "-b", "swathe/ruff-up", base)
    target.commit({"a.py": "ours\n"})
    with pytest.raises(Exception, match="rebase"):
        target.git("rebase", "main")

    with pytest.raises(Refused, match="is being rebased"):
        refuse_checked_out(campaign.workspace)
    target.git("rebase", "--abort")
    target.git("checkout", "-q", "main")
    refuse_checked_out(campaign.workspace)


@pytest.mark.parametrize("name", ["swathe", "swathe/ruff-up/old"])
def test_a_branch_whose_name_leaves_no_room_is_refused_before_anything_is_paid(
    target, campaign, name
):
    target.git("branch", name)

    with pytest.raises(Refused, match=f"git branch -m {name} another-name"):
        refuse_blocked(campaign.workspace)
    target.git("branch", "-m", name, "swathe/ruff-up-2")
    refuse_blocked(campaign.workspace)


def test_the_branch_may_go_on_from_where_we_left_it_or_from_below(target, campaign, sent):
    base = target.head

    refuse_foreign(campaign.workspace, None, base, sent)
    refuse_foreign(campaign.workspace, sent, sent, base)
    refuse_foreign(campaign.workspace, base, "f" * 40, sent)


def test_work_of_somebody_else_on_the_branch_is_not_moved_away(target, campaign, sent):
    base = target.head
    theirs = target.commit({"b.py": "theirs\n"})

    with pytest.raises(Moved, match="somebody else moved 'swathe/ruff-up'"):
        refuse_foreign(campaign.workspace, theirs, base, sent)


def test_a_branch_that_was_kept_aside_may_be_left(target, campaign, sent):
    theirs = target.commit({"b.py": "theirs\n"})
    target.git("update-ref", f"refs/swathe/ruff-up/taken/{theirs[:12]}", theirs)

    refuse_foreign(campaign.workspace, theirs, sent, sent)


def test_the_log_of_a_ref_tells_whether_we_moved_it_last(target, campaign, sent):
    place = target_place(campaign.workspace)
    assert moved_by_us(place, BRANCH)
    move_refs(campaign.workspace, {BRANCH: (sent, None)}, "x")
    assert moved_by_us(place, BRANCH)

    target.git("branch", "-f", "swathe/ruff-up", "main")

    assert not moved_by_us(place, BRANCH)


def test_a_pack_that_lacks_objects_is_refused_by_the_target(target, campaign, tmp_path):
    """Nothing half-sent can be referred to."""
    chain = campaign.chain({"a.py": "2\n"}, {"b.py": "3\n"})

    with pytest.raises(GitFailed, match="index-pack"):
        put_in(campaign.workspace, [chain.commits[1].sha], [chain.commits[0].sha])
    assert list(Repo(target.folder, init=False).refs) == ["refs/heads/main"]
