"""Hearing words for a run that are left on the server: from the UI, or from another machine.

They come as a Prefect variable. It needs no process and no free slot of a worker, stays when the server is started
anew, and reaches a run that can't be cancelled any more. It is looked for by a thread of the run's own, so that a
model hears a word between two of its calls, a server that is away holds nobody up, and no step of it floods the UI.
"""

import threading
from contextvars import copy_context
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.context import FlowRunContext
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from adapters import events, words
from adapters.repository.workspaces import run_folder
from domain.target import Workspace
from domain.value import Refused
from domain.word import EXAMPLES, variable, variables_page, words_in

SECONDS_BETWEEN_LOOKS = 2.0
HEARD = "listening"
"""In the run's folder: what lies on the server since before this was written is not for the run."""

_over = threading.Event()
"""Of the thread that listens now."""


def name_for(workspace: Workspace) -> str:
    """The variable for the run that works on a target: its work pool's, or for a run from a terminal the repository's."""
    context = FlowRunContext.get()
    pool = context.flow_run.work_pool_name if context and context.flow_run else None
    return variable(pool or PurePath(workspace.target.repo).name.removesuffix(".git"))


def how_to(workspace: Workspace) -> str:
    """For a person who looks at the run in the UI, as markdown."""
    page = variables_page(str(flow_run.ui_url or ""))
    where = f"[variable]({page})" if page else "variable"
    return f"A word to this run: make the {where} `{name_for(workspace)}`. {EXAMPLES}"


def listen(workspace: Workspace) -> None:
    """Hear what is said to this run from now on, until `fall_silent`. To say it again changes nothing."""
    global _over  # noqa: PLW0603 -- one run at a time works in a process
    fall_silent()
    if not flow_run.id:
        return  # no server knows of this run
    _over = threading.Event()
    ear = _Ear(workspace, name_for(workspace), UUID(str(flow_run.id)))
    get_run_logger().info("A word to this run: make the variable %r. %s", ear.variable, EXAMPLES)
    threading.Thread(
        target=copy_context().run, args=(_listen, ear, _over), name="hearing", daemon=True
    ).start()


def fall_silent() -> None:
    _over.set()


class _Ear(NamedTuple):
    workspace: Workspace
    variable: str
    run: UUID


def _listen(ear: _Ear, over: threading.Event) -> None:
    refused: set[str] = set()
    since: datetime | None = None
    mark = run_folder(ear.workspace) / HEARD
    while not over.is_set():
        try:
            with get_client(sync_client=True) as client:
                if since is None and not mark.exists():
                    since = client.read_flow_run(ear.run).start_time
                _look(client, ear, since, refused, over)
                mark.touch()
        except Exception:  # noqa: BLE001, S110 -- a server that is away is asked again
            pass
        over.wait(SECONDS_BETWEEN_LOOKS)


def _look(
    client: SyncPrefectClient,
    ear: _Ear,
    since: datetime | None,
    refused: set[str],
    over: threading.Event,
) -> None:
    found = client.read_variable_by_name(ear.variable)
    if found is None or over.is_set():
        return
    run = run_folder(ear.workspace)
    if since and found.updated and found.updated < since:
        _tell(ear, f"the variable {ear.variable} was for an earlier run, and is removed")
        client.delete_variable_by_name(ear.variable)
        return
    try:
        said = words_in(found.value, str(found.id))
    except Refused as trouble:
        if str(trouble) not in refused:
            refused.add(str(trouble))
            _tell(ear, f"the variable {ear.variable} can't be read: {trouble}")
        return
    for word in said:
        # Written down first: killed in between, the variable is read again, and each word counts once.
        if words.say(ear.workspace, word):
            events.emit(run, "step", what=f"the operator says: {word.words}")
            get_run_logger().info("The operator says: %s", word.words)
    client.delete_variable_by_name(ear.variable)


def _tell(ear: _Ear, what: str) -> None:
    events.emit(run_folder(ear.workspace), "step", what=what)
    get_run_logger().warning(what)
