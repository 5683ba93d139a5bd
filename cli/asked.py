"""What was asked for, made ready for the engine: the whole path, the axis, the id of a run."""

import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from adapters import beginning
from adapters.catalogue import read_catalogue, with_rule_text
from adapters.repository import lock
from adapters.repository.opening import absolute
from adapters.repository.workspaces import run_folder
from domain.axis import Axis, parse_axis
from domain.options import RunOptions
from domain.target import Workspace


def located(options: RunOptions) -> RunOptions:
    """With the repository's whole path: the flow does not run in the operator's folder."""
    repo = absolute(options.target.repo)
    return options.model_copy(update={"target": options.target.model_copy(update={"repo": repo})})


def axis_of(options: RunOptions) -> Axis:
    """The axis that was typed, known to be one the codemod executor can carry."""
    axis = parse_axis(options.axis, read_catalogue(), unsafe=options.unsafe)
    beginning.check_executor(axis, options.hired)
    return with_rule_text(axis, Path.cwd())


def new_run() -> str:
    """A run's id: when it began, and four digits against a second one in that second."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


@contextmanager
def attached(workspace: Workspace) -> Generator[None]:
    """Hold the campaign lock for the block; `Busy` when another run has it."""
    beginning.attach(workspace)
    try:
        yield
    finally:
        shutil.rmtree(run_folder(workspace), ignore_errors=True)
        lock.release(beginning.lock_path(workspace))
