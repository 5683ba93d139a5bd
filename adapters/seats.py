"""Seats: the clones of those who work at the same time. Each is one executor's at a time, and is kept for the next."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from adapters import takeover
from adapters.repository import workspaces
from domain.target import Workspace

MOST_SEATS = 400
"""More than there can be: 64 jobs, and what as many of some killed runs have left."""

_taken: set[Path] = set()
_lock = Lock()


@contextmanager
def taken(
    workspace: Workspace, begun_there: Callable[[Workspace], bool] = lambda _: False
) -> Generator[Workspace]:
    """The workspace with a free clone; the one in which the work was begun, if there is one."""
    mine = _take(workspace, begun_there)
    try:
        workspaces.seat(mine)
        yield mine
    finally:
        with _lock:
            _taken.discard(workspaces.agent_folder(mine))


def _take(workspace: Workspace, begun_there: Callable[[Workspace], bool]) -> Workspace:
    with _lock:
        seats = [workspace.model_copy(update={"seat": str(n)}) for n in range(1, MOST_SEATS)]
        free = [one for one in seats if workspaces.agent_folder(one) not in _taken]
        laid = [one for one in free if workspaces.agent_folder(one).exists()]
        mine = next((one for one in laid if begun_there(one)), None)
        # What somebody else was at when it was killed is his to go on with.
        mine = mine or next(one for one in free if one not in laid or not takeover.cut_off(one))
        _taken.add(workspaces.agent_folder(mine))
        return mine
