"""Start a process that outlives us: own session, output into a file."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# Kept referenced, since a Popen that is dropped while its process lives complains about it.
_started: list["subprocess.Popen[bytes]"] = []


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    log: Path,
    keep: Sequence[int] = (),
) -> int:
    """Start `command` detached and return its pid at once.

    A session of its own: neither Ctrl-C nor a closed terminal reaches it. Of our file
    descriptors it inherits only `keep`, so that it never holds a lock it was not given.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command),
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(keep),
        )
    _started.append(process)
    return process.pid
