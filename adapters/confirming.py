"""Confirming: a family that did not write a commit reads it. What it said of a tree is kept, and not paid again."""

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from adapters import beginning, events
from adapters.executors.consult import Consultant, shown
from adapters.hiring import HALTS, other, reading_ears
from adapters.models.families import connect
from adapters.repository.git import tree_of
from adapters.repository.workspaces import run_folder, store
from adapters.whole import write_whole
from domain.axis import Axis, title
from domain.commit import Chain
from domain.hired import Hired
from domain.ledger import Caps
from domain.reading import Reading, Readings
from domain.role import Opinion
from domain.target import Workspace


def confirm(
    workspace: Workspace, axis: Axis, chain: Chain, commits: Sequence[str], max_usd: float | None
) -> Readings:
    """What another family says of these commits of a chain, in their order.

    A reader that is dead, or out of money, is not asked again for the rest of them: they are unreviewed.
    """
    assert workspace.hired  # noqa: S101 -- only what a model wrote is read
    reader = other(workspace.hired)
    if reader is None:
        why = f"no family but {workspace.hired.family} has a key"
        return Readings(
            read=tuple(_unreviewed(commit, "", why) for commit in commits), halt="refused", why=why
        )
    began = time.monotonic()
    asked = _Reader(workspace, title(axis), reader, Caps(max_usd=max_usd), chain)
    read = tuple(asked.of(commit) for commit in commits)
    seconds = max(0.0, time.monotonic() - began - asked.waited)
    return Readings(read=read, seconds=seconds, halt=HALTS.get(asked.ended, ""), why=asked.why)


class _Reader:
    """Who is asked, and whether it still answers."""

    def __init__(
        self, workspace: Workspace, axis: str, reader: Hired, caps: Caps, chain: Chain
    ) -> None:
        self.workspace, self.axis, self.reader, self.chain = workspace, axis, reader, chain
        self.model = connect(reader, os.environ, caps).model
        prepared, _ = beginning.proved_by(workspace)
        self.consultant = Consultant(
            reader, caps, reading_ears(workspace), prepared.environment, chain.number
        )
        self.ended = self.why = ""
        self.waited = 0.0

    def of(self, commit: str) -> Reading:
        path = self._path(commit)
        if path.exists():
            return Reading.from_json(path.read_text()).model_copy(update={"commit": commit})
        if self.ended:
            return _unreviewed(commit, self.model, self.why)
        subject = self.chain.commit(commit).subject
        events.emit(
            run_folder(self.workspace), "step", what=f"{self.reader.family} reads: {subject}"
        )
        outcome = self.consultant.confirm(self.workspace, commit, self.axis)
        self.waited += outcome.waited_seconds
        if isinstance(outcome.answer, Opinion):
            reading = Reading.of(commit, self.model, outcome.answer, outcome.usd)
            path.parent.mkdir(exist_ok=True)
            write_whole(path, reading.to_json())
            return reading
        why = f"{self.reader.family} gave no answer: {outcome.ended}. {outcome.why}".strip(" .")
        if outcome.ended in HALTS:
            self.ended, self.why = outcome.ended, why
        return _unreviewed(commit, self.model, why, outcome.usd)

    def _path(self, commit: str) -> Path:
        """Named by the tree and the question: who is asked, and all that it is told."""
        question = "\0".join(
            [self.reader.to_json(), self.model, shown(self.workspace, commit, self.axis)]
        )
        digest = hashlib.sha256(question.encode()).hexdigest()[:16]
        tree = tree_of(store(self.workspace), commit)
        return Path(self.workspace.home) / "readings" / f"{tree}-{digest}.json"


def _unreviewed(commit: str, by: str, why: str, usd: float = 0.0) -> Reading:
    return Reading(commit=commit, by=by, verdict="unreviewed", note=why, usd=usd)
