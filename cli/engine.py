"""Where the verbs meet the engine. Prefect is imported once a flow runs, and not before."""

import os
import secrets
import shutil
from collections.abc import Generator, Sequence
from contextlib import chdir, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from adapters import beginning, ending, events, proving, sample
from adapters.boxing import boxed
from adapters.catalogue import read_catalogue, with_rule_text
from adapters.home import swathe_home
from adapters.repository import lock
from adapters.repository.git import Place, git
from adapters.repository.opening import absolute, open_target
from adapters.repository.workspaces import run_folder
from adapters.service import server
from adapters.service.environment import client_environment, operators_server
from cli.checkup import doctor
from cli.progress import follow
from cli.standing import enough, status, take
from domain.axis import Axis, parse_axis, slug, title
from domain.doctor import Plan, PlannedSite
from domain.gate import GatePlan
from domain.journal import Journal, Survey, open_sites
from domain.options import Grain, RunOptions
from domain.report import Report
from domain.site import Site
from domain.state import State
from domain.target import Target, Workspace
from domain.value import Busy, Refused


def run_campaign(options: RunOptions) -> Report:
    """Carry the axis through the target, and report. What is wrong is said before anything is started."""
    options = located(options)
    axis = axis_of(options)
    workspace = boxed(open_target(options.target, slug(axis), new_run()))
    try:
        beginning.attach(workspace)
    except Busy as busy:
        return _busy(options, workspace, busy)
    run = run_folder(workspace)
    events.emit(
        run, "begun", run=workspace.run, axis=title(axis), target=options.target.repo,
        base=workspace.base, branch=workspace.branch.removeprefix("refs/heads/"),
    )  # fmt: skip
    with follow(run / events.FILE):
        begun = beginning.set_out(workspace, axis, retry=options.retry, before_gate=_warm_up)
        journal = Journal.begin(begun, options.budget, options.grain)
        if journal.ending:
            return ending.close(workspace, journal)
        return _flow(options, axis, workspace)


def located(options: RunOptions) -> RunOptions:
    """With the repository's whole path: the flow does not run in the operator's folder."""
    repo = absolute(options.target.repo)
    return options.model_copy(update={"target": options.target.model_copy(update={"repo": repo})})


def axis_of(options: RunOptions) -> Axis:
    """The axis that was typed, known to be one the codemod executor can carry."""
    axis = parse_axis(options.axis, read_catalogue(), unsafe=options.unsafe)
    beginning.check_executor(axis)
    return with_rule_text(axis, Path.cwd())


def new_run() -> str:
    """A run's id: when it began, and four digits against a second one in that second."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _busy(options: RunOptions, workspace: Workspace, busy: Busy) -> Report:
    return Report(
        run=workspace.run,
        ending="busy",
        why=f"{busy} Wait for it, or ask it to stop: swathe enough {options.target.repo}",
        axis=options.axis,
        target=options.target.repo,
        base=workspace.base,
        branch=workspace.branch.removeprefix("refs/heads/"),
    )


def _warm_up() -> None:
    """Let our server start while the gate runs on the base commit."""
    if not operators_server():
        server.start(swathe_home())


def _flow(options: RunOptions, axis: Axis, workspace: Workspace) -> Report:
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
        from flows.campaign import campaign

        state = campaign(
            options.target,
            axis,
            options.budget,
            options.grain,
            options.verify_each,
            options.retry,
            workspace.run,
            return_state=True,
        )
    path = run_folder(workspace) / "report.json"
    if not path.exists():
        trouble = cast("Exception", state.result(raise_on_failure=False))
        if isinstance(trouble, Refused):
            return ending.cut_short(workspace, str(trouble))
        raise trouble
    return Report.from_json(path.read_text())


def demo(folder: Path, axis: str) -> Report:
    """Make the sample a git repository, and run a campaign on it."""
    sample.create(folder)
    place = Place(git_dir=folder / ".git", work_tree=folder)
    git(Place(git_dir=folder / ".git"), "init", "-q", "--initial-branch=main", str(folder))
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "The sample, as it came")
    return run_campaign(RunOptions(target=Target(repo=str(folder)), axis=axis))


def plan(options: RunOptions) -> Plan:
    """What a run would do. Nothing in the target is changed."""
    options = located(options)
    axis = axis_of(options)
    workspace = boxed(open_target(options.target, slug(axis), new_run()))
    with attached(workspace):
        state, listing = beginning.preview(workspace, axis)
        sites = open_sites(Survey(state=state or State(axis=title(axis)), listing=listing, tip=""))
        gate, notes = _gate_of(workspace), listing.notes
    return Plan(
        axis=title(axis),
        target=options.target.repo,
        base=workspace.base,
        branch=workspace.branch.removeprefix("refs/heads/"),
        sites=tuple(PlannedSite(place=s.place, rule=s.rule, message=s.message) for s in sites),
        commits=_commits(sites, options.grain),
        gate=gate,
        skipped=listing.skipped,
        notes=notes,
    )


def _commits(sites: Sequence[Site], grain: Grain) -> int:
    """How many commits the sites make; findings that share one edit share one commit."""
    match grain:
        case "file":
            return len({site.path for site in sites})
        case "rule":
            return len({site.rule for site in sites})
        case "finding":
            return len({(site.path, site.edits or site.id) for site in sites})


def _gate_of(workspace: Workspace) -> GatePlan | None:
    try:
        return proving.plan_of(workspace)
    except Refused:
        return None


@contextmanager
def attached(workspace: Workspace) -> Generator[None]:
    """Hold the campaign lock for the block; `Busy` when another run has it."""
    beginning.attach(workspace)
    try:
        yield
    finally:
        shutil.rmtree(run_folder(workspace), ignore_errors=True)
        lock.release(beginning.lock_path(workspace))


__all__ = ["demo", "doctor", "enough", "plan", "run_campaign", "status", "take"]
