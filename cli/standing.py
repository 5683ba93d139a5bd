"""How the campaigns of a repository stand, and what is asked of them. Prefect is not imported."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

from adapters import beginning, ending, events, words
from adapters.campaigns import axis_of_run, workspaces_of
from adapters.repository import lock, sharing, states
from adapters.repository.discovery import as_operator
from adapters.repository.git import git, object_id
from adapters.repository.opening import absolute
from adapters.repository.workspaces import target_place
from domain.report import Report
from domain.state import State
from domain.status import Asked, CampaignStatus, RepoStatus, Taken
from domain.summary import next_step
from domain.target import Workspace
from domain.value import Refused
from domain.word import Word


def status(repo: str, axis: str | None) -> RepoStatus:
    """Every campaign of the repository, or one."""
    campaigns = tuple(_campaign(workspace) for workspace in workspaces_of(repo, axis))
    return RepoStatus(repo=absolute(repo), campaigns=campaigns)


def _campaign(workspace: Workspace) -> CampaignStatus:
    """By the state in git, the lock, and the last report."""
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    state = state or State(axis=workspace.axis)
    last = state.runs[-1] if state.runs else None
    holder = lock.holder(beginning.lock_path(workspace))
    running = holder is not None and axis_of_run(workspace, holder.run) == workspace.axis
    run = holder.run if running and holder else (last.run if last else "")
    report = _report(workspace, run)
    return CampaignStatus(
        axis=state.axis,
        branch=workspace.branch.removeprefix("refs/heads/"),
        base=state.base,
        tip=object_id(target_place(workspace), workspace.branch) or "",
        landed=len(state.landed),
        parked=state.parked,
        declined=state.declined,
        remaining=len(state.remaining) if last else None,
        spend_usd=state.spend_usd,
        run=run,
        ending=last.ending if last else None,
        why=last.why if last else "",
        running=running,
        minutes_since_last_commit=_quiet_minutes(workspace, run) if running else None,
        next=next_step(report) if report else "",
        undelivered=_undelivered(workspace, report),
        take=ending.take_command(workspace) if state.landed else "",
    )


def _quiet_minutes(workspace: Workspace, run: str) -> float | None:
    """Since the last commit of a run that works now, or since its beginning."""
    records = events.read(Path(workspace.home) / "runs" / run)
    marks = [str(r["at"]) for r in records if r.get("event") in ("begun", "landed")]
    if not marks:
        return None
    return (datetime.now(UTC) - datetime.fromisoformat(marks[-1])).total_seconds() / 60


def _undelivered(workspace: Workspace, report: Report | None) -> str:
    """By the last report, unless a later run that had nothing else to do has made up for it."""
    if report is None or report.delivery is None or not report.delivery.missing:
        return ""
    return report.delivery.said if sharing.missing(workspace) else ""


def _report(workspace: Workspace, run: str) -> Report | None:
    path = Path(workspace.home) / "runs" / run / "report.json"
    return Report.from_json(path.read_text()) if run and path.exists() else None


def say(repo: str, axis: str | None, word: Word) -> Asked:
    """Leave word for the run that works now: it takes it at its next step."""
    campaigns = workspaces_of(repo, axis)
    working = [one for one in campaigns if _campaign(one).running]
    if word.kept and not working and len(campaigns) > 1:
        named = ", ".join(_campaign(one).axis for one in campaigns)
        raise Refused(f"which of them asked? Say it with --axis: {named}.")
    for workspace in working or (campaigns if word.kept else []):
        words.say(workspace, word)
    return Asked(
        repo=absolute(repo),
        axes=tuple(one.axis for one in working or campaigns),
        running=bool(working),
    )


def take(repo: str, axis: str, *, run: bool) -> Taken:
    """The git command that brings the landed branch home; run on request."""
    found = workspaces_of(repo, axis)
    if not found:
        raise Refused(
            f"no campaign {axis!r} in {repo!r}. `swathe status {repo}` shows those there are."
        )
    workspace = found[0]
    tip = object_id(target_place(workspace), workspace.branch)
    if tip is None:
        raise Refused(f"nothing has landed for {axis!r} yet.")
    count = git(target_place(workspace), "rev-list", "--count", f"{workspace.base}..{tip}")
    taken = Taken(
        axis=axis,
        branch=workspace.branch.removeprefix("refs/heads/"),
        tip=tip,
        commits=int(count),
        command=ending.take_command(workspace),
    )
    return _taken(workspace, taken) if run else taken


def _taken(workspace: Workspace, taken: Taken) -> Taken:
    status, said = as_operator(shlex.split(taken.command))
    if status:
        raise Refused(
            f"`{taken.command}` ended with {status}:\n{said.strip()}\nNothing is lost: the branch is as it was."
        )
    return taken.model_copy(update={"ran": True, "output": said})
