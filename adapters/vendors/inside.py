"""Runs inside the sandbox, with the standard library alone: the way from its loopback to our gateway, and the agent.

`python inside.py COMMAND…`: listens on PORT, hands every connection on to the socket in PLACE, and starts the
command. The file `stop` in PLACE, which only the engine can make, ends the command, after as many seconds as stand in
it; the command's exit code is ours.
"""

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress

PLACE = "/run/swathe"
"""Where the engine's folder is seen; nothing in it can be written to from here."""
SOCKET = "gateway"
STOP = "stop"
PORT = 28_461
"""On a loopback that nobody shares."""
LOOK_SECONDS = 0.5
BYTES = 1 << 16


def main(command: list[str]) -> int:
    listener = socket.create_server(("127.0.0.1", PORT), backlog=64)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        _become(command, listener)
    threading.Thread(target=_listen, args=(listener,), daemon=True).start()
    return _follow(child)


def _become(command: list[str], listener: socket.socket) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    listener.close()
    with suppress(OSError):
        os.execvp(command[0], command)  # noqa: S606 -- an argument list, without a shell
    os._exit(127)


def _follow(child: int) -> int:
    """Wait for the command, and end it when the engine says so: it is told to first."""
    signals, since, grace = [signal.SIGTERM, signal.SIGKILL], 0.0, 0.0
    while True:
        signal.sigtimedwait({signal.SIGCHLD}, LOOK_SECONDS)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if not since:
            since, grace = _stopped()
        elif signals and time.monotonic() - since > grace:
            os.kill(child, signals.pop(0))
            since = time.monotonic()


def _stopped() -> tuple[float, float]:
    """When the engine was heard to say so, and the seconds it gives; 0 while it does not."""
    try:
        with open(f"{PLACE}/{STOP}") as file:  # noqa: PTH123 -- this file starts quickly
            return time.monotonic(), float(file.read())
    except (OSError, ValueError):
        return 0.0, 0.0


def _listen(listener: socket.socket) -> None:
    while True:
        here, _ = listener.accept()
        there = socket.socket(socket.AF_UNIX)
        try:
            there.connect(f"{PLACE}/{SOCKET}")
        except OSError:
            here.close()
            continue
        for source, sink in ((here, there), (there, here)):
            threading.Thread(target=_carry, args=(source, sink), daemon=True).start()


def _carry(source: socket.socket, sink: socket.socket) -> None:
    """One direction of a connection, to its end."""
    with suppress(OSError):
        while data := source.recv(BYTES):
            sink.sendall(data)
    for one, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with suppress(OSError):
            one.shutdown(how)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
