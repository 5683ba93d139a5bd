"""Removing what other people's code has left."""

import os
from pathlib import Path

import pytest

from adapters.erasing import erase


def deep(folder, name, levels):
    """As a test does it: a folder in a folder in a folder. Its whole path is longer than the kernel takes."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


@pytest.mark.parametrize(("name", "levels"), [("d", 2_000), ("n" * 255, 1_100)])
def test_a_folder_of_any_depth_goes(tmp_path, name, levels):
    (tmp_path / "made").mkdir()
    deep(tmp_path / "made", name, levels)

    erase(tmp_path / "made")

    assert list(tmp_path.iterdir()) == []


def test_links_go_and_what_they_lead_to_stays(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    made = tmp_path / "made"
    (made / "inner").mkdir(parents=True)
    (made / "inner" / "link").symlink_to(kept)
    (made / "dangling").symlink_to("nowhere")
    os.mkfifo(made / "fifo")
    (tmp_path / "link").symlink_to(kept)

    erase(made)
    erase(tmp_path / "link")
    erase(tmp_path / "never there")

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (kept / "file").exists()


def test_names_that_are_no_text_go(tmp_path):
    made = tmp_path / "made"
    (made / os.fsdecode(b"\xff") / os.fsdecode(b"\xfe")).mkdir(parents=True)

    erase(made)

    assert not made.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="becomes somebody else")
def test_folders_that_were_closed_go_too(tmp_path):
    """Root may enter any folder, so it is done by somebody else."""
    made = tmp_path / "made"
    (made / "a" / "b").mkdir(parents=True)
    (made / "a" / "b" / "file").touch()
    for path in (made / "a" / "b", made / "a", made, tmp_path):
        os.chown(path, 65534, 65534)
    for path in (made / "a" / "b", made / "a", made):
        path.chmod(0)
    child = os.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.setuid(65534)
        try:
            erase(Path("made"))
        finally:
            os._exit(0)

    os.waitpid(child, 0)

    assert list(tmp_path.iterdir()) == []
