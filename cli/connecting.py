"""Which Prefect server a verb talks to, and how. Prefect is imported by whoever is connected."""

import os
from collections.abc import Generator
from contextlib import chdir, contextmanager

from adapters.home import swathe_home
from adapters.service import server
from adapters.service.environment import client_environment, operators_server
from domain.value import Refused

SECONDS_TO_START = 120.0


def address(*, start: bool) -> str | None:
    """The API of the operator's server, or of ours; None when none runs and none is to be started."""
    if url := operators_server():
        return url
    home = swathe_home()
    if start:
        server.start(home)
        url = server.ready(home, SECONDS_TO_START)
        if url is None:
            raise Refused(
                f"our Prefect server did not start; see {str(server.log_file(home))!r}. "
                f"Or set PREFECT_API_URL to one that runs."
            )
        return url
    found = server.status(home)
    return found.url if found.healthy else None


@contextmanager
def connected(url: str) -> Generator[None]:
    """Work with the server at `url`, in a folder that holds no settings of somebody else's for Prefect."""
    os.environ.update(client_environment(url))
    room = swathe_home() / "prefect"
    room.mkdir(parents=True, exist_ok=True)
    with chdir(room):
        yield
