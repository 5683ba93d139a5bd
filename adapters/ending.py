"""The end of a pass and of a run: what is left, and the report."""

import os
import shlex
from datetime import UTC, datetime
from typing import Protocol

from adapters import beginning, events, takeover, words
from adapters.executors import passes, sweeping
from adapters.failpoints import reach
from adapters.redacting import cleaned
from adapters.repository import lock, sharing
from adapters.repository.git import git
from adapters.repository.opening import open_target
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder, target_place
from adapters.whole import write_whole
from domain.axis import Axis, Sentence, title
from domain.budget import Budget
from domain.journal import Journal
from domain.report import Report
from domain.site import Listing
from domain.state import RunSummary, State
from domain.summary import markdown
from domain.survey import Start, Survey, remaining
from domain.target import Workspace, is_url
from domain.value import Refused
from domain.words import without_credentials


class Closing(Protocol):
    """What is to be known of a run at its end, whatever flow it was."""

    @property
    def passes(self) -> int: ...
    @property
    def survey(self) -> Survey: ...
    def report(self, take: str, ui: str = "", /) -> Report: ...


def resurvey(
    workspace: Workspace,
    axis: Axis,
    tip: str,
    number: int,
    *,
    claimed: bool = False,
    max_usd: float | None = None,
) -> Survey:
    """State and sites after a pass. Without a probe somebody looks afresh, once a model claims that none is left."""
    if not isinstance(axis, Sentence):
        found: Listing | None = passes.look(workspace, axis, tip)
    else:
        found = _afresh(workspace, axis, tip, number, max_usd) if claimed else None
    listing, known = found or Listing(), found is not None
    events.emit(
        run_folder(workspace),
        "sites",
        count=len(listing.sites),
        known=known,
        skipped=listing.skipped,
        **{"pass": number + 1},
    )
    return stock(workspace, axis, tip, listing, known=known)


NOTHING = Listing()


def stock(
    workspace: Workspace, axis: Axis, tip: str, listing: Listing = NOTHING, *, known: bool = True
) -> Survey:
    """Where a campaign stands: its state with all that was spent, and what is left, as the caller knows it."""
    run = run_folder(workspace)
    state = _settle_money(workspace, beginning.current_state(workspace, title(axis)))
    said = words.said(workspace)
    return Survey(
        state=state,
        listing=listing,
        by_rule=sweeping.look(workspace, state, tip),
        tip=tip,
        known=known,
        spend_usd=takeover.spent_usd(workspace),
        elapsed=events.elapsed(run),
        enough=said.enough,
        raised=said.raised,
        landed=sum(commit.run == workspace.run for commit in state.landed),
        first_commit_seconds=_first_commit(workspace),
    )


def _afresh(
    workspace: Workspace, axis: Axis, tip: str, number: int, max_usd: float | None
) -> Listing | None:
    from adapters import hiring  # noqa: PLC0415 -- the libraries of models, for a model alone

    return hiring.look_afresh(workspace, axis, tip, number, max_usd)


def _settle_money(workspace: Workspace, state: State) -> State:
    settled = takeover.with_money(workspace, state)
    if settled != state:
        save(workspace, settled, f"spend ${settled.spend_usd:.4f}", 0)
    return settled


def _first_commit(workspace: Workspace) -> float | None:
    for record in events.read(run_folder(workspace)):
        if record.get("event") == "landed":
            return float(str(record.get("elapsed", 0)))
    return None


def close(workspace: Workspace, journal: Closing) -> Report:
    """Write state and report, let go of the lock. Whatever the ending: what landed, and how to take it."""
    report = journal.report(take_command(workspace), _ui(workspace))
    report = report.model_copy(update={"notes": (*report.notes, *_behind(workspace))})
    return _write(workspace, journal, report)


def cut_short(workspace: Workspace, why: str) -> Report:
    """The last word of a run that was refused midway: what had landed by then, and how to take it."""
    run = run_folder(workspace)
    start = Start.from_json((run / "start.json").read_text())
    state = beginning.current_state(workspace, start.axis)
    mine = tuple(commit for commit in state.landed if commit.run == workspace.run)
    done = {site for commit in mine for site in commit.sites}
    listing = start.survey.listing
    survey = start.survey.model_copy(
        update={
            "state": state,
            "listing": listing.model_copy(
                update={"sites": tuple(site for site in listing.sites if site.id not in done)}
            ),
            "tip": state.tip or start.survey.tip,
            "elapsed": events.elapsed(run),
            "spend_usd": takeover.spent_usd(workspace),
            "landed": len(mine),
            "first_commit_seconds": _first_commit(workspace),
        }
    )
    journal = Journal(start=start, budget=Budget(), survey=survey)
    journal = journal.model_copy(update=_counted(workspace))
    report = journal.report(take_command(workspace), _ui(workspace))
    return _write(workspace, journal, report.model_copy(update={"ending": "refused", "why": why}))


def _counted(workspace: Workspace) -> dict[str, object]:
    """What a journal would have counted, from the run's events."""
    records = events.read(run_folder(workspace))
    gates = [
        record for record in records if record.get("event") == "gate" and not record.get("kept")
    ]
    passes = [record for record in records if record.get("event") == "executed"]
    return {
        "passes": len(passes),
        "gate_runs": len(gates),
        "gate_seconds": sum(float(str(record["seconds"])) for record in gates),
        "agent_seconds": sum(float(str(record["seconds"])) for record in passes),
    }


def _write(workspace: Workspace, journal: Closing, report: Report) -> Report:
    run, report = run_folder(workspace), cleaned(report)
    if not (run / "report.json").exists():
        _save_state(workspace, journal, report)
        reach("state-closed")
        report = _delivered(workspace, report)
        events.emit(run, "ended", ending=report.ending, why=report.why)
    for name, text in (("report.json", report.to_json(indent=1)), ("report.md", markdown(report))):
        write_whole(run / name, text)
    reach("report-kept")
    words.forget(workspace)
    sharing.end(workspace)
    lock.release(beginning.lock_path(workspace))
    reach("let-go")
    return report


def _delivered(workspace: Workspace, report: Report) -> Report:
    delivery = sharing.deliver(workspace)
    if delivery is None or not delivery.missing:
        return report.model_copy(update={"delivery": delivery})
    events.emit(run_folder(workspace), "undelivered", why=delivery.why, command=delivery.command)
    notes = (*report.notes, delivery.said)
    return report.model_copy(update={"delivery": delivery, "notes": notes})


def _behind(workspace: Workspace) -> tuple[str, ...]:
    """Whether the base moved on while the run worked: what landed stays as it was verified."""
    try:
        now = open_target(workspace.target, workspace.axis, workspace.run, offline=True)
    except Refused:
        return (f"{workspace.target.base} is not there any more.",)
    if now.base == workspace.base:
        return ()
    place = target_place(workspace)
    count = git(place, "rev-list", "--count", f"{workspace.base}..{now.base}").decode().strip()
    name = workspace.branch.removeprefix("refs/heads/")
    return (
        f"{workspace.target.base} moved on by {count} commits during the run; {name} is that far behind it.",
    )


def _save_state(workspace: Workspace, journal: Closing, report: Report) -> None:
    """The last word in the state; a run that had nothing to do leaves no trace in git."""
    before = beginning.current_state(workspace, report.axis)
    state = takeover.with_money(workspace, before)
    idle = report.ending in ("nothing-to-do", "declined")
    if idle and not journal.passes and state == before:
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
            "remaining": report.remaining
            if state.review or report.items
            else remaining(journal.survey.listing.sites, state),
            "active_seconds": state.active_seconds + report.seconds.active,
            "passes": state.passes + report.passes,
            "flaky": tuple(sorted({*state.flaky, *report.flaky})),
            "gate": beginning.written_gate(workspace) or state.gate
            if journal.passes
            else state.gate,
        }
    )
    save(workspace, closed, f"end: {report.ending}", int(now.timestamp()))


def take_command(workspace: Workspace) -> str:
    """The git command that brings the landed branch home."""
    name = workspace.branch.removeprefix("refs/heads/")
    repo = workspace.target.repo
    if is_url(repo):
        there = without_credentials(sharing.shared_at(workspace.target) or workspace.git_dir)
        return shlex.join(["git", "fetch", there, f"{name}:{name}"])
    return shlex.join(["git", "-C", os.path.abspath(os.path.expanduser(repo)), "merge", name])  # noqa: PTH100, PTH111


def _ui(workspace: Workspace) -> str:
    for record in reversed(events.read(run_folder(workspace))):
        if record.get("event") == "ui":
            return str(record.get("url", ""))
    return ""
