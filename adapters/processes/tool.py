"""Run a tool of ours (ruff, ast-grep) and get all it wrote, byte for byte.

`shell.run` keeps the head and the tail of an output for people to read. A tool's JSON must be
whole, and a tool that came with us needs no supervisor.

It runs outside of the sandbox, on files that nobody vouches for. Neither has a way to run what is in the tree: ruff
knows no plugins, its settings are data, and those that write are overridden; ast-grep would load the libraries that
an `sgconfig.yml` names, and is given an empty one. They are pinned, see no key and no home, and their output is
parsed as data. What is left is a flaw in their parsers, of which ruff's is written in a language without pointers.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from adapters.processes.surroundings import tool
from domain.refusal import Refused

PACKAGES = {"ruff": "ruff", "ast-grep": "ast-grep-cli"}
TOOL_SECONDS = 600.0
ARGUMENT_BYTES = 512_000
"""Paths handed over in one call: a quarter of what Linux allows for arguments and environment."""


class TookTooLong(Refused):
    """The tool was ended: it had worked for longer than it may."""


@dataclass(frozen=True)
class ToolOutput:
    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """The first lines of what it said on standard error."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(lines[:8])


def tool_path(name: str) -> str:
    """Where `name` is. What is missing is the operator's to install, hence a refusal."""
    try:
        return tool(name)
    except FileNotFoundError as error:
        package = PACKAGES.get(name, name)
        raise Refused(f"{error} Or install {package!r} with pip.") from None


def clean_environment() -> dict[str, str]:
    """What a tool needs and no more: no keys, no RUFF_* settings, nobody's home."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C.UTF-8",
        "TMPDIR": tempfile.gettempdir(),
    }


def run_tool(
    argv: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes = b"",
    timeout_seconds: float = TOOL_SECONDS,
    environment: Mapping[str, str] | None = None,
) -> ToolOutput:
    """Run `argv` to its end in a process group of its own, which is killed when time is up."""
    with (
        _unread() as said,
        subprocess.Popen(
            [os.fsencode(word) for word in argv],
            cwd=cwd,
            env=clean_environment() if environment is None else environment,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        try:
            _, stderr = process.communicate(stdin, timeout_seconds)
        except subprocess.TimeoutExpired:
            raise TookTooLong(
                f"{Path(argv[0]).name} did not end within {timeout_seconds:.0f} s in {str(cwd)!r}. "
                f"Limit the scope with --paths."
            ) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        return ToolOutput(process.returncode, said.read(), stderr)


def _unread() -> IO[bytes]:
    """What a tool writes, until it ends: git puts out 4 KiB at a time, and to be woken for each would cost as much as it does."""
    if not hasattr(os, "memfd_create"):
        return tempfile.TemporaryFile()
    return os.fdopen(os.memfd_create("said"), "w+b")


def chunked(paths: Sequence[str], most_bytes: int = ARGUMENT_BYTES) -> list[list[str]]:
    """`paths` in as many lists as one command line each can take."""
    chunks: list[list[str]] = [[]]
    used = 0
    for path in paths:
        size = len(os.fsencode(path)) + 9  # its terminator and its pointer
        if chunks[-1] and used + size > most_bytes:
            chunks.append([])
            used = 0
        chunks[-1].append(path)
        used += size
    return chunks if chunks[0] else []
