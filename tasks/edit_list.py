"""edit_list: the work-list of a sweep, changed as a person asked, and shown as a table."""

import os

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import list_editing
from adapters.redacting import discreet
from domain.list_change import ListChange
from domain.pool import target_in
from domain.target import Target
from tasks.showing import show_list


@task(cache_policy=NO_CACHE)
@discreet
def edit_list(target: Target | None, axis: str, wanted: ListChange) -> dict[str, int]:
    """How many items ended how, after the change; `open` for the others."""
    repo = (target or target_in(os.environ)).repo
    if not wanted.nothing or wanted.change:
        list_editing.edit(repo, axis or None, wanted)
    workspace, _, worklist = list_editing.only(repo, axis or None)
    show_list(workspace, worklist)
    return dict(sorted(worklist.counts.items()))
