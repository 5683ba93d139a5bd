"""The end of a pass and of a run: what is left, and the report."""

import os
import shlex
from datetime import UTC, datetime

from adapters import beginning, events
from adapters.executors import passes
from adapters.repository import lock
from adapters.repository.git import git
from adapters.repository.opening import is_url, open_target
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder, target_place
from domain.axis import Axis, title
from domain.journal import Journal, Survey, remaining
from domain.report import Report
from domain.state import RunSummary
from domain.summary import markdown
from domain.target import Workspace


def resurvey(workspace: Workspace, axis: Axis, tip: str, number: int) -> Survey:
    """State and sites after a pass."""
    listing = passes.look(workspace, axis, tip)
    run = run_folder(workspace)
    events.emit(
        run, "sites", count=len(listing.sites), skipped=listing.skipped, **{"pass": number + 1}
    )
    state = beginning.current_state(workspace, title(axis))
    return Survey(
        state=state,
        listing=listing,
        tip=tip,
        elapsed=events.elapsed(run),
        enough=beginning.enough_said(workspace),
        landed=sum(commit.run == workspace.run for commit in state.landed),
        first_commit_seconds=_first_commit(workspace),
    )


def _first_commit(workspace: Workspace) -> float | None:
    for record in events.read(run_folder(workspace)):
        if record.get("event") == "landed":
            return float(str(record.get("elapsed", 0)))
    return None


def close(workspace: Workspace, journal: Journal) -> Report:
    """Write state and report, let go of the lock. Whatever the ending: what landed, and how to take it."""
    run = run_folder(workspace)
    report = journal.report(take_command(workspace), ui=_ui(workspace))
    report = report.model_copy(update={"notes": (*report.notes, *_behind(workspace))})
    if not (run / "report.json").exists():
        _save_state(workspace, journal, report)
        events.emit(run, "ended", ending=report.ending, why=report.why)
    for name, text in (("report.json", report.to_json(indent=1)), ("report.md", markdown(report))):
        draft = run / f"{name}.draft"
        draft.write_text(text)
        draft.replace(run / name)
    beginning.enough_path(workspace).unlink(missing_ok=True)
    lock.release(beginning.lock_path(workspace))
    return report


def _behind(workspace: Workspace) -> tuple[str, ...]:
    """Whether the base moved on while the run worked: what landed stays as it was verified."""
    now = open_target(workspace.target, workspace.axis, workspace.run, offline=True)
    if now.base == workspace.base:
        return ()
    place = target_place(workspace)
    count = git(place, "rev-list", "--count", f"{workspace.base}..{now.base}").decode().strip()
    name = workspace.branch.removeprefix("refs/heads/")
    return (f"{workspace.target.base} moved on by {count} commits during the run; {name} is that far behind it.",)


def _save_state(workspace: Workspace, journal: Journal, report: Report) -> None:
    """The last word in the state; a run that had nothing to do leaves no trace in git."""
    state = beginning.current_state(workspace, report.axis)
    if report.ending == "nothing-to-do" and not journal.passes:
        return
    now = datetime.now(UTC)
    summary = RunSummary(
        run=report.run,
        ending=report.ending,
        why=report.why,
        at=now.isoformat(timespec="seconds"),
        landed=len(report.landed),
        seconds=report.seconds.active,
    )
    closed = state.close(summary).model_copy(
        update={
            "remaining": remaining(journal.survey.listing.sites, state),
            "active_seconds": state.active_seconds + report.seconds.active,
            "passes": state.passes + report.passes,
            "flaky": tuple(sorted({*state.flaky, *report.flaky})),
        }
    )
    save(workspace, closed, f"end: {report.ending}", int(now.timestamp()))


def take_command(workspace: Workspace) -> str:
    """The git command that brings the landed branch home."""
    name = workspace.branch.removeprefix("refs/heads/")
    repo = workspace.target.repo
    if is_url(repo):
        return shlex.join(["git", "fetch", workspace.git_dir, f"{name}:{name}"])
    return shlex.join(["git", "-C", os.path.abspath(os.path.expanduser(repo)), "merge", name])  # noqa: PTH100, PTH111


def _ui(workspace: Workspace) -> str:
    for record in reversed(events.read(run_folder(workspace))):
        if record.get("event") == "ui":
            return str(record.get("url", ""))
    return ""
