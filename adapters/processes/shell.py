"""The one door for subprocesses: bounded output, a typed end, and nothing left behind."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from adapters.processes.capture import Capture
from adapters.processes.child import READ_BYTES, Child, follow
from adapters.processes.finished import CommandFailed, Ended, Finished
from adapters.processes.surroundings import scrubbed_environment, tool

__all__ = ["CommandFailed", "Ended", "Finished", "run", "scrubbed_environment", "tool"]

MOST_PROCESSES = 2_000
LOG_BYTES = 50_000_000
MARK = "SWATHE_COMMAND"
SUPERVISOR = Path(__file__).with_name("supervisor.py")


def run(
    command: str | Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_seconds: float,
    log: Path | None = None,
    stdin: bytes = b"",
    keep_bytes: int = 1_000_000,
    contain: bool = True,
    apart: bool = False,
) -> Finished:
    """Run `command` to its end, and return when nothing of it is left.

    A string is run by `/bin/sh -c`. `apart` keeps standard error out of `output`. Uncontained (for tools
    of ours) saves the start of the supervisor, and kills no more than the process group. The command
    is started and awaited in the calling thread: to the kernel, that thread is its parent.
    """
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    shown = command if isinstance(command, str) else shlex.join(command)
    if not contain and shutil.which(argv[0], path=env.get("PATH")) is None:
        return Finished(command=shown, exit_code=127, output=f"{argv[0]}: not found\n")
    started = time.monotonic()
    with ExitStack() as stack:
        out = stack.enter_context(Capture(keep_bytes, log, LOG_BYTES))
        err = stack.enter_context(Capture(keep_bytes, None, 0))
        source = stack.enter_context(_source(stdin))
        child = stack.enter_context(_started(argv, cwd, env, source, contain=contain, apart=apart))
        ended = follow(child, out, err, started + timeout_seconds)
    return Finished(
        command=shown,
        ended=ended,
        exit_code=child.exit_code if ended == "exited" else None,
        seconds=time.monotonic() - started,
        output=out.text(),
        errors=err.text(),
        total_bytes=out.total + err.total,
        left=child.left,
    )


@contextmanager
def _source(data: bytes) -> Generator[IO[bytes] | int]:
    """Standard input: nothing, or a file. A pipe could fill while the command waits to be read."""
    if not data:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


@contextmanager
def _started(
    argv: list[str],
    cwd: Path,
    env: Mapping[str, str],
    source: IO[bytes] | int,
    *,
    contain: bool,
    apart: bool,
) -> Generator[Child]:
    mark = f"{MARK}={uuid.uuid4().hex}"
    status = lifeline = -1
    theirs: tuple[int, ...] = ()
    if contain:
        status, status_end = os.pipe()
        lifeline_end, lifeline = os.pipe()
        theirs = (status_end, lifeline_end)
        argv = [*_supervisor(), str(status_end), str(lifeline_end), str(MOST_PROCESSES), *argv]
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**env, MARK: mark.partition("=")[2]},
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if apart else subprocess.STDOUT,
            pass_fds=theirs,
            start_new_session=True,
            pipesize=READ_BYTES,
        )
    except BaseException:
        for fd in {status, lifeline} - {-1}:
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    child = Child(process, cwd, mark, status, lifeline)
    try:
        yield child
    finally:
        child.bury()


def _supervisor() -> list[str]:
    """Isolated, without site packages: nothing in the judged tree or the environment changes it."""
    return [sys.executable, "-I", "-S", "-B", str(SUPERVISOR)]
