"""The sandbox of a run: chosen by the operator's word and by what works here."""

import os
from pathlib import Path

from adapters.processes import sandbox
from adapters.processes.toolchains import named
from adapters.repository.workspaces import store
from domain.sandbox import Sandbox, choose
from domain.target import Workspace


def boxed(workspace: Workspace) -> Workspace:
    """The workspace with its sandbox; refused when it has to have one and none works."""
    target = workspace.target
    policy = target.sandbox
    choice = choose(
        policy,
        sandbox.available(policy),
        model=workspace.hired is not None,
        offline=target.offline,
        whole=workspace.hired is not None and workspace.hired.agent == "vendor",
    )
    held = Sandbox(
        backend=choice.backend,
        readonly=tuple(map(str, _borrowed(workspace))),
        shown=tuple(
            str(path) for command in (*target.verify, *target.setup) for path in named(command)
        ),
        offline=target.offline,
        said=choice.said,
    )
    return workspace.model_copy(update={"sandbox": held})


def _borrowed(workspace: Workspace) -> list[Path]:
    """Folders of objects that the clones lean on: ours, the target's, and those that it borrows itself.

    Read from the target's own files. What a clone's `.git` says was written by whoever worked in it.
    """
    found = [store(workspace).git_dir / "objects", Path(workspace.git_dir) / "objects"]
    for folder in found:
        listed = folder / "info" / "alternates"
        if folder != found[0] and listed.is_file():
            paths = (
                folder / os.fsdecode(line) for line in listed.read_bytes().splitlines() if line
            )
            found += [path for path in paths if path.is_dir() and path not in found]
    return found
