"""A campaign that is shared with a remote: taken over by another disk, held by one run at a time, never overwritten."""

import os
import time
from pathlib import Path

import pytest
from repos import Campaign, Repo

from adapters.ending import take_command
from adapters.home import disk
from adapters.repository import lease, sharing
from adapters.repository.landing import Moved
from adapters.repository.lease import Lost
from adapters.repository.settling import save
from adapters.repository.states import load
from adapters.repository.workspaces import target_place
from domain.sharing import LEASE
from domain.value import Busy, Refused

BRANCH, STATE = "refs/heads/swathe/ruff-up", "refs/swathe/ruff-up/state"


@pytest.fixture(name="remote")
def _remote(target, tmp_path):
    """A bare remote that has the base."""
    bare = Repo(tmp_path / "remote.git", "--bare")
    target.git("remote", "add", "origin", str(bare.folder))
    target.git("push", "-q", "origin", "main")
    return bare


@pytest.fixture(name="on")
def _on(remote, tmp_path, open_campaign):
    """A run that began on the disk of this name, by the remote's URL."""

    def on(disk: str, run: str = "", *, begin: bool = True, **more):
        os.environ["SWATHE_HOME"] = str(tmp_path / disk)
        one = open_campaign(
            f"file://{remote.folder}", run=run or f"run-{disk}", **{"share": "origin", **more}
        )
        one.notes = sharing.begin(one.workspace) if begin else ()
        return one

    yield on
    for one in sharing._leases.values():
        one.release()
    sharing._leases.clear()


def leave(one: Campaign) -> None:
    sharing.end(one.workspace)
    one.end()


def killed(one: Campaign) -> None:
    """The process is gone, and with it the lock; the lease stands."""
    sharing._leases.pop(one.workspace.home)._over.set()
    one.end()


def kept(one: Campaign) -> dict[str, str]:
    return sharing.campaign_refs(one.workspace)


def test_a_run_is_finished_by_another_disk(remote, on):
    """T65, T68, T104."""
    first = on("a")
    landed = first.land({"a.py": "2\n"})
    chain = first.chain({"pkg/b.py": "2\n"}, base=landed.tip)
    first.settle(chain, (), chain.commits)
    delivery = sharing.push(first.workspace)
    assert delivery is not None
    assert not delivery.missing
    assert remote.refs[BRANCH] == landed.tip
    killed(first)

    second = on("b", run="run-a")

    assert kept(second) == kept(first)
    assert len(kept(second)) == 3
    found = second.recover()
    assert found.tip == landed.tip
    assert len(found.state.parked) == 1
    assert any("goes on from what" in note for note in second.notes)


def test_a_path_is_shared_with_the_remote_that_is_named(target, remote, open_campaign):
    one = open_campaign(target, share="origin")
    sharing.begin(one.workspace)
    tip = one.land({"a.py": "2\n"}).tip
    sharing.push(one.workspace)
    leave(one)

    assert remote.refs[BRANCH] == tip
    assert LEASE not in remote.refs
    assert remote.refs["refs/heads/main"] == target.head
    other = open_campaign(target, share="upstream")
    with pytest.raises(Refused, match=r"no remote 'upstream'.*There are: origin"):
        sharing.begin(other.workspace)


def test_the_work_is_taken_from_where_it_is_shared_and_nobody_is_shown_a_password(on, remote):
    one = on("a")
    leave(one)
    url = "https://me:hunter2hunter2@git.example.com/x.git"
    target = one.workspace.target.model_copy(update={"repo": url})
    by_url = one.workspace.model_copy(update={"target": target})
    alone = one.workspace.model_copy(update={"target": target.model_copy(update={"share": "none"})})

    assert f"git fetch file://{remote.folder} " in take_command(one.workspace)
    assert "git fetch https://git.example.com/x.git swathe/" in take_command(by_url)
    assert f"git fetch {one.workspace.git_dir} " in take_command(alone)


def test_two_disks_do_not_hold_one_remote(on):
    """R4, on two machines."""
    first = on("a")

    with pytest.raises(Busy, match=r"run run-a on .* works on file://"):
        on("b")

    leave(first)
    assert on("b").notes == ()


def test_a_lease_whose_holder_is_silent_ends(on, monkeypatch):
    killed(on("a"))
    with pytest.raises(Busy):
        on("b")
    monkeypatch.setattr("domain.sharing.SECONDS_OF_A_LEASE", -1)

    on("b", run="again")


def test_a_run_of_the_same_disk_takes_over_at_once(on):
    killed(on("a"))

    on("a", run="the-next")


def test_a_run_that_was_taken_over_writes_no_more(remote, on):
    """It was taken for dead, and lives: the machine had no network for a while."""
    first = on("a", run="same")
    second = on("b", run="same")
    tip = second.land({"a.py": "2\n"}).tip
    sharing.push(second.workspace)
    first.land({"a.py": "3\n"})

    with pytest.raises(Lost, match="another worker holds"):
        sharing.push(first.workspace)

    assert remote.refs[BRANCH] == tip
    told = sharing.deliver(first.workspace)
    assert told is not None
    assert BRANCH in told.missing
    sharing.end(first.workspace)
    assert LEASE in remote.refs, "it took away the lease of the other"


def test_a_lease_is_renewed_while_its_run_lives(remote, on, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS_BETWEEN_RENEWALS", 0.01)
    on("a")
    first = remote.refs[LEASE]

    deadline = time.monotonic() + 60
    while remote.refs[LEASE] == first:
        assert time.monotonic() < deadline, "it is not renewed"


def test_what_could_not_be_pushed_is_told_and_pushed_by_the_next_run(
    remote, on, tmp_path, monkeypatch
):
    """T74: the delivery is another question than the ending."""
    monkeypatch.setattr(sharing, "SECONDS_BEFORE_ANOTHER_TRY", (0.0, 0.0))
    first = on("a")
    tip = first.land({"a.py": "2\n"}).tip
    away = tmp_path / "away"
    remote.folder.rename(away)

    told = sharing.deliver(first.workspace)

    assert told is not None
    assert set(told.missing) == {BRANCH, STATE}
    assert "push --atomic" in told.command
    assert told.why
    leave(first)
    away.rename(remote.folder)
    second = on("a", run="r2")
    assert sharing.push(second.workspace) is not None
    assert remote.refs[BRANCH] == tip


def test_a_push_whose_answer_was_lost_has_arrived(remote, on):
    one = on("a")
    tip = one.land({"a.py": "2\n"}).tip
    sharing.push(one.workspace)
    sharing.git(sharing.store(one.workspace), "update-ref", "-d", sharing._mark(BRANCH))

    told = sharing.push(one.workspace)

    assert told is not None
    assert not told.missing
    assert remote.refs[BRANCH] == tip


def test_work_of_somebody_else_there_is_not_overwritten(remote, on):
    """T67."""
    one = on("a")
    tip = one.land({"a.py": "2\n"}).tip
    sharing.push(one.workspace)
    theirs = remote.git("commit-tree", "-p", tip, "-m", "mine", f"{tip}^{{tree}}")
    remote.git("update-ref", BRANCH, theirs)
    chain = one.chain({"pkg/b.py": "2\n"}, base=tip)
    mine = one.settle(chain, chain.commits).tip

    with pytest.raises(Moved, match="somebody else moved"):
        sharing.push(one.workspace)

    assert remote.refs[BRANCH] == theirs
    leave(one)
    again = on("a", run="r2")
    assert kept(again)[BRANCH] == theirs
    assert mine in kept(again).values(), "what was here alone is not kept aside"
    assert again.recover().tip == theirs
    assert any("kept as" in note for note in again.notes)


def test_what_another_machine_landed_meanwhile_is_gone_on_from(remote, on):
    first = on("a")
    one = first.land({"a.py": "2\n"}).tip
    sharing.push(first.workspace)
    leave(first)
    second = on("b")
    chain = second.chain({"pkg/b.py": "2\n"}, base=one)
    two = second.settle(chain, chain.commits).tip
    sharing.push(second.workspace)
    leave(second)

    third = on("a", run="r3")

    assert third.recover().tip == two
    assert len(third.recover().state.landed) == 2
    assert not any("aside" in ref for ref in kept(third))


def test_a_branch_that_its_owner_moved_here_is_theirs_to_bring_together(
    target, remote, open_campaign
):
    one = open_campaign(target, share="origin")
    sharing.begin(one.workspace)
    tip = one.land({"a.py": "2\n"}).tip
    sharing.push(one.workspace)
    leave(one)
    for repo, name in ((target, "here"), (remote, "there")):
        made = repo.git("commit-tree", "-p", tip, "-m", name, f"{tip}^{{tree}}")
        repo.git("update-ref", "--create-reflog", "-m", "reset: moved", BRANCH, made)
    before = target.refs

    again = open_campaign(target, run="r2", share="origin")
    with pytest.raises(Refused, match="Bring the two together"):
        sharing.begin(again.workspace)

    assert target.refs == before
    assert LEASE not in remote.refs


def test_a_branch_that_somebody_stands_on_there_is_not_moved(
    target, tmp_path, open_campaign, monkeypatch
):
    monkeypatch.setattr(sharing, "SECONDS_BEFORE_ANOTHER_TRY", ())
    target.git("clone", "-q", str(target.folder), str(tmp_path / "work"))
    theirs = Repo(tmp_path / "work", init=False)
    theirs.git("checkout", "-q", "-b", "swathe/ruff-up")
    before = theirs.head
    one = open_campaign(target, share=str(theirs.folder))
    sharing.begin(one.workspace)
    one.land({"a.py": "2\n"})

    told = sharing.deliver(one.workspace)

    assert told is not None
    assert "checked out" in told.why
    assert theirs.head == before


def test_a_remote_that_may_not_be_written_to_is_refused_before_anything_is_done(remote, on):
    hook = remote.folder / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho read only >&2\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(Refused, match=r"could not be kept at .*none"):
        on("a")

    assert list(remote.refs) == ["refs/heads/main"]
    assert on("b", share="none").notes == ()


def test_what_is_refused_there_is_not_tried_again(remote, on, tmp_path, monkeypatch):
    monkeypatch.setattr(sharing, "SECONDS_BEFORE_ANOTHER_TRY", (0.0, 0.0))
    one = on("a")
    tries = tmp_path / "tries"
    hook = remote.folder / "hooks" / "update"
    hook.write_text(f'#!/bin/sh\ncase $1 in refs/heads/*) echo x >> "{tries}"; exit 1;; esac\n')
    hook.chmod(0o755)
    one.land({"a.py": "2\n"})

    told = sharing.deliver(one.workspace)

    assert told is not None
    assert BRANCH in told.missing
    assert tries.read_text() == "x\n"


def test_a_ref_that_is_no_lease_is_not_taken(remote, on):
    remote.git("update-ref", LEASE, "refs/heads/main")

    with pytest.raises(Refused, match="no lease of ours"):
        on("a")


def test_a_deleted_branch_there_is_taken_home(remote, on):
    """Its owner merged it, and took it away there, as forges offer to: the next run sets out from the base."""
    first = on("a")
    tip = first.land({"a.py": "2\n"}).tip
    sharing.push(first.workspace)
    leave(first)
    remote.git("update-ref", "refs/heads/main", tip)
    remote.git("update-ref", "-d", BRANCH)

    second = on("b")

    assert second.recover().tip == tip
    state, _ = load(target_place(second.workspace), STATE)
    assert state is not None
    save(second.workspace, state, "end", 0)
    assert sharing.push(second.workspace) is not None


def test_a_disk_has_one_name_for_good(home, tmp_path, monkeypatch):
    first = disk()
    assert disk() == first
    monkeypatch.setenv("SWATHE_HOME", str(Path(tmp_path / "another")))
    assert disk() != first
