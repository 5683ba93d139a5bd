"""The git door: nothing that a repository holds, or our environment carries, makes it start a program."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from git import GitCommandError
from repos import Repo, fired

from adapters.repository.git import (
    GitFailed,
    Place,
    ask,
    contains,
    git,
    object_id,
    refs,
    started,
    version,
)


@pytest.fixture(name="place")
def _place(target: Repo) -> Place:
    return Place(git_dir=target.folder / ".git", work_tree=target.folder)


@pytest.fixture(name="trapped")
def _trapped(target: Repo, tmp_path: Path) -> Path:
    """The target, with every trap of facts/security.md §2.2 set; the folder they report to."""
    target.plant(target.folder / ".git", tmp_path / "canary")
    target.write({"a.py": "changed\n", ".gitattributes": "* filter=x diff=x merge=x\n"})
    return tmp_path / "canary"


def test_the_traps_do_fire_under_plain_git(target, trapped):
    with suppress(GitCommandError):
        target.git("status")
    with suppress(GitCommandError):
        target.git(
            "-c",
            "filter.x.required=false",
            "commit",
            "-q",
            "--no-gpg-sign",
            "--allow-empty",
            "-m",
            "x",
        )

    assert {"fsmonitor", "process", "hook-pre-commit", "hook-reference-transaction"} <= set(
        fired(trapped)
    )


def test_no_trap_fires_through_the_door(place, target, trapped):
    """F5: G1-G3, G8-G12, G14."""
    head = target.git("-c", "core.fsmonitor=false", "rev-parse", "HEAD")
    filters_off = (
        "filter.x.clean=",
        "filter.x.smudge=",
        "filter.x.process=",
        "filter.x.required=false",
    )
    git(place, "status", "--porcelain", options=filters_off)
    git(place, "diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--root", head)
    git(place, "read-tree", head)
    git(place, "commit", "-q", "--allow-empty", "-m", "x", options=filters_off)
    git(place, "update-ref", "refs/heads/other", head)
    git(place, "merge-tree", "--write-tree", head, "other", options=("merge.x.driver=",))
    git(place, "worktree", "list")
    git(place, "bundle", "create", "-q", "-", "other")
    status, _, _ = ask(place, "fetch", "o")

    assert status != 0
    assert fired(trapped) == []


def test_there_is_an_identity_without_a_home_or_a_setting(place, target):
    """F6."""
    for name in [name for name in os.environ if name.startswith("GIT_") or name == "HOME"]:
        del os.environ[name]

    git(place, "commit", "-q", "--allow-empty", "-m", "x")

    assert (
        git(place, "log", "-1", "--format=%an %cn <%ce>") == b"Swathe Swathe <swathe@localhost>\n"
    )


@pytest.mark.parametrize(
    "hostile",
    ["--upload-pack=x", "-h", "--output=x", "HEAD~99", "a/$(id)", "", "x\ny", "../x", "--"],
)
def test_a_revision_is_never_an_option(place, hostile, tmp_path):
    """F11: G13, G22."""
    assert object_id(place, hostile) is None
    assert not (Path.cwd() / "x").exists()


def test_a_revision_that_is_there_is_found(place, target):
    target.git("tag", "-a", "-m", "x", "v1")

    assert object_id(place, "v1") == target.head
    assert object_id(place, "HEAD", "tree") == target.git("rev-parse", "HEAD^{tree}")


def test_a_failure_says_what_was_asked_and_what_git_said(place):
    with pytest.raises(
        GitFailed, match=r"`git cat-file blob nothing` ended with 128: .*nothing"
    ) as failed:
        git(place, "cat-file", "blob", "nothing")

    assert failed.value.status == 128


def test_ancestry_is_told_and_a_missing_commit_is_an_error(place, target):
    first = target.head
    second = target.commit({"a.py": "2\n"})

    assert contains(place, first, second)
    assert contains(place, first, first)
    assert not contains(place, second, first)
    with pytest.raises(GitFailed):
        contains(place, "f" * 40, first)


def test_refs_are_found_by_their_beginning(place, target):
    target.git("branch", "swathe/x")
    target.git("branch", "swathe/x-y")

    assert refs(place, "refs/heads/swathe/x") == {"refs/heads/swathe/x": target.head}
    assert set(refs(place, "refs/heads/swathe")) == {"refs/heads/swathe/x", "refs/heads/swathe/x-y"}
    assert refs(place, "refs/none") == {}


def test_a_git_that_is_left_in_the_middle_is_killed(place):
    left = started(place, "cat-file", "--batch")
    process = left.__enter__()
    assert process.poll() is None

    assert not left.__exit__(KeyError, KeyError(), None)

    assert process.returncode == -9


def test_the_version_is_a_pair_of_numbers():
    assert version() >= (2, 38)
    assert len(version()) == 2


def test_output_is_bytes_in_whatever_locale(place, target, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.ISO-8859-1")
    monkeypatch.setenv("LANGUAGE", "de")

    target.commit({"caf\xe9.py": b"\xe9\xff\n"})

    assert git(place, "cat-file", "blob", "HEAD:caf\xe9.py") == b"\xe9\xff\n"
    _, _, err = ask(place, "cat-file", "blob", "nothing")
    assert err.startswith(b"fatal: Not a valid object name")


def test_an_interruption_after_git_has_ended_is_told_as_it_is(target):
    """Ctrl-C between the end of git and the next line."""
    place = Place(git_dir=target.folder / ".git")

    def interrupted():
        with started(place, "rev-parse", "HEAD") as process:
            process.communicate()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
