"""Temporary folders: gone with the block, and after a kill gone with the next run."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from adapters.processes.temporary import PREFIX, forget_abandoned, temporary_folder
from adapters.repository.git import start

ROOT = Path(__file__).parents[2]
HOLD = """
import sys
from adapters.processes.temporary import private_home, temporary_folder
print(private_home())
with temporary_folder() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True, name="room")
def _room(tmp_path, monkeypatch):
    """What is temporary in this test."""
    room = tmp_path / "tmp"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    return room


@pytest.fixture(name="another")
def _another(room):
    """A process that holds two folders; killed at the end."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(room)}
    process = start([sys.executable, "-c", HOLD], env, ROOT)
    folders = [Path(process.stdout.readline().decode().strip()) for _ in range(2)]
    yield process, folders
    process.kill()
    process.communicate()


def test_a_folder_is_there_for_the_block_and_gone_after_it(room):
    with temporary_folder() as folder:
        assert Path(folder).parent == room
        Path(folder, "inside").mkdir()
        forget_abandoned()
        assert Path(folder, "inside").is_dir(), "it is ours, and in use"

    assert list(room.iterdir()) == []


def test_what_a_killed_process_held_is_removed_and_what_a_live_one_holds_is_not(another):
    process, folders = another
    (folders[1] / "inside").mkdir()

    forget_abandoned()
    assert all(folder.is_dir() for folder in folders)

    process.kill()
    process.wait()
    forget_abandoned()
    assert not any(folder.exists() for folder in folders)


def test_a_folder_in_the_home_is_hidden_and_removed_like_the_others(room, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    abandoned = home / f".{PREFIX}abandoned"
    abandoned.mkdir()

    with temporary_folder(home) as folder:
        forget_abandoned()
        assert [path.name for path in home.iterdir()] == [Path(folder).name]
        assert Path(folder).name.startswith(".")

    assert list(home.iterdir()) == []


def test_nothing_else_is_taken_for_abandoned(room, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (room / f"{PREFIX}link").symlink_to(theirs)
    (room / f"{PREFIX}file").write_text("")
    (room / "swathe-crash-x").mkdir()
    before = sorted(room.iterdir())

    forget_abandoned()

    assert sorted(room.iterdir()) == before
    assert theirs.is_dir()
