"""Starting again: after a kill anywhere, after the operator took the work home, after a state was damaged."""

import json
import shutil
from pathlib import Path

import pytest
from repos import Repo

from adapters.repository import states
from adapters.repository.git import git
from adapters.repository.workspaces import store, target_place
from adapters.repository.writing import Draft, write_commits
from domain.state import VERSION, State
from domain.value import Refused

BRANCH = "refs/heads/swathe/ruff-up"
STATE = "refs/swathe/ruff-up/state"


@pytest.fixture(name="again")
def _again(target, campaign, open_campaign):
    """End the run, and start the next one; what it sets out from."""

    def again(**more):
        campaign.end()
        return open_campaign(target, run="r2", **more).recover()

    return again


def test_a_first_run_sets_out_from_the_base(target, campaign):
    found = campaign.recover()

    assert (found.tip, found.commit, found.notes) == (target.head, None, ())
    assert found.state == State(axis="ruff:UP", base=target.head)
    assert list(target.refs) == ["refs/heads/main"]


def test_a_later_run_goes_on_from_the_landed_tip(target, campaign, again):
    tip = campaign.land({"a.py": "2\n"}).tip

    found = again()

    assert (found.tip, found.notes) == (tip, ())
    assert found.commit == target.refs[STATE]
    assert len(found.state.landed) == 1


@pytest.mark.parametrize("first", [True, False], ids=["the first landing", "a later one"])
def test_a_kill_between_the_two_refs_is_rolled_forward(target, campaign, again, first):
    """The state names the landed commit, and the branch's lock is still there."""
    before = None if first else campaign.land({"a.py": "2\n"}).tip
    tip = campaign.land({"a.py": "3\n"}, base=before or "").tip
    log = target.folder / ".git/logs" / BRANCH
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    path = target.folder / ".git" / BRANCH
    path.write_text(f"{before}\n") if before else path.unlink()
    Path(f"{path}.lock").write_text(f"{tip}\n")

    found = again()

    assert target.refs[BRANCH] == found.tip == tip
    assert not Path(f"{path}.lock").exists()
    assert found.notes == ()
    assert target.git("fsck", "--strict", "--no-dangling") == ""


def test_a_parked_commit_whose_ref_was_not_written_yet_gets_it(target, campaign, again):
    """A transaction moves its refs one by one, and git was killed when the state's was moved."""
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})
    (parked,) = campaign.settle(chain, chain.commits[:1], chain.commits[1:]).parked
    before = target.refs
    target.git("update-ref", "-d", parked.ref)
    lock = Path(f"{target.folder}/.git/{parked.ref}.lock")
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(f"{parked.sha}\n")

    again()

    assert target.refs == before
    assert target.refs[parked.ref] == parked.sha


def test_a_parked_commit_that_was_pruned_is_not_asked_for(target, campaign, again):
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})
    landed = campaign.settle(chain, chain.commits[:1], chain.commits[1:])
    target.git("update-ref", "-d", landed.parked[0].ref)
    shutil.rmtree(target.folder / ".git/logs")
    target.git("gc", "-q", "--prune=now")

    assert again().tip == landed.tip
    assert landed.parked[0].ref not in target.refs


def test_a_branch_that_the_operator_set_back_stays_there(target, campaign, again):
    """Not a crash: the log of the branch says who moved it."""
    first = campaign.land({"a.py": "2\n"}).tip
    campaign.land({"a.py": "3\n"}, base=first)
    target.git("branch", "-f", "swathe/ruff-up", first)

    assert again().tip == target.refs[BRANCH] == first


def test_commits_of_somebody_else_on_the_branch_are_built_upon(target, campaign, again):
    """R7: a revert, for one."""
    tip = campaign.land({"a.py": "2\n"}).tip
    theirs = target.git("commit-tree", f"{target.head}^{{tree}}", "-p", tip, "-m", "Revert")
    target.git("update-ref", BRANCH, theirs)

    assert again().tip == theirs


def test_a_branch_that_was_deleted_is_there_again(target, campaign, again):
    tip = campaign.land({"a.py": "2\n"}).tip
    target.git("branch", "-q", "-D", "swathe/ruff-up")

    assert again().tip == target.refs[BRANCH] == tip


def test_a_landed_tip_that_was_pruned_is_no_tip(target, campaign, again):
    campaign.land({"a.py": "2\n"})
    target.git("branch", "-q", "-D", "swathe/ruff-up")
    shutil.rmtree(target.folder / ".git/logs")
    target.git("gc", "-q", "--prune=now")
    shutil.rmtree(campaign.workspace.home)

    assert again().tip == target.head


def test_a_branch_without_a_state_is_gone_on_from_and_said(target, campaign):
    target.git("checkout", "-q", "-b", "swathe/ruff-up")
    theirs = target.commit({"a.py": "theirs\n"})
    target.git("checkout", "-q", "main")

    found = campaign.recover()

    assert found.tip == theirs
    assert "was there without a state" in found.notes[0]


def test_merged_work_is_followed_by_the_base(target, campaign, again, open_campaign):
    """R5."""
    campaign.land({"a.py": "2\n"})
    target.git("merge", "-q", "--no-ff", "-m", "take", "swathe/ruff-up")

    found = again()

    assert found.tip == found.state.base == target.head
    later = open_campaign(target, run="r2")
    tip = later.land({"a.py": "3\n"}, base=found.tip).tip
    assert target.refs[BRANCH] == tip
    assert target.git("rev-parse", f"{tip}^") == target.head


def test_squashed_work_is_known_to_be_taken_and_the_old_branch_is_kept(
    target, campaign, again, open_campaign
):
    """R5."""
    old = campaign.land({"a.py": "2\n"}, {"pkg/b.py": "3\n"}).tip
    target.git("merge", "-q", "--squash", "swathe/ruff-up")
    target.git("commit", "-q", "-m", "squashed")
    target.commit({"c.py": "and more\n"})

    found = again()

    archive = f"refs/swathe/ruff-up/taken/{old[:12]}"
    assert found.tip == target.head
    assert target.refs[archive] == old
    assert archive in found.notes[0]
    again()
    later = open_campaign(target, run="r2")
    tip = later.land({"a.py": "4\n"}, base=found.tip).tip
    assert target.refs[BRANCH] == tip
    assert target.refs[archive] == old


def test_a_base_that_moved_on_is_reported_with_how_far(target, campaign, again):
    """R5: diverged."""
    tip = campaign.land({"a.py": "2\n"}).tip
    target.commit({"b.py": "1\n"})
    target.commit({"c.py": "1\n"})

    found = again()

    assert found.tip == tip
    assert "the base has 2 commits that swathe/ruff-up does not have" in found.notes[0]


def test_a_base_that_took_only_a_part_is_diverged(target, campaign, again):
    tip = campaign.land({"a.py": "2\n"}, {"pkg/b.py": "3\n"}).tip
    target.git("cherry-pick", f"{tip}^")

    found = again()

    assert found.tip == target.refs[BRANCH] == tip
    assert "the base has 1 commit that" in found.notes[0]


def test_looking_for_squashed_work_writes_nothing_to_the_target(target, campaign, again, tmp_path):
    """`merge-tree` writes objects, and would run the target's merge drivers."""
    target.commit({".gitattributes": "* merge=x\n"})
    campaign.land({"a.py": "2\n"})
    target.commit({"a.py": "theirs\n"})
    target.git("config", "merge.x.driver", f"touch {tmp_path}/fired")
    before = sorted(path for path in (target.folder / ".git/objects").rglob("*") if path.is_file())

    again()

    assert (
        sorted(path for path in (target.folder / ".git/objects").rglob("*") if path.is_file())
        == before
    )
    assert not (tmp_path / "fired").exists()


def test_an_older_base_keeps_what_landed(target, campaign, again):
    target.commit({"z.py": "1\n"})
    tip = campaign.land({"a.py": "2\n"}).tip

    assert again(base="HEAD~1").tip == tip


def test_a_branch_that_is_checked_out_is_refused_before_anything_is_done(target, campaign, again):
    """T51."""
    campaign.land({"a.py": "2\n"})
    target.git("checkout", "-q", "swathe/ruff-up")

    with pytest.raises(Refused, match="is checked out"):
        again()


def test_a_run_goes_on_in_another_clone_of_the_target(target, campaign, tmp_path, open_campaign):
    """design.md §3: the state can be pushed and fetched."""
    tip = campaign.land({"a.py": "2\n"}).tip
    target.git("clone", "-q", str(target.folder), str(tmp_path / "other"))
    other = Repo(tmp_path / "other", init=False)
    other.git("fetch", "-q", "origin", f"{BRANCH}:{BRANCH}", "refs/swathe/*:refs/swathe/*")

    found = open_campaign(other, run="r2").recover()

    assert (found.tip, len(found.state.landed)) == (tip, 1)


def put_state(target: Repo, campaign, content: bytes, name: str = states.FILE) -> None:
    """A state commit as somebody else might have left it."""
    place = store(campaign.workspace)
    (sha,) = write_commits(place, [Draft("x\n", {name: content}, root=True)], 0)
    pack = git(place, "pack-objects", "--revs", "--stdout", "-q", stdin=f"{sha}\n".encode())
    git(target_place(campaign.workspace), "index-pack", "--stdin", stdin=pack)
    target.git("update-ref", STATE, sha)


GOOD = State(axis="ruff:UP").to_json()

DAMAGED = {
    "a list": b"[]",
    "null": b"null",
    "a number": b"1" * 5000,
    "empty": b"",
    "truncated": GOOD[:-20].encode(),
    "deep": b"[" * 100_000,
    "not utf-8": b"\xff\xfe{}",
    "no axis": b"{}",
    "wrong types": json.dumps({"axis": "x", "landed": "abc"}).encode(),
    "an unknown field": json.dumps({"axis": "x", "extra": 1}).encode(),
    "an infinite number": b'{"axis": "x", "spend_usd": 1e999}',
    "not a number": b'{"axis": "x", "active_seconds": NaN}',
    "no id for a tip": json.dumps({"axis": "x", "tip": "--upload-pack=x"}).encode(),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_state_is_refused_with_the_way_out(target, campaign, content):
    """C8: never guessed at, never a crash."""
    put_state(target, campaign, content)
    before = target.refs

    with pytest.raises(Refused, match=f"git update-ref -d {STATE}"):
        campaign.recover()
    assert target.refs == before
    target.git("update-ref", "-d", STATE)
    assert campaign.recover().commit is None


def test_a_state_of_a_newer_version_is_refused_with_what_to_do(target, campaign):
    for version in (VERSION + 1, 10**30):
        put_state(target, campaign, json.dumps({"version": version, "new": 1}).encode())
        with pytest.raises(Refused, match="written by a newer Swathe"):
            campaign.recover()


def test_a_good_state_is_read(target, campaign):
    put_state(target, campaign, GOOD.encode())

    assert campaign.recover().state.axis == "ruff:UP"


def test_a_state_ref_that_is_no_state_is_refused(target, campaign):
    put_state(target, campaign, GOOD.encode(), name="other.json")
    with pytest.raises(Refused, match=r"has no state\.json"):
        campaign.recover()

    target.git("update-ref", STATE, target.git("rev-parse", "HEAD:a.py"))
    with pytest.raises(Refused, match="names no commit"):
        campaign.recover()
