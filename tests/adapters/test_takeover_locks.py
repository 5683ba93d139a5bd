"""Locks of a killed git are taken away in the clone alone: its `.git` may hold links to anywhere."""

from pathlib import Path

import pytest

from adapters.takeover import unlock


@pytest.fixture(name="outside")
def _outside(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.lock").write_text("")
    return outside


def test_locks_go_and_all_else_stays(tmp_path: Path, outside: Path):
    clone = tmp_path / "clone"
    (clone / ".git" / "refs" / "heads").mkdir(parents=True)
    (clone / ".git" / "index.lock").write_text("")
    (clone / ".git" / "refs" / "heads" / "main.lock").write_text("")
    (clone / ".git" / "index").write_text("kept")
    (clone / "poetry.lock").write_text("kept")
    (clone / ".git" / "away").symlink_to(outside)
    (clone / ".git" / "one.lock").symlink_to(outside / "theirs.lock")

    unlock(clone)

    assert not list((clone / ".git").glob("**/*.lock"))
    assert (clone / ".git" / "index").exists()
    assert (clone / "poetry.lock").exists()
    assert (outside / "theirs.lock").exists()


def test_a_git_folder_that_is_a_link_is_not_entered(tmp_path: Path, outside: Path):
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / ".git").symlink_to(outside)

    unlock(clone)

    assert (outside / "theirs.lock").exists()
