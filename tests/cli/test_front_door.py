import errno
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from adapters.home import swathe_home
from adapters.processes import shell
from adapters.repository.git import GitFailed
from domain.value import Busy, Refused

REFUSED, DEFECT, INTERRUPTED = 2, 70, 130


def python(*arguments: str) -> shell.Finished:
    return shell.run(
        [sys.executable, *arguments],
        cwd=Path.cwd(),
        env=dict(os.environ),
        timeout_seconds=60,
        contain=False,
        apart=True,
    )


def test_a_refusal_is_a_message_and_exit_code_2(swathe, engine):
    engine.failure = Refused("the tree is 'dirty'. Commit it first.")

    ran = swathe("run", ".", "--axis", "ruff:UP")

    assert (ran.code, ran.out, ran.err) == (
        REFUSED,
        "",
        "swathe: the tree is 'dirty'. Commit it first.\n",
    )


def test_a_held_target_is_exit_code_75(swathe, engine):
    engine.failure = Busy("run r0 holds '/src/x'.")

    ran = swathe("take", ".", "--axis", "ruff:UP")

    assert (ran.code, ran.err) == (75, "swathe: run r0 holds '/src/x'.\n")


def test_a_defect_leaves_a_log_and_no_traceback(swathe, engine, home):
    engine.failure = ZeroDivisionError("clone of https://me:secret@example.org/x failed")

    ran = swathe("run", ".", "--axis", "ruff:UP")

    log = next((home / "crashes").iterdir())
    assert ran.code == DEFECT
    assert "Traceback" not in ran.err
    assert ran.err.count("\n") == 1
    assert "this is a defect of Swathe" in ran.err
    assert str(log) in ran.err
    assert "ZeroDivisionError" in log.read_text()
    assert "secret" not in log.read_text()


def test_a_defect_is_told_even_where_nothing_can_be_written(
    swathe, engine, home, monkeypatch, tmp_path
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    home.write_text("not a folder")
    engine.failure = ZeroDivisionError()

    ran = swathe("run", ".", "--axis", "ruff:UP")

    assert ran.code == DEFECT
    assert Path(ran.err.rsplit(": ", 1)[1].strip()).is_file()


@pytest.mark.parametrize(
    "trouble",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/src/x/state.json"),
        GitFailed("index-pack --stdin", 128, "fatal: write error: No space left on device"),
        GitFailed("read-tree", 128, "fatal: sha1 file 'index.lock' write error. Out of diskspace"),
        OSError(errno.EIO, os.strerror(errno.EIO)),
    ],
    ids=["full", "full for git", "full for an index", "broken"],
)
def test_a_disk_that_takes_no_more_is_no_defect(swathe, engine, home, trouble):
    """Found by the crash harness, mode disk: the log of the defect could not be written either."""
    home.write_text("not a folder")
    engine.failure = trouble

    ran = swathe("run", ".", "--axis", "ruff:UP")

    assert ran.code == REFUSED
    assert str(trouble) in ran.err
    assert "run the same command again" in ran.err
    assert "defect" not in ran.err


def test_another_error_of_the_system_is_a_defect(swathe, engine):
    engine.failure = OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), "/src/x")

    assert swathe("run", ".", "--axis", "ruff:UP").code == DEFECT


def test_a_defect_is_told_without_a_log_where_no_file_can_be_written(
    swathe, engine, home, monkeypatch, tmp_path
):
    home.write_text("not a folder")
    engine.failure = ZeroDivisionError("what happened")

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
        ran = swathe("run", ".", "--axis", "ruff:UP")

    assert ran.code == DEFECT
    assert ran.err.endswith("It says: what happened\n")


def test_an_interruption_is_told_as_one(swathe, engine):
    engine.failure = KeyboardInterrupt()

    ran = swathe("run", ".", "--axis", "ruff:UP")

    assert ran.code == INTERRUPTED
    assert "What has landed is kept; run the same command again to go on." in ran.err


STOPPED_WHILE = """
import atexit, os, signal, sys
import cli.run
from cli import main

def be_stopped():
    os.kill(os.getpid(), signal.SIGTERM)

class Finalized:
    def __del__(self):
        be_stopped()

def told_otherwise():
    try:
        be_stopped()
    except KeyboardInterrupt:
        raise ValueError("what an extension makes of it") from None

def at_once():
    be_stopped()

def finalizing():
    Finalized()
    signal.pause()

def finalizing_on_a_busy_machine():
    from cli import interruption
    class Early(interruption.Thread):
        def start(self):
            be_stopped()
            super().start()
    interruption.Thread = Early
    finalizing()

def leaving():
    atexit.register(be_stopped)

cli.run._carry_out = lambda options, as_json: globals()[sys.argv[0]]()
sys.argv = [sys.argv[1], "run", ".", "--axis", "ruff:UP"]
main.main()
"""


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ("at_once", INTERRUPTED),
        ("finalizing", INTERRUPTED),
        ("finalizing_on_a_busy_machine", INTERRUPTED),
        ("told_otherwise", INTERRUPTED),
        ("leaving", -signal.SIGTERM),
    ],
)
def test_who_asks_a_run_to_stop_never_sees_a_traceback(when, code):
    """Found by the crash harness: one in some hundred interruptions came while Python could not raise it."""
    ran = python("-c", STOPPED_WHILE, when)

    assert ran.exit_code == code
    assert "Traceback" not in ran.errors
    assert ran.errors.count("What has landed is kept") == (code == INTERRUPTED)


@pytest.mark.parametrize(
    "arguments",
    [
        ("nope",),
        ("run",),
        ("run", "."),
        ("run", ".", "--axis", "a", "--grain", "heap"),
        ("status", ".", "--nope"),
    ],
)
def test_a_wrong_usage_exits_with_2(swathe, engine, arguments):
    ran = swathe(*arguments)

    assert ran.code == REFUSED
    assert "Traceback" not in ran.err
    assert engine.asked == []


def test_the_version_is_printed(swathe):
    assert swathe("--version").out.startswith("swathe ")


@pytest.mark.parametrize(
    "verb", ["demo", "run", "plan", "status", "report", "doctor", "take", "enough", "server"]
)
def test_every_verb_has_help(swathe, verb):
    ran = swathe(verb, "--help")

    assert ran.code == 0
    assert "Usage: swathe" in ran.out


def test_a_home_that_is_relative_is_refused(swathe, monkeypatch):
    monkeypatch.setenv("SWATHE_HOME", "here")

    assert "SWATHE_HOME is 'here', a relative path" in swathe("server", "status").err


def test_the_home_follows_the_state_folder_of_the_desktop(monkeypatch, tmp_path):
    monkeypatch.delenv("SWATHE_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert swathe_home() == tmp_path / "swathe"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert swathe_home() == Path.home() / ".local" / "state" / "swathe"


def test_a_reader_that_has_seen_enough_is_no_defect(home):
    report = home / "targets" / "x" / "runs" / "r1" / "report.json"
    report.parent.mkdir(parents=True)
    landed = [{"sha": "f", "site": "a.py:1", "subject": "s" * 500, "verified": "alone"}] * 400
    said = {
        "run": "r1",
        "ending": "complete",
        "why": "",
        "axis": "a",
        "target": "t",
        "landed": landed,
    }
    report.write_text(json.dumps(said))

    ran = shell.run(
        f"{sys.executable} -m cli.main report r1 | head -1",
        cwd=Path.cwd(),
        env=dict(os.environ),
        timeout_seconds=60,
        contain=False,
        apart=True,
    )

    assert ran.output == "# a on t: complete\n"
    assert ran.errors == ""


@pytest.mark.parametrize(
    "verb", [["--help"], ["run", "--help"], ["server", "status"], ["report", "last"]]
)
def test_a_verb_that_needs_no_flow_never_imports_prefect(verb):
    """How much sooner they answer is measured in `benchmarks/startup.py`."""
    script = (
        "import sys, cli.main\n"
        "sys.argv = ['swathe', *sys.argv[1:]]\n"
        "try:\n    cli.main.main()\n"
        "finally:\n    assert not {'prefect', 'detect_secrets'} & sys.modules.keys()\n"
    )
    ran = python("-c", script, *verb)

    assert "AssertionError" not in ran.errors
    assert ran.exit_code == (REFUSED if verb[0] == "report" else 0)
