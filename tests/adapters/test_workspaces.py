"""The two checkouts: moved to a commit exactly, whatever was done to them in between."""

import os
import shutil
from pathlib import Path

import pytest
from repos import HOSTILE, Repo, fired, on_disk

from adapters.processes import shell
from adapters.repository import workspaces
from adapters.repository.git import ask, git
from adapters.repository.workspaces import (
    agent,
    look_over_gate,
    move_agent,
    move_gate,
    prepare,
    read_files,
    store,
    strangers,
    tracked,
)


@pytest.fixture(name="moved", params=["agent", "gate", "gate looked over"])
def _moved(request, campaign):
    """Move one of the two checkouts, and say what is in it."""
    move, folder = (
        (move_agent, campaign.agent) if request.param == "agent" else (move_gate, campaign.gate)
    )
    stood: list[str] = []

    def moved(commit: str) -> dict[str, bytes]:
        if stood and request.param == "gate looked over":
            look_over_gate(campaign.workspace, stood[-1])
        move(campaign.workspace, commit)
        stood.append(commit)
        return on_disk(folder)

    moved.folder = folder
    return moved


def contents(target: Repo, commit: str) -> dict[str, bytes]:
    return {path: content for path, (_, content) in target.tree(commit).items()}


def test_a_checkout_holds_what_the_commit_holds_and_moves_both_ways(target, moved):
    first = target.head
    second = target.commit({"a.py": "2\n", "pkg/b.py": None, "pkg/c/d.py": "new\n"})

    for commit in (first, second, first, first):
        assert moved(commit) == contents(target, commit)


def test_a_file_that_becomes_a_folder_is_moved_both_ways(target, moved):
    first = target.head
    target.write({"a.py": None})
    second = target.commit({"a.py/inner.py": "x\n"})

    for commit in (first, second, first):
        assert moved(commit) == contents(target, commit)


def test_modes_and_links_are_as_in_the_commit(target, moved):
    """F3."""
    (target.folder / "run.sh").write_text("#!/bin/sh\n")
    (target.folder / "run.sh").chmod(0o755)
    (target.folder / "link").symlink_to("a.py")
    commit = target.commit({})

    moved(commit)

    assert os.access(moved.folder / "run.sh", os.X_OK)
    assert not os.access(moved.folder / "a.py", os.X_OK)
    assert (moved.folder / "link").readlink() == Path("a.py")


def test_hostile_names_are_checked_out_and_taken_away_again(target, moved):
    """F9."""
    first = target.head
    second = target.commit({name: f"{number}\n" for number, name in enumerate(HOSTILE)})

    for commit in (second, first, second):
        assert moved(commit) == contents(target, commit)


def test_what_was_left_in_a_checkout_is_gone_after_a_move(target, moved):
    """F12, V12: ignored files too, empty folders, folders closed against us, repositories below the root."""
    commit = target.commit({".gitignore": "*.log\nbuild/\n"})
    moved(commit)
    here = moved.folder
    (here / "build" / "deep").mkdir(parents=True)
    (here / "build" / "deep" / "x.log").write_text("x")
    (here / ".env").write_text("x")
    (here / "pkg" / "__pycache__").mkdir()
    (here / "pkg" / ".git").mkdir()
    (here / "pkg" / ".git" / "config").write_text("[core]\n\tfsmonitor = touch /tmp/x\n")
    (here / "empty").mkdir()
    (here / "a.py").write_text("changed")
    (here / "pkg" / "b.py").unlink()
    os.mkfifo(here / "pipe")
    (here / "build" / "deep").chmod(0)
    (here / "pkg").chmod(0)

    assert moved(commit) == contents(target, commit)


def test_an_index_bit_cannot_hide_a_changed_file(target, moved):
    """G15: skip-worktree and assume-unchanged are bits of an index that is not ours."""
    moved(target.head)
    here = Repo(moved.folder, init=False)
    here.git("update-index", "--skip-worktree", "a.py")
    here.git("update-index", "--assume-unchanged", "pkg/b.py")
    here.write({"a.py": "weakened\n", "pkg/b.py": "weakened\n"})

    assert moved(target.head) == contents(target, target.head)


def test_a_same_sized_change_with_the_old_times_is_undone(target, moved):
    moved(target.head)
    path = moved.folder / "pkg" / "b.py"
    at = path.stat()
    path.write_text("b = 2\n")
    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))

    assert moved(target.head) == contents(target, target.head)


def test_nothing_is_written_or_removed_through_a_link(target, moved, tmp_path):
    """T52, S4: a folder, a file, and the `.git` with what is in it replaced by links to somebody's files."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("b.py", "config", "HEAD", "index", "attributes", "alternates", "packed-refs"):
        (outside / name).write_text("precious\n")
    first = target.head
    second = target.commit({"pkg/b.py": "2\n", "pkg/new.py": "n\n"})
    moved(first)
    here = moved.folder
    shutil.rmtree(here / "pkg")
    (here / "pkg").symlink_to(outside)
    (here / "a.py").unlink()
    (here / "a.py").symlink_to(outside / "config")
    for name in ("config", "HEAD", "index", "packed-refs"):
        (here / ".git" / name).unlink(missing_ok=True)
        (here / ".git" / name).symlink_to(outside / name)
    shutil.rmtree(here / ".git" / "info")
    (here / ".git" / "info").symlink_to(outside)
    shutil.rmtree(here / ".git" / "objects" / "info")
    (here / ".git" / "objects" / "info").symlink_to(outside)

    assert moved(second) == contents(target, second)
    assert moved(first) == contents(target, first)
    assert {path.read_text() for path in outside.iterdir()} == {"precious\n"}
    assert len(list(outside.iterdir())) == 7


def test_a_folder_moved_away_and_linked_back_is_a_real_folder_again(target, moved, tmp_path):
    """Its files keep inode and times, so that an index alone would call them unchanged."""
    moved(target.head)
    (moved.folder / "pkg").rename(tmp_path / "away")
    (moved.folder / "pkg").symlink_to(tmp_path / "away")

    assert moved(target.head) == contents(target, target.head)
    assert not (moved.folder / "pkg").is_symlink()
    assert (tmp_path / "away" / "b.py").exists()


def test_a_checkout_replaced_by_a_link_is_laid_anew(target, moved, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    moved(target.head)
    shutil.rmtree(moved.folder)
    moved.folder.symlink_to(outside)

    assert moved(target.head) == contents(target, target.head)
    assert [path.name for path in outside.iterdir()] == ["precious"]


@pytest.mark.parametrize("how", ["removed", "a file", "a link"])
def test_a_git_directory_that_was_removed_or_replaced_is_laid_anew(target, moved, tmp_path, how):
    """T46."""
    moved(target.head)
    shutil.rmtree(moved.folder / ".git")
    if how == "a file":
        (moved.folder / ".git").write_text(f"gitdir: {tmp_path}")
    elif how == "a link":
        (moved.folder / ".git").symlink_to(tmp_path)

    assert moved(target.head) == contents(target, target.head)
    assert Repo(moved.folder, init=False).git("status", "--porcelain") == ""


def test_traps_in_a_checkout_do_not_fire(target, moved, tmp_path):
    """F5, S5: G1-G12 planted in the agent's clone, or by a test in the gate's."""
    commit = target.commit({"x.x": "x\n", ".gitattributes": "*.x filter=x diff=x merge=x\n"})
    moved(commit)
    Repo(moved.folder, init=False).plant(moved.folder / ".git", tmp_path / "canary")
    (moved.folder / "x.x").write_text("changed\n")

    assert moved(commit) == contents(target, commit)
    assert fired(tmp_path / "canary") == []


def test_plain_git_works_in_a_checkout(target, moved):
    """A build may ask `git describe`, an agent commits."""
    target.git("tag", "-a", "-m", "x", "v1.2")
    commit = target.commit({"a.py": "2\n"})

    moved(commit)

    here = Repo(moved.folder, init=False)
    assert here.git("status", "--porcelain") == ""
    assert (
        here.git("log", "--format=%H", "-2").splitlines()
        == target.git("log", "--format=%H", "-2").splitlines()
    )
    here.commit({"a.py": "3\n"})
    assert moved(commit) == contents(target, commit)
    assert target.git("for-each-ref", "refs/heads") == f"{commit} commit\trefs/heads/main"


def test_a_build_may_describe_a_tag_in_the_gate(target, campaign):
    target.git("tag", "-a", "-m", "x", "v1.2")
    prepare(campaign.workspace)

    move_gate(campaign.workspace, target.head)

    assert Repo(campaign.gate, init=False).git("describe") == "v1.2"


ATTRIBUTES = "*.crlf text eol=crlf\n*.ident ident\n*.utf16 working-tree-encoding=UTF-16LE\n*.bin filter=lfs diff=lfs -text\n"


def test_the_agent_sees_blobs_and_the_gate_sees_what_a_user_gets(target, campaign):
    """G17, F1: eol, ident, an encoding, and a filter that is not there."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    commit = target.commit(
        {
            ".gitattributes": ATTRIBUTES,
            "x.crlf": b"a\r\nb\r\n",
            "x.ident": "$Id$\n",
            "x.utf16": "a\n".encode("utf-16-le"),
            "x.bin": pointer,
        }
    )

    move_agent(campaign.workspace, commit)
    move_gate(campaign.workspace, commit)

    assert on_disk(campaign.agent) == contents(target, commit)
    gate = on_disk(campaign.gate)
    assert gate["x.crlf"] == b"a\r\nb\r\n"
    assert contents(target, commit)["x.crlf"] == b"a\nb\n"
    assert gate["x.ident"].startswith(b"$Id: ")
    assert gate["x.utf16"] == "a\n".encode("utf-16-le")
    assert gate["x.bin"] == pointer
    assert git(agent(campaign.workspace), "status", "--porcelain") == b""


DRIFT = """
for spec in *.spec; do
    tr a-z A-Z < "$spec" > "${spec%.spec}.made"
done
git diff \\
    --exit-code -- '*.made'
"""


def test_generated_files_that_were_not_made_anew_are_seen_in_the_gate(target, campaign):
    """T30, T31: a drift check, over several lines, as CI has it. What it makes is in no later checkout."""
    files = {"api.spec": "one\n", "api.made": "ONE\n", "check.sh": DRIFT}
    honest = target.commit(files)
    stale = target.commit({"api.spec": "two\n"})
    mended = target.commit({"api.made": "TWO\n"})

    def check(commit: str) -> int | None:
        move_gate(campaign.workspace, commit)
        env = {"PATH": os.environ["PATH"]}
        return shell.run(
            "sh check.sh", cwd=campaign.gate, env=env, timeout_seconds=60, contain=False
        ).exit_code

    assert [check(commit) for commit in (honest, stale, mended, stale, honest)] == [0, 1, 0, 1, 0]


def test_what_is_changed_in_the_agents_checkout_is_told_by_our_own_git_directory(target, campaign):
    move_agent(campaign.workspace, target.head)
    Repo(campaign.agent, init=False).commit({"a.py": "committed by itself\n"})

    assert git(agent(campaign.workspace), "status", "--porcelain") == b" M a.py\n"


def test_a_submodule_breaks_no_move(target, campaign, moved, tmp_path):
    inner = Repo(tmp_path / "inner")
    head = inner.commit({"x": "1"})
    first = target.head
    target.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    target.write({".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ../inner\n'})
    target.git("add", ".gitmodules")
    target.git("commit", "-q", "-m", "sub")
    second = target.head

    moved(second)
    (moved.folder / "sub" / "left").write_text("x")
    moved(second)

    assert list((moved.folder / "sub").iterdir()) == []
    assert tracked(campaign.workspace, second)["sub"] == "160000"
    assert moved(first) == contents(target, first)


def test_sparse_checkout_of_the_target_is_not_inherited(target, campaign):
    target.git("sparse-checkout", "set", "pkg")
    assert not (target.folder / "tests").exists()

    move_gate(campaign.workspace, target.head)

    assert (campaign.gate / "tests" / "test_a.py").exists()


def test_a_sha256_repository_works(tmp_path, open_campaign):
    repo = Repo(tmp_path / "long", "--object-format=sha256")
    head = repo.commit({"a.py": "1\n", "b.py": "1\n"})
    assert len(head) == 64
    campaign = open_campaign(repo)

    move_gate(campaign.workspace, head)
    settled = campaign.land({"a.py": "2\n"}, {"a.py": None, "new.py": "n\n"})

    assert on_disk(campaign.gate) == contents(repo, head)
    assert contents(repo, settled.tip) == {"b.py": b"1\n", "new.py": b"n\n"}
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def test_a_target_that_borrows_its_objects_works(target, tmp_path, open_campaign):
    target.git("clone", "-q", "--shared", str(target.folder), str(tmp_path / "one"))
    target.git(
        "clone",
        "-q",
        "--reference",
        str(tmp_path / "one"),
        f"file://{target.folder}",
        str(tmp_path / "two"),
    )

    campaign = open_campaign(tmp_path / "two")
    move_gate(campaign.workspace, target.head)

    assert on_disk(campaign.gate) == contents(target, target.head)
    assert campaign.land({"a.py": "2\n"}).landed


def test_a_shallow_target_works_and_one_that_was_deepened_too(target, tmp_path, open_campaign):
    """F7."""
    target.commit({"a.py": "2\n"})
    target.git("clone", "-q", "--depth=1", f"file://{target.folder}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow", init=False)

    campaign = open_campaign(shallow)
    assert campaign.land({"a.py": "3\n"}).landed
    shallow.git("fetch", "-q", "--unshallow")
    prepare(campaign.workspace)

    assert not (store(campaign.workspace).git_dir / "shallow").exists()
    assert git(store(campaign.workspace), "rev-list", "--count", target.head) == b"2\n"
    assert shallow.git("fsck", "--no-dangling") == ""


def test_kept_files_stay_and_all_others_go(target, campaign):
    move_gate(campaign.workspace, target.head)
    (campaign.gate / "x.egg-info").mkdir()
    (campaign.gate / "x.egg-info" / "PKG-INFO").write_text("kept")
    (campaign.gate / "pkg" / "fast.so").write_text("kept")
    keep = strangers(campaign.workspace)
    (campaign.gate / "x.egg-info" / "more").write_text("left by a test")

    move_gate(campaign.workspace, target.head, keep=keep)

    assert keep == {"x.egg-info/PKG-INFO", "pkg/fast.so"}
    assert strangers(campaign.workspace) == keep


def test_a_thousand_files_are_moved(target, campaign, moved):
    first = target.head
    second = target.commit({f"d{n % 30}/f{n}.py": f"{n}\n" for n in range(1_200)})

    assert moved(second) == contents(target, second)
    assert moved(first) == contents(target, first)


def test_preparing_again_after_a_kill_clears_our_stale_locks(target, campaign):
    home = Path(campaign.workspace.home)
    locks = [
        home / "store.git" / "index.lock",
        home / "agent.git" / "index.lock",
        home / "gate.index.lock",
        home / "gate.keep.draft",
        home / "agent.git" / "HEAD.draft",
        home / "runs" / "r0" / "start.json.draft",
        home / "verdicts" / "0123.json.draft",
        home / "store.git" / "objects" / "pack" / "tmp_pack_Ab3xYz",
        home / "store.git" / "objects" / "a1" / "tmp_obj_Ab3xYz",
    ]
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text("")

    prepare(campaign.workspace)
    move_agent(campaign.workspace, target.head)
    move_gate(campaign.workspace, target.head)

    assert not any(lock.exists() for lock in locks)


def test_contents_are_read_by_path(target, campaign):
    """Names with newlines and words that git's own answers use; what is not there is left out."""
    commit = target.commit(
        {
            name: name.encode("utf-8", "surrogateescape")
            for name in (*HOSTILE, "x missing", "a blob 5")
        }
    )
    (target.folder / "down").mkdir()

    found = read_files(
        campaign.workspace,
        commit,
        [*HOSTILE, "x missing", "a blob 5", "nothing", "not\nthere", "pkg"],
    )

    assert found == {name: os.fsencode(name) for name in (*HOSTILE, "x missing", "a blob 5")}
    assert read_files(campaign.workspace, commit, []) == {}


def test_the_target_is_only_read(target, campaign):
    """F4: by laying and moving."""
    target.write({"a.py": "modified\n", "untracked": "u\n"})
    (target.folder / ".git" / "index.lock").write_text("foreign")
    before = target.snapshot()

    prepare(campaign.workspace)
    move_agent(campaign.workspace, campaign.workspace.base)
    move_gate(campaign.workspace, campaign.workspace.base)

    assert target.snapshot() == before


def test_our_folder_is_named_after_the_target_in_plain_characters(tmp_path):
    name = workspaces.folder_of(tmp_path / "my $(repo)\n" / ".git").name

    assert name.startswith("my---repo--")
    assert workspaces.folder_of(tmp_path / "a" / ".git") != workspaces.folder_of(
        tmp_path / "b" / ".git"
    )


def test_our_store_cannot_be_made_to_run_the_targets_drivers(target, campaign, tmp_path):
    target.plant(target.folder / ".git", tmp_path / "canary")

    status, _, _ = ask(
        store(campaign.workspace),
        "merge-tree",
        "--write-tree",
        campaign.workspace.base,
        campaign.workspace.base,
    )

    assert status == 0
    assert fired(tmp_path / "canary") == []


@pytest.mark.parametrize(("limit", "most"), [("MOST_PACKS", 1), ("MOST_LOOSE", -1)])
def test_many_small_packs_become_one_and_what_no_ref_names_is_kept(
    target, campaign, monkeypatch, limit, most
):
    chain = campaign.chain({"a.py": "2\n"}, {"a.py": "3\n"})
    campaign.chain({"a.py": "other\n"}, at=1)
    packs = store(campaign.workspace).git_dir / "objects" / "pack"
    monkeypatch.setattr(workspaces, limit, most)
    assert len(list(packs.glob("*.pack"))) > 1

    prepare(campaign.workspace)

    assert len(list(packs.glob("*.pack"))) == 1
    assert len(campaign.settle(chain, chain.commits).landed) == 2
