"""How a run's ending is named in Prefect (design.md §6)."""

import os
from pathlib import PurePath
from typing import Any

from prefect import State, Task
from prefect.client.schemas.objects import TaskRun
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from domain.axis import title
from domain.pool import target_in
from domain.report import Report
from domain.target import Target
from domain.value import Busy, Refused

FAILED = ("stalled", "red", "refused")


def state_of(report: Report) -> State[Report]:
    """Completed under the ending's own name, or Failed."""
    name = report.ending.replace("-", " ").capitalize()
    message = f"{report.ending}: {report.why}"
    if report.ending in FAILED:
        return Failed(name=name, message=message)
    return Completed(name=name, message=message, data=report)


def run_name() -> str:
    """`ruff:UP on sqlparse`, in the UI's list of runs."""
    asked: dict[str, Any] = flow_run.parameters
    return f"{title(asked['axis'])} on {_repository(asked.get('target'))}"


def _repository(asked: Target | None) -> str:
    try:
        repo = (asked or target_in(os.environ)).repo
    except Refused:
        return "no repository"  # the first step says what to do
    return PurePath(repo).name.removesuffix(".git")


def review_name() -> str:
    """`review of sqlparse`, or with what is looked for."""
    asked: dict[str, Any] = flow_run.parameters
    axis = f": {title(asked['axis'])}" if asked.get("axis") else ""
    return f"review of {_repository(asked.get('target'))}{axis}"


def units_name() -> str:
    """`units of sqlparse`, or with what is looked for."""
    return review_name().replace("review", "units", 1)


def list_name() -> str:
    """`work-list of sqlparse`."""
    return f"work-list of {_repository(flow_run.parameters.get('target'))}"


def held(busy: Busy) -> State[Report]:
    """Another run holds the target: this one never began."""
    return Cancelled(name="Busy", message=f"busy: {busy}")


def worth_another_try(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """What was refused stays refused until a person does something about it."""
    return not isinstance(state.result(raise_on_failure=False), Refused)
