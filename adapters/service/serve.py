"""What our background process runs: the Prefect server on a socket that it inherits.

Started by `adapters.service.server` as `python -m adapters.service.serve FD`. The socket is
bound by the one who starts us, so no other program can take the port in between.
"""

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import uvicorn

SECONDS_TO_FINISH = 5
SECONDS_BETWEEN_LOOKS = 10


def serve(descriptor: int) -> None:
    listening = socket.socket(fileno=descriptor)
    threading.Thread(target=_leave_with_home, args=(Path.cwd(),), daemon=True).start()
    config = uvicorn.Config(
        "prefect.server.api.server:create_app",
        factory=True,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _leave_with_home(room: Path) -> None:
    """End the server when its folder was removed: nobody could find it any more, or stop it."""
    mine = room.stat().st_ino
    while True:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            if room.stat().st_ino == mine:
                continue
        except FileNotFoundError:
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        return


if __name__ == "__main__":
    serve(int(sys.argv[1]))
