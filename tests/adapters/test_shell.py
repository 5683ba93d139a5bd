"""The one door for subprocesses: typed ends, bounded memory, nothing left behind."""

import os
import pickle
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.processes import child, shell
from adapters.processes.finished import CommandFailed, Finished

ROOT = Path(__file__).parents[2]
DOUBLING = """
import os, time
for _ in range({times}):
    os.fork()
if os.getpid() != os.getpgid(0):
    os.setsid()
time.sleep(1000)
"""


def sh(command, folder, seconds=60.0, **options):
    env = shell.scrubbed_environment({"HOME": str(folder)})
    return shell.run(command, cwd=folder, env=env, timeout_seconds=seconds, **options)


def running(mark):
    """Pids of the processes that have `mark` among their arguments or in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            said = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and int(entry.name) != os.getpid() and mark.encode() in said:
            found.append(int(entry.name))
    return found


def within(seconds, condition):
    """Ask until `condition` holds; what it said last."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.fixture(name="mark")
def _mark():
    """A word to find our processes by; none of them may be left after the test."""
    word = f"mark-{uuid4().hex}"
    yield word
    left = running(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


@pytest.mark.parametrize("contain", [True, False])
def test_the_exit_code_is_passed_on(tmp_path, contain):
    assert sh("exit 0", tmp_path, contain=contain).ok
    assert sh("exit 3", tmp_path, contain=contain).exit_code == 3
    assert sh(["/bin/sh", "-c", "exit 4"], tmp_path, contain=contain).exit_code == 4


@pytest.mark.parametrize("contain", [True, False])
def test_the_end_by_a_signal_is_named(tmp_path, contain):
    done = sh("kill -SEGV $$", tmp_path, contain=contain)

    assert (done.ended, done.exit_code) == ("exited", -signal.SIGSEGV)
    assert done.how == "was ended by SIGSEGV"


def test_a_signal_that_a_shell_reports_is_named_too(tmp_path):
    assert sh("sh -c 'kill -ABRT $$'; exit $?", tmp_path).how == "was ended by SIGABRT"


@pytest.mark.parametrize("contain", [True, False])
def test_a_program_that_is_not_there_is_127_as_in_a_shell(tmp_path, contain):
    done = sh(["no-such-program"], tmp_path, contain=contain)

    assert done.exit_code == 127
    assert "no-such-program" in done.output


@pytest.mark.parametrize("contain", [True, False])
def test_a_command_that_waits_on_stdin_gets_its_end(tmp_path, contain):
    done = sh("cat; echo read all", tmp_path, contain=contain)

    assert done.output == "read all\n"


def test_stdin_larger_than_a_pipe_arrives_whole(tmp_path):
    assert sh("wc -c", tmp_path, stdin=b"x" * 3_000_000).output.strip() == "3000000"


def test_standard_error_can_be_kept_apart(tmp_path):
    done = sh("echo out; echo err >&2", tmp_path, apart=True)

    assert (done.output, done.errors) == ("out\n", "err\n")


def test_output_that_is_no_utf8_does_not_break_the_run(tmp_path):
    assert sh(r"printf 'a\377b'", tmp_path).output == "a�b"


def test_a_timeout_is_typed_keeps_the_partial_log_and_leaves_nothing(tmp_path, mark):
    log = tmp_path / "log"
    script = f"printf 'before\\377\\n'; (sleep 1000 {mark}; true) & setsid sh -c 'sleep 999; : {mark}' & wait"

    done = sh(script, tmp_path, seconds=0.5, log=log)

    assert (done.ended, done.exit_code, done.ok) == ("timeout", None, False)
    assert done.seconds < 0.5 + child.INTERRUPT_SECONDS + 3
    assert log.read_bytes().startswith(b"before\xff\n")
    assert running(mark) == []


def test_at_the_deadline_the_command_may_say_where_it_hangs(tmp_path):
    done = sh([sys.executable, "-c", "import time\ntime.sleep(1000)"], tmp_path, seconds=1)

    assert done.ended == "timeout"
    assert "KeyboardInterrupt" in done.output


def test_a_command_that_ignores_the_interrupt_is_killed(tmp_path):
    done = sh("trap '' INT TERM HUP; while :; do sleep 0.1; done", tmp_path, seconds=0.3)

    assert done.ended == "timeout"
    assert done.left > 0


def test_daemons_of_a_command_that_succeeded_are_gone_when_it_returns(tmp_path, mark):
    script = f"""
        setsid nohup sh -c 'sleep 1000; : {mark}' >/dev/null 2>&1 &
        (setsid sh -c '(sleep 1000; : {mark}) & exec sleep 1000' &)
        sleep 1000 &
        echo started
    """

    done = sh(script, tmp_path)

    assert (done.exit_code, done.output) == (0, "started\n")
    assert done.left >= 3
    assert running(mark) == []


def test_a_daemon_that_holds_the_output_does_not_hold_the_run(tmp_path):
    assert sh("setsid sleep 1000 & echo done", tmp_path, seconds=50).seconds < 10


def test_two_hundred_daemons_in_sessions_of_their_own_are_killed(tmp_path, mark):
    done = sh(f"for i in $(seq 200); do setsid sh -c 'sleep 1000; : {mark}' & done", tmp_path)

    assert done.left >= 200
    assert running(mark) == []


def test_a_fork_bomb_is_stopped_and_typed(tmp_path, mark, monkeypatch):
    monkeypatch.setattr(shell, "MOST_PROCESSES", 100)
    bomb = DOUBLING.format(times=9)

    done = sh([sys.executable, "-S", "-c", bomb, mark], tmp_path)

    assert (done.ended, done.exit_code) == ("processes", None)
    assert running(mark) == []


def test_a_command_that_kills_its_supervisor_is_lost_and_leaves_nothing(tmp_path, mark):
    done = sh(f"(setsid sh -c 'sleep 1000; : {mark}' &); kill -9 $PPID; sleep 1000", tmp_path)

    assert (done.ended, done.exit_code) == ("lost", None)
    assert within(5, lambda: not running(mark))


def test_a_command_that_stops_its_supervisor_does_not_stop_the_run(tmp_path, mark):
    done = sh(f"(setsid sh -c 'sleep 1000; : {mark}' &); kill -STOP $PPID; sleep 1000", tmp_path)

    assert done.ended == "lost"
    assert done.seconds < 20
    assert running(mark) == []


def test_the_command_holds_neither_the_status_pipe_nor_the_lifeline(tmp_path):
    assert sh("ls /proc/self/fd | tr '\\n' ' '", tmp_path).output == "0 1 2 3 "


def test_everything_is_gone_a_second_after_the_engine_was_killed(tmp_path, mark):
    """S8."""
    script = f"(setsid sh -c 'sleep 1000; : {mark}' &); sh -c 'sleep 1000; : {mark}'"
    engine = f"""
from pathlib import Path
from adapters.processes import shell
shell.run({script!r}, cwd=Path({str(tmp_path)!r}), env={{"PATH": {os.environ["PATH"]!r}}}, timeout_seconds=100)
"""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", engine], {"PYTHONPATH": str(ROOT)})
    assert within(20, lambda: len(running(mark)) >= 3)

    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)

    assert within(1.0, lambda: not running(mark))


def test_an_exception_in_the_engine_leaves_nothing(tmp_path, mark, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(child, "_disk_is_full", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sh(f"setsid sh -c 'echo hi; sleep 1000; : {mark}' & sleep 1000", tmp_path)

    assert running(mark) == []


def test_a_full_disk_is_typed_and_ends_the_command(tmp_path, mark, monkeypatch):
    monkeypatch.setattr(child, "DISK_FLOOR_BYTES", 1 << 62)

    done = sh(f"sh -c 'sleep 1000; : {mark}'", tmp_path)

    assert (done.ended, done.ok) == ("disk", False)


def test_commands_run_in_short_lived_threads_at_once(tmp_path):
    """The kernel takes the thread that started a child for its parent: one that ends must have waited."""
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda n: sh(f"sleep 0.2; echo {n}", tmp_path), range(8)))

    assert [one.output for one in done] == [f"{n}\n" for n in range(8)]


def test_three_gigabytes_of_output_cost_little_memory_and_are_counted(tmp_path):
    """V9, in a process of its own: a peak of memory never falls again."""
    engine = f"""
import resource
from pathlib import Path
from adapters.processes import shell
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def go(command):
    return shell.run(command, cwd=Path({str(tmp_path)!r}), env={{"PATH": {os.environ["PATH"]!r}}},
                     timeout_seconds=100, log=Path({str(tmp_path / "log")!r}))
go("echo")
before = peak()
done = go("yes | head -c 3G; echo end")
print(done.total_bytes, (peak() - before) // 1024, len(done.output), done.output.endswith("end\\n"))
"""
    env = shell.scrubbed_environment({"PYTHONPATH": str(ROOT)})
    done = shell.run(
        [sys.executable, "-c", engine], cwd=tmp_path, env=env, timeout_seconds=120, contain=False
    )

    total, megabytes, kept, ends = done.output.split()
    assert int(total) == 3 * 2**30 + 4
    assert int(megabytes) < 50
    assert int(kept) < 1_100_000
    assert ends == "True"
    assert (tmp_path / "log").stat().st_size < shell.LOG_BYTES + 1_000_000


def test_head_and_tail_are_kept_and_the_gap_is_named(tmp_path):
    log = tmp_path / "log"

    done = sh("echo first; seq 100000; echo last", tmp_path, keep_bytes=100, log=log)

    assert done.output.startswith("first\n1\n")
    assert done.output.endswith("100000\nlast\n")
    assert "bytes left out" in done.output
    assert len(done.output) < 200
    assert log.read_text().count("\n") == 100_002


def test_a_log_at_its_cap_still_has_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(shell, "LOG_BYTES", 1_000)
    log = tmp_path / "log"

    sh("seq 100000; echo last", tmp_path, keep_bytes=1_000, log=log)

    assert log.read_text().endswith("last\n")
    assert "left out" in log.read_text()
    assert log.stat().st_size < 3_000


def test_modules_in_the_judged_tree_do_not_reach_the_supervisor(tmp_path):
    """T42."""
    for name in (
        "json",
        "subprocess",
        "ctypes",
        "signal",
        "contextlib",
        "resource",
        "sitecustomize",
    ):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the judged tree')")

    env = shell.scrubbed_environment({"PYTHONPATH": str(tmp_path)})
    done = shell.run("echo fine", cwd=tmp_path, env=env, timeout_seconds=20)

    assert (done.exit_code, done.output) == (0, "fine\n")


def test_the_scrubbed_environment_has_no_secret_and_no_tool_of_ours(monkeypatch):
    hidden = (
        "ANTHROPIC_API_KEY",
        "GIT_DIR",
        "AWS_SECRET_ACCESS_KEY",
        "PIP_INDEX_URL",
        "PYTHONPATH",
    )
    for name in hidden:
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("PATH", f"relative::{Path(sys.executable).parent}:/usr/bin:/bin")

    env = shell.scrubbed_environment({"MORE": "1"})

    assert "canary" not in env.values()
    assert env["PATH"] == "/usr/bin:/bin"
    assert env["HOME"] != os.environ.get("HOME")
    assert (env["CI"], env["PYTHONDONTWRITEBYTECODE"], env["MORE"]) == ("true", "1", "1")


def test_our_own_tools_are_found_beside_our_interpreter():
    assert shell.tool("ruff") == str(Path(sys.executable).with_name("ruff"))
    with pytest.raises(FileNotFoundError, match="install Swathe again"):
        shell.tool("no-such-tool")


def test_a_failed_command_as_an_exception_survives_pickling_and_says_it_all():
    done = Finished(command="make it", exit_code=2, seconds=1.5, output="the reason\n")

    again = pickle.loads(pickle.dumps(CommandFailed(done)))  # noqa: S301 - our own bytes

    assert str(again) == "`make it` ended with exit code 2 after 1.5 s:\nthe reason"
    assert again.finished == done
