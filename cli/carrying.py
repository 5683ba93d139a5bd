"""Carrying an axis through: what the command line does before Prefect, and the flow. Prefect is imported last."""

import os
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any, cast

from adapters import beginning, ending, events, redacting
from adapters.boxing import boxed
from adapters.catalogue import read_catalogue
from adapters.home import swathe_home
from adapters.repository.git import Place, git
from adapters.repository.opening import open_target
from adapters.repository.workspaces import run_folder
from cli.approving import approved
from cli.asked import axis_of, located, new_run
from cli.progress import follow
from domain.approval import approvable
from domain.axis import Axis, Commands, for_codemod, slug, title
from domain.choice import Policy
from domain.journal import Journal
from domain.options import RunOptions
from domain.report import Report
from domain.target import Target, Workspace, hire
from domain.value import Busy, Refused


def run_campaign(options: RunOptions) -> Report:
    """Carry the axis through the target, and report. What is wrong is said before anything is started."""
    options = located(options)
    axis = axis_of(options)
    if options.approve:
        approvable(axis)
    redacting.refuse(options.target, axis)
    workspace = hire(open_target(options.target, slug(axis), new_run()), options.hired)
    if options.hired:
        from adapters import hiring

        hiring.check(options.hired, options.budget, options.confirm)
    if options.hired or _has_to_be_held(options.target, axis):
        workspace = boxed(workspace)
    try:
        beginning.attach(workspace)
    except Busy as busy:
        return held(workspace, options.axis, busy)
    run = run_folder(workspace)
    events.emit(
        run, "begun", run=workspace.run, axis=title(axis), target=options.target.repo,
        base=workspace.base, branch=workspace.branch.removeprefix("refs/heads/"),
    )  # fmt: skip
    approval = None
    if options.approve:
        approval = approved(workspace, axis, retry=options.retry)
        options = options.model_copy(update={"retry": False})
    with follow(run / events.FILE):
        begun = beginning.set_out(
            workspace,
            axis,
            retry=options.retry,
            idle=lambda _: approval is not None and not approval.go,
            caps=options.budget.caps,
            before_gate=made_ready,
        )
        journal = Journal.begin(begun, options.budget, options.grain).approved(approval)
        if journal.ending:
            return ending.close(workspace, journal)
        return reported(workspace, lambda: _carried(options, axis, workspace))


def _has_to_be_held(target: Target, axis: Axis) -> bool:
    """Whether a sandbox is needed before it is known that there is something to do. To probe one takes a while."""
    commands = isinstance(for_codemod(axis, read_catalogue()), Commands)
    return commands or target.offline or target.sandbox != "auto"


def held(workspace: Workspace, axis: str, busy: Busy) -> Report:
    """Of a run that never began, since another one holds the target."""
    repo = workspace.target.repo
    return Report(
        run=workspace.run,
        ending="busy",
        why=f"{busy} Wait for it, or ask it to stop: swathe enough {repo}",
        axis=axis,
        target=repo,
        base=workspace.base,
        branch=workspace.branch.removeprefix("refs/heads/"),
    )


def made_ready(workspace: Workspace) -> Workspace:
    """The workspace with its sandbox. Our server starts while the gate runs on the base commit."""
    from adapters.service import server
    from adapters.service.environment import operators_server

    if not operators_server():
        server.start(swathe_home())
    return boxed(workspace)


def _carried(options: RunOptions, axis: Axis, workspace: Workspace) -> Any:
    if options.terms:
        from flows.axis_sweep import axis_sweep

        return axis_sweep(
            axis,
            options.target,
            options.terms,
            options.budget,
            options.verify_each,
            options.retry,
            workspace.run,
            options.hired,
            options.confirm,
            return_state=True,
        )
    from flows.campaign import campaign

    return campaign(
        axis,
        options.target,
        options.budget,
        options.grain,
        options.verify_each,
        options.retry,
        workspace.run,
        options.hired,
        options.confirm,
        options.teach,
        return_state=True,
    )


def reported(workspace: Workspace, flow: Callable[[], Any]) -> Report:
    """What a flow came to. It is imported and run with a server, and in a folder where nothing configures Prefect."""
    from adapters.service import server
    from adapters.service.environment import client_environment, operators_server

    url = operators_server() or server.ready(swathe_home())
    if url is None:
        log = server.log_file(swathe_home())
        raise Refused(
            f"our Prefect server did not start; see {log}. Or set PREFECT_API_URL to one that runs."
        )
    os.environ.update(client_environment(url))
    room = swathe_home() / "prefect"
    room.mkdir(parents=True, exist_ok=True)
    # Prefect reads `.env`, `prefect.toml` and `pyproject.toml` of the current folder: that may be the target.
    with chdir(room):
        state = flow()
    path = run_folder(workspace) / "report.json"
    if not path.exists():
        trouble = cast("Exception", state.result(raise_on_failure=False))
        if isinstance(trouble, Refused):
            return ending.cut_short(workspace, str(trouble))
        raise trouble
    return Report.from_json(path.read_text())


def demo(folder: Path, axis: str, sandbox: Policy) -> Report:
    """Make the sample a git repository, and run a campaign on it."""
    from adapters import sample

    sample.create(folder)
    place = Place(git_dir=folder / ".git", work_tree=folder)
    git(Place(git_dir=folder / ".git"), "init", "-q", "--initial-branch=main", str(folder))
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "The sample, as it came")
    return run_campaign(RunOptions(target=Target(repo=str(folder), sandbox=sandbox), axis=axis))
