"""The campaigns of a repository, by what git has of them."""

import re
from pathlib import Path

from adapters import beginning, events
from adapters.catalogue import read_catalogue
from adapters.repository import lock
from adapters.repository.git import git
from adapters.repository.opening import absolute, open_target
from adapters.repository.workspaces import target_place
from domain.axis import parse_axis, slug
from domain.target import Target, Workspace
from domain.value import Refused

STATE_REF = re.compile(r"^refs/swathe/(.+)/state$")


def workspaces_of(repo: str, axis: str | None) -> list[Workspace]:
    """A workspace for each axis that has a state in git, or for the one that works now."""
    target = Target(repo=absolute(repo))
    whole = open_target(target, "none", "", offline=True)
    listed = git(target_place(whole), "for-each-ref", "--format=%(refname)", "refs/swathe/")
    slugs = [found[1] for ref in listed.decode().split() if (found := STATE_REF.match(ref))]
    holder = lock.holder(beginning.lock_path(whole))
    if holder and (working := axis_of_run(whole, holder.run)) and working not in slugs:
        slugs.append(working)
    wanted = None if axis is None else _slug(axis)
    return [
        whole.model_copy(update={"axis": name, "run": ""})
        for name in slugs
        if wanted is None or name == wanted
    ]


def _slug(axis: str) -> str:
    """The branch's part for an axis as it is typed, or for the part itself as `status` shows it."""
    try:
        return slug(parse_axis(axis, read_catalogue()))
    except Refused:
        return axis.removeprefix("swathe/")


def axis_of_run(workspace: Workspace, run: str) -> str | None:
    """The slug of the campaign that a run is of."""
    for record in events.read(Path(workspace.home) / "runs" / run) if run else []:
        if record.get("event") == "begun":
            return str(record.get("branch", "")).removeprefix("swathe/")
    return None
