"""The campaign lock: one run per target, and it goes with the last process that holds it."""

import fcntl
import os
import sys
from pathlib import Path

import pytest

from adapters.processes import shell
from adapters.repository import lock
from adapters.repository.git import Place, search_path, start, started
from adapters.repository.lock import Holder, holder, inherited, release, take

ROOT = Path(__file__).parents[2]
HOLD = """
import sys
from pathlib import Path
from adapters.repository.lock import take
print(take(Path(sys.argv[1]), "other"), flush=True)
{more}
sys.stdin.read()
"""
WITH_GIT = """
from adapters.repository.git import Place, started
held = started(Place(git_dir=Path(sys.argv[2])), "-c", f"alias.hold=!exec cat {sys.argv[3]}", "hold")
held.__enter__()
"""


@pytest.fixture(autouse=True)
def _no_other_lock(monkeypatch):
    """Earlier tests of this process may hold some."""
    monkeypatch.setattr(lock, "_held", {})


@pytest.fixture(name="path")
def _path(tmp_path):
    yield tmp_path / "target" / "lock"
    release(tmp_path / "target" / "lock")


@pytest.fixture(name="another")
def _another(path):
    """Another process that takes the lock and waits; it is killed at the end."""
    running = []

    def another(*words, more=""):
        command = [sys.executable, "-c", HOLD.format(more=more), str(path), *words]
        process = start(command, {"PATH": search_path(), "PYTHONPATH": str(ROOT)}, ROOT)
        running.append(process)
        return process, process.stdout.readline().decode().strip()

    yield another
    for process in running:
        process.kill()
        process.communicate()


def test_a_free_lock_is_taken_twice_and_let_go_once(path):
    assert take(path, "r1") is None
    assert take(path, "r1") is None
    assert path.read_text() == f"{os.getpid()} r1\n"
    assert holder(path) == Holder(pid=os.getpid(), run="r1")

    release(path)
    release(path)

    assert holder(path) is None


def test_nobody_holds_a_lock_that_was_never_taken(path):
    assert holder(path) is None
    assert not path.exists()


def test_a_lock_that_another_process_holds_says_who(path, another):
    """R4."""
    process, said = another()
    assert said == "None"

    assert take(path, "mine") == Holder(pid=process.pid, run="other")
    assert holder(path) == Holder(pid=process.pid, run="other")
    assert path.read_text() == f"{process.pid} other\n"


def test_the_lock_of_a_process_that_ended_is_taken_over(path, another):
    """R4: killed, and not asked."""
    process, _ = another()
    process.kill()
    process.wait()

    assert holder(path) is None
    assert take(path, "mine") is None
    assert path.read_text() == f"{os.getpid()} mine\n"


def test_a_git_child_of_a_dead_run_still_holds_the_lock(path, another, target, tmp_path):
    """R4: until it has stopped writing."""
    os.mkfifo(tmp_path / "pipe")
    process, _ = another(str(target.folder / ".git"), str(tmp_path / "pipe"), more=WITH_GIT)
    with (tmp_path / "pipe").open("w"):  # it waits for us: the child is there, and reads
        process.kill()
        process.wait()
        held = take(path, "mine")

    assert held == Holder(pid=process.pid, run="other")
    with path.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # until the child is gone
    assert take(path, "mine") is None


def test_a_run_waits_for_the_git_children_of_a_dead_one_and_for_nobody_else(
    path, another, target, tmp_path, monkeypatch
):
    """R4: a run that crashed goes on after 15 s, whatever of it is still writing."""
    os.mkfifo(tmp_path / "pipe")
    process, _ = another(str(target.folder / ".git"), str(tmp_path / "pipe"), more=WITH_GIT)
    pipe = (tmp_path / "pipe").open("w")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == lock.TRIES + 1:  # it has seen that it is an orphan
            pipe.close()

    monkeypatch.setattr(lock.time, "sleep", wait)
    assert lock.take_over(path, "mine") == Holder(pid=process.pid, run="other"), "it lives"
    assert len(waits) <= lock.TRIES, "it was waited for"
    process.kill()
    process.wait()
    waits.clear()

    assert lock.take_over(path, "mine") is None
    assert path.read_text() == f"{os.getpid()} mine\n"


def test_asking_who_holds_it_neither_takes_nor_changes_the_lock(path, another):
    assert take(path, "r1") is None
    release(path)
    before = path.read_bytes()

    assert holder(path) is None

    assert path.read_bytes() == before
    _, said = another()
    assert said == "None"


def test_our_git_children_inherit_it_and_other_programs_do_not(path, target):
    assert inherited() == ()
    take(path, "r1")
    (handle,) = inherited()

    with started(Place(git_dir=target.folder / ".git"), "cat-file", "--batch") as process:
        process.stdin.write(b"HEAD\n")
        process.stdin.flush()
        process.stdout.readline()
        assert Path(f"/proc/{process.pid}/fd/{handle}").samefile(path)
        process.kill()
    seen = shell.run(
        ["ls", "/proc/self/fd"], cwd=path.parent, env=os.environ, timeout_seconds=60, contain=False
    )
    assert str(handle) not in seen.output.split()


def test_a_lock_file_with_nonsense_in_it_names_nobody(path, another):
    another()
    path.write_text("nonsense")

    assert take(path, "mine") == Holder()


def test_locks_of_two_targets_do_not_meet(tmp_path, path):
    assert take(path, "r1") is None
    assert take(tmp_path / "b" / "lock", "r1") is None

    release(tmp_path / "b" / "lock")
    assert list(lock._held) == [path]
