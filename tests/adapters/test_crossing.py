"""What crosses: the agent's commits, or `Broken` with what is wrong; whatever was done to its `.git`."""

import shutil

import pytest
from repos import Repo, fired

from adapters.processes.sandbox import available
from adapters.repository import crossing
from adapters.repository.crossing import Broken, cross, cross_theirs
from adapters.repository.git import git, object_id
from adapters.repository.workspaces import agent, move_agent, store

HELD = ["bubblewrap", "landlock"]


@pytest.fixture(name="campaign", params=["none", *HELD])
def _campaign(target, open_campaign, request):
    """With the executor's commands held back in each way, and not at all."""
    if request.param != "none":
        report = available("landlock" if request.param == "landlock" else "auto")
        if not report.works:
            pytest.skip(f"needs a sandbox: {report.why}")
    return open_campaign(
        target, sandbox={"none": "off", "bubblewrap": "required"}.get(request.param, request.param)
    )


@pytest.fixture(name="agents")
def _agents(target, campaign) -> Repo:
    """The agent's checkout on the base, as the agent sees it."""
    move_agent(campaign.workspace, target.head)
    return Repo(campaign.agent, init=False)


def test_no_commit_crosses_as_the_base(target, campaign, agents):
    assert cross(campaign.workspace, target.head, target.head) == target.head
    assert cross_theirs(campaign.workspace, target.head) == target.head


def test_commits_of_the_agents_own_cross(target, campaign, agents):
    agents.commit({"a.py": "2\n"})
    head = agents.commit({"b": "3\n"})

    assert cross_theirs(campaign.workspace, target.head) == head
    assert object_id(store(campaign.workspace), head) == head
    assert cross_theirs(campaign.workspace, target.head) == head


def test_commits_on_a_branch_of_the_agents_own_cross(target, campaign, agents):
    agents.git("checkout", "-q", "-b", "work")
    head = agents.commit({"a.py": "2\n"})

    assert cross_theirs(campaign.workspace, target.head) == head


def test_our_own_commits_do_not_depend_on_the_agents_git(target, campaign):
    chain = campaign.chain({"a.py": "2\n"})
    shutil.rmtree(campaign.agent / ".git")

    head = chain.commits[0].sha
    assert cross(campaign.workspace, target.head, head) == head


def test_nothing_of_the_target_changes(target, campaign, agents):
    before = target.snapshot()
    agents.commit({"a.py": "2\n"})

    cross_theirs(campaign.workspace, target.head)

    assert target.snapshot() == before
    assert list(target.refs) == ["refs/heads/main"]


def reinitialised(agents):
    shutil.rmtree(agents.folder / ".git")
    agents.git("init", "-q")
    agents.commit({"a.py": "new history\n"})


def amended(agents):
    agents.write({"a.py": "2\n"})
    agents.git("commit", "-q", "-a", "--amend", "-m", "amended")


def unborn(agents):
    agents.git("checkout", "-q", "--orphan", "x")


def grafted(agents):
    base = agents.head
    agents.git("checkout", "-q", "--orphan", "x")
    agents.git("replace", "--graft", agents.commit({"a.py": "x\n"}), base)


def set_back(agents):
    agents.git("update-ref", "--no-deref", "HEAD", "HEAD~1")


@pytest.mark.parametrize("how", [reinitialised, amended, unborn, grafted])
def test_rewritten_history_is_broken(target, campaign, agents, how):
    """T46, T55."""
    how(agents)

    with pytest.raises(Broken, match=r"history was rewritten|names no commit"):
        cross_theirs(campaign.workspace, target.head)


def test_a_head_that_was_set_back_is_broken(target, campaign):
    second = target.commit({"a.py": "2\n"})
    move_agent(campaign.workspace, second)
    set_back(Repo(campaign.agent, init=False))

    with pytest.raises(Broken, match="history was rewritten"):
        cross_theirs(campaign.workspace, second)


@pytest.mark.parametrize("how", ["removed", "a file", "a link"])
def test_a_git_directory_that_is_gone_is_broken_and_the_next_move_mends_it(
    target, campaign, agents, tmp_path, how
):
    """T46, S5."""
    folder = agents.folder / ".git"
    shutil.move(folder, tmp_path / "elsewhere")
    if how == "a file":
        folder.write_text(f"gitdir: {tmp_path}/elsewhere")
    elif how == "a link":
        folder.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Broken, match="removed or replaced"):
        cross_theirs(campaign.workspace, target.head)
    move_agent(campaign.workspace, target.head)
    head = agents.commit({"a.py": "2\n"})
    assert cross_theirs(campaign.workspace, target.head) == head


def test_objects_of_another_repository_cannot_be_fetched_by_a_link(
    target, campaign, agents, tmp_path
):
    """The agent's sandbox does not see them; our git would."""
    secret = Repo(tmp_path / "secret")
    head = secret.commit({"secret.txt": "canary\n"})
    (agents.folder / ".git" / "objects" / head[:2]).symlink_to(
        secret.folder / ".git" / "objects" / head[:2]
    )

    with pytest.raises(Broken, match="holds a link"):
        cross_theirs(campaign.workspace, target.head)


def test_objects_of_another_repository_cannot_be_fetched_by_alternates(
    target, campaign, agents, tmp_path
):
    secret = Repo(tmp_path / "secret")
    secret.commit({"secret.txt": "canary\n"})
    tree = secret.git("rev-parse", "HEAD^{tree}")
    (agents.folder / ".git/objects/info/alternates").write_text(
        f"{secret.folder}/.git/objects\n{target.folder}/.git/objects\n"
    )
    agents.git(
        "update-ref",
        "--no-deref",
        "HEAD",
        agents.git("commit-tree", tree, "-p", target.head, "-m", "x"),
    )

    with pytest.raises(Broken):
        cross_theirs(campaign.workspace, target.head)
    assert object_id(store(campaign.workspace), tree, "tree") is None


def test_traps_in_the_agents_git_do_not_fire(target, campaign, agents, tmp_path):
    """F5, S5: config, hooks, attributes, a second config for the worktree."""
    head = agents.commit({"a.py": "2\n"})
    agents.plant(agents.folder / ".git", tmp_path / "canary")
    shutil.copy(agents.folder / ".git/config", agents.folder / ".git/config.worktree")
    agents.git(
        "config", "--file", str(agents.folder / ".git/config"), "extensions.worktreeConfig", "true"
    )

    assert cross_theirs(campaign.workspace, target.head) == head
    move_agent(campaign.workspace, head)
    assert fired(tmp_path / "canary") == []


def test_nothing_is_written_through_links_in_the_agents_git(target, campaign, agents, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("x")
    head = agents.commit({"a.py": "2\n"})
    for name in ("config", "index", "shallow", "commondir"):
        (agents.folder / ".git" / name).unlink(missing_ok=True)
        (agents.folder / ".git" / name).symlink_to(precious)

    with pytest.raises(Broken, match="holds a link"):
        cross_theirs(campaign.workspace, target.head)
    for name in ("config", "index", "shallow", "commondir"):
        (agents.folder / ".git" / name).unlink()
    assert cross_theirs(campaign.workspace, target.head) == head
    assert precious.read_text() == "x"


def test_a_moved_common_directory_and_a_false_shallow_file_do_not_matter(
    target, campaign, agents, tmp_path
):
    head = agents.commit({"a.py": "2\n"})
    (agents.folder / ".git" / "commondir").write_text(str(tmp_path))
    (agents.folder / ".git" / "shallow").write_text(f"{head}\n")

    assert cross_theirs(campaign.workspace, target.head) == head


def test_an_object_that_fsck_refuses_does_not_cross(target, campaign, agents):
    """G24: a tree with `.git` in it, which git would check out as a repository's own folder."""
    blob = agents.git("hash-object", "-w", "a.py")
    (agents.folder / "list").write_bytes(b"100644 .GIT\0" + bytes.fromhex(blob))
    tree = agents.git("hash-object", "-w", "-t", "tree", "--literally", str(agents.folder / "list"))
    agents.git(
        "update-ref",
        "--no-deref",
        "HEAD",
        agents.git("commit-tree", tree, "-p", target.head, "-m", "x"),
    )

    with pytest.raises(Broken, match="index-pack"):
        cross_theirs(campaign.workspace, target.head)
    assert object_id(store(campaign.workspace), tree, "tree") is None


def test_a_damaged_object_does_not_cross(target, campaign, agents):
    agents.commit({"a.py": "2\n"})
    blob = agents.git("rev-parse", "HEAD:a.py")
    path = agents.folder / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes(b"garbage")

    with pytest.raises(Broken):
        cross_theirs(campaign.workspace, target.head)


def test_commits_whose_message_has_a_nul_cross_when_they_are_ours(campaign):
    """F10."""
    assert campaign.chain({"a.py": "2\n"}, message="x\0y").commits[0].subject == "xy"


def test_the_agents_own_git_directory_of_ours_lies_out_of_its_reach(campaign):
    assert campaign.agent not in agent(campaign.workspace).git_dir.parents
    assert git(agent(campaign.workspace), "rev-parse", "--is-inside-work-tree") == b"true\n"
    assert agent(campaign.workspace).git_dir.is_dir()


@pytest.mark.parametrize("campaign", HELD, indirect=True)
@pytest.mark.parametrize("how", ["link", "pipe", "folder", "noise"])
def test_a_bundle_that_is_none_is_broken(target, campaign, agents, monkeypatch, how):
    """What comes out of the sandbox was written by whoever worked in it."""
    secret = target.folder.parent / "secret"
    secret.write_text("canary")
    script = {
        "link": f'ln -s {secret} "$2"',
        "pipe": 'mkfifo "$2"',
        "folder": 'mkdir "$2"',
        "noise": 'printf "# v2 git bundle\\n%040d HEAD\\n\\nPACK" 1 > "$2"',
    }
    monkeypatch.setattr(crossing, "BUNDLE", script[how])

    with pytest.raises(Broken, match=r"no file|index-pack"):
        cross_theirs(campaign.workspace, target.head)


@pytest.mark.parametrize("campaign", HELD, indirect=True)
def test_the_bundle_is_made_where_the_executor_worked(
    target, campaign, agents, monkeypatch, tmp_path
):
    """S5: were there a way to make git run something there, it would run there."""
    canary = tmp_path / "canary"
    canary.touch()
    monkeypatch.setattr(
        crossing, "BUNDLE", f"cat {canary} 2>&1; echo x > {canary}; {crossing.BUNDLE}"
    )
    head = agents.commit({"a.py": "2\n"})

    assert cross_theirs(campaign.workspace, target.head) == head
    assert canary.read_text() == ""
