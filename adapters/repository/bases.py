"""The commit a run set out from: whoever goes on with the run goes on from there."""

from pathlib import Path

from adapters.repository.git import object_id
from adapters.repository.workspaces import run_folder, target_place
from adapters.whole import write_whole
from domain.target import Workspace
from domain.value import Refused

KEPT = "base"


def keep_base(workspace: Workspace) -> None:
    """Write down what the run sets out from. Its first word counts, however often it is begun."""
    kept = run_folder(workspace) / KEPT
    if not kept.exists():
        write_whole(kept, workspace.base)


def on_its_base(workspace: Workspace) -> Workspace:
    """The workspace as its run knew it, wherever the branch has moved since; of a new run, as it is.

    Raises:
        Refused: that commit is in the repository no more.
    """
    kept = Path(workspace.home) / "runs" / workspace.run / KEPT
    if not kept.exists():
        return workspace
    base = kept.read_text()
    if object_id(target_place(workspace), base) is None:
        raise Refused(
            f"run {workspace.run} set out from {base[:12]}, which is not in {workspace.target.repo!r} any more; "
            f"{workspace.target.base} is {workspace.base[:12]} now. Start a new run: it sets out from there."
        )
    return workspace.model_copy(update={"base": base})
