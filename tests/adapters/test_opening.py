"""Opening a target: every state of a repository is either a run, or a refusal of its own that writes nothing."""

import os
from pathlib import Path

import pytest
from repos import Repo, fired

from adapters.repository.opening import open_target, touched_by_branch, uncommitted
from domain.axis import parse_axis
from domain.target import Target, is_url
from domain.value import Refused


def opened(repo, **more):
    folder = repo.folder if isinstance(repo, Repo) else repo
    return open_target(Target(repo=str(folder), **more), "ruff-up", "r1")


def refused(repo, **more):
    """The words of the refusal; nothing was written."""
    with pytest.raises(Refused) as refusal:
        opened(repo, **more)
    assert not Path(os.environ["SWATHE_HOME"]).exists()
    return str(refusal.value)


def test_a_repository_is_opened_on_its_head_and_nothing_is_written(target, home):
    before = target.snapshot()

    workspace = opened(target)

    assert workspace.base == target.head
    assert workspace.git_dir == str(target.folder / ".git")
    assert workspace.branch == "refs/heads/swathe/ruff-up"
    assert target.snapshot() == before
    assert not home.exists()


def test_a_folder_below_the_root_is_the_same_repository(target):
    assert opened(target.folder / "pkg") == opened(target).model_copy(
        update={"target": Target(repo=str(target.folder / "pkg"))}
    )


def test_a_detached_head_is_a_base(target):
    """F7."""
    first = target.head
    target.commit({"a.py": "2\n"})
    target.git("checkout", "-q", "--detach", first)

    assert opened(target).base == first


def test_a_branch_called_trunk_is_a_base(tmp_path):
    """F7."""
    repo = Repo(tmp_path / "t")
    repo.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    head = repo.commit({"a": "1"})

    assert opened(repo).base == opened(repo, base="trunk").base == head


def test_a_linked_worktree_has_its_own_head_and_the_common_directory(target, tmp_path):
    """F7, T53: the base is where the operator stands."""
    target.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", init=False)
    head = linked.commit({"a.py": "side\n"})

    workspace = opened(linked)

    assert (workspace.base, workspace.git_dir) == (head, str(target.folder / ".git"))
    assert workspace.home == opened(target).home


def test_a_base_that_is_asked_for_is_taken(target):
    """T53."""
    first = target.head
    target.git("tag", "v1")
    target.commit({"a.py": "2\n"})

    assert opened(target, base="v1").base == first
    assert opened(target, base="HEAD~1").base == first


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    """F8."""
    assert "no folder" in refused(tmp_path / "nothing")


def test_a_file_is_refused_also_from_inside_another_repository(target, monkeypatch):
    """Git would have looked around where we stand."""
    monkeypatch.chdir(target.folder)

    assert "no folder" in refused(target.folder / "a.py")


def test_what_is_no_repository_is_refused(tmp_path):
    """F8."""
    (tmp_path / "plain").mkdir()

    assert "is not a git repository" in refused(tmp_path / "plain")


def test_a_repository_without_a_commit_is_refused(tmp_path):
    """F8."""
    assert "has no commit yet" in refused(Repo(tmp_path / "empty"))


def test_an_unborn_branch_is_refused_with_the_branches_there_are(target):
    """F8."""
    target.git("checkout", "-q", "--orphan", "fresh")

    said = refused(target)

    assert "no commit 'HEAD'" in said
    assert "Branches: main" in said


def test_a_base_that_is_not_there_is_refused_with_the_branches_there_are(target):
    assert "no commit 'nope'" in refused(target, base="nope")
    assert "Branches: main" in refused(target, base="--upload-pack=touch x")


def test_a_bare_repository_is_refused_with_what_to_do(tmp_path):
    """F8."""
    repo = Repo(tmp_path / "bare.git", "--bare")

    said = refused(repo)

    assert "is a bare repository" in said
    assert f"file://{tmp_path}/bare.git" in said


def test_the_inside_of_a_git_directory_is_no_bare_repository(target):
    assert "lies inside a git directory" in refused(target.folder / ".git")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_repository_of_somebody_else_is_refused_with_the_exact_path(target, monkeypatch):
    """F8."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    for above, folders, files in os.walk(target.folder):
        for name in (".", *folders, *files):
            os.lchown(Path(above, name), 12345, 12345)

    said = refused(target)

    assert f"git config --global --add safe.directory {target.folder}" in said


def test_a_repository_that_the_operator_trusts_is_opened(target, monkeypatch, tmp_path):
    monkeypatch.delenv("SUDO_UID", raising=False)
    os.lchown(target.folder, 12345, 12345) if os.getuid() == 0 else None
    config = tmp_path / "gitconfig"
    config.write_text(f"[safe]\n\tdirectory = {target.folder}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))

    assert opened(target).base


def test_a_home_inside_the_target_is_refused(target):
    """Our files would be the target's untracked ones."""
    os.environ["SWATHE_HOME"] = str(target.folder / "work")

    with pytest.raises(Refused, match="lies inside"):
        opened(target)


def test_a_shallow_clone_is_opened(target, tmp_path):
    """F7."""
    target.commit({"a.py": "2\n"})
    target.git("clone", "-q", "--depth=1", f"file://{target.folder}", str(tmp_path / "shallow"))

    assert opened(tmp_path / "shallow").base == target.head


def test_a_partial_clone_is_opened_when_all_of_the_base_is_there(target, tmp_path):
    target.git("config", "uploadpack.allowFilter", "true")
    target.git(
        "clone", "-q", "--filter=blob:none", f"file://{target.folder}", str(tmp_path / "whole")
    )
    target.git(
        "clone",
        "-q",
        "--filter=blob:none",
        "-n",
        f"file://{target.folder}",
        str(tmp_path / "empty"),
    )

    assert opened(tmp_path / "whole").base == target.head
    assert "3 objects of the base" in refused(tmp_path / "empty")


def test_a_folder_with_a_newline_in_its_name_is_opened(tmp_path):
    repo = Repo(tmp_path / "two\nlines")
    repo.commit({"a": "1"})

    assert opened(repo).git_dir == str(tmp_path / "two\nlines" / ".git")


@pytest.mark.parametrize(
    ("repo", "url"),
    [
        ("https://example.com/a.git", True),
        ("git@example.com:a/b.git", True),
        ("ssh://git@example.com/a", True),
        ("file:///srv/a.git", True),
        ("ext::sh -c touch", False),
        ("./a", False),
        ("/srv/a", False),
        ("-x", False),
    ],
)
def test_a_url_is_told_from_a_path(repo, url):
    assert is_url(repo) is url


@pytest.mark.parametrize(
    "axis", ["--upload-pack=x", "HEAD", "a/$(id)", "x.lock", "../x", "-", "a..b", "@{u}"]
)
def test_an_axis_that_could_be_a_hostile_branch_is_refused_at_launch(axis):
    """F11."""
    with pytest.raises(Refused):
        parse_axis(axis, {})


def test_without_a_branch_everything_is_in_scope(target):
    assert touched_by_branch(opened(target)) is None


def test_a_branch_limits_the_scope_to_what_it_touched(target):
    target.git("checkout", "-q", "-b", "feature")
    target.commit({"a.py": "2\n", "new \udcff.py": "x\n", "pkg/b.py": None})
    target.git("checkout", "-q", "main")
    target.commit({"tests/test_a.py": "elsewhere\n"})
    target.git("checkout", "-q", "feature")

    assert touched_by_branch(opened(target, branch="main")) == {"a.py", "new \udcff.py"}


def test_a_branch_that_is_not_there_is_refused(target):
    with pytest.raises(Refused, match="no branch 'nope'"):
        touched_by_branch(opened(target, branch="nope"))


def test_a_branch_of_another_history_is_refused(target):
    target.git("checkout", "-q", "--orphan", "other")
    target.commit({"x": "1"})
    target.git("checkout", "-q", "main")

    with pytest.raises(Refused, match="no common history"):
        touched_by_branch(opened(target, branch="other"))


def test_a_clean_work_tree_has_nothing_uncommitted(target):
    assert uncommitted(opened(target)) == 0


def test_uncommitted_work_is_counted_and_left_alone(target):
    """F4, T54."""
    target.write({"a.py": "modified\n", "staged.py": "s\n", "untracked.py": "u\n"})
    target.git("add", "staged.py")
    target.git("mv", "pkg/b.py", "pkg/c.py")
    (target.folder / ".git" / "index.lock").write_text("foreign")
    before = target.snapshot()

    # A rename is told as what it was: one file gone, one new.
    assert uncommitted(opened(target)) == 5
    assert target.snapshot() == before


def test_looking_for_uncommitted_work_runs_no_program_of_the_repository(target, tmp_path):
    """F5: G3, G7; a required filter (as `git lfs install` sets it) does not blind us."""
    target.write({"b.x": "x\n", ".gitattributes": "* filter=x diff=x\n"})
    target.git("add", "-A")
    target.git("commit", "-q", "-m", "x")
    target.plant(target.folder / ".git", tmp_path / "canary")
    target.git(
        "config", "--file", str(target.folder / ".git/config"), "filter.odd=name.clean", "false"
    )
    os.utime(target.folder / "a.py", (1, 1))
    target.write({"b.x": "changed\n"})

    assert uncommitted(opened(target)) == 1
    assert fired(tmp_path / "canary") == []
