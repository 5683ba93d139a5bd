"""A review by a model: what it is told, what its tools showed it, and what its answer counts for."""

import os
import time
from collections.abc import Sequence

from adapters import beginning, hiring, words
from adapters.executors.model_review import Seat
from adapters.repository.workspaces import read_files
from domain import coverage
from domain.assignment import Assignment, Heard
from domain.blocker import OpenBlocker
from domain.chunk import Part
from domain.commit import Chain, Halt
from domain.ledger import Caps
from domain.lines import decoded
from domain.outcome import Outcome
from domain.redaction import Redactor, secrets_in
from domain.review_brief import ReviewBrief, fixing, index_of, news_of, place_of
from domain.review_state import ReviewState
from domain.role import FixReport
from domain.sweep import Sweep, Terms
from domain.target import Workspace
from domain.verdict import ASKED, Count, Engagement, Review, Unreadable, Verdict, weigh
from domain.words import sendable


def review(
    workspace: Workspace,
    sweep: Sweep,
    state: ReviewState,
    task: Assignment,
    caps: Caps,
) -> Heard:
    """Ask for a verdict on a chunk; once more, told why, when the first answer counts for nothing."""
    terms, look = sweep.terms, task.look
    news = coverage.news(state.clean, sweep, look.chunk, look.family)
    source = _source(workspace, task) if terms.context_mode == "inline" else ""
    words = _brief(terms, state, task, source, () if source else news_of(task.chunk, news)).words
    index, seat = "" if source else index_of(task.chunk, news), _seat(workspace, task, caps)
    began, waited, usd = time.monotonic(), 0.0, 0.0
    count, halt, why = Count(kind="void"), hiring.NO_HALT, ""
    for again in range(1, ASKED + 1):
        outcome = seat.review(words, index, again=again)
        usd, waited = usd + outcome.usd, waited + outcome.waited_seconds
        halt, why = _halt(workspace, outcome, task, caps), outcome.why
        if halt:
            break
        seen = Engagement.of_all(task.chunk) if source else Engagement(seen=outcome.read)
        verdict = _verdict(outcome, look.family)
        count = weigh(
            verdict, seen, task.chunk, family=look.family, terms=terms, answered=state.answered
        )
        if count.kind != "void":
            break
        words = f"PHASE: review\n\nYour answer counts for nothing: {count.reason}. Look again, and answer anew."
    seconds = max(0.0, time.monotonic() - began - waited)
    return Heard(count=count, usd=usd, seconds=seconds, halt=halt, why=why)


def mend(
    workspace: Workspace,
    terms: Terms,
    task: Assignment,
    blockers: Sequence[OpenBlocker],
    caps: Caps,
) -> tuple[Chain, dict[str, str]]:
    """The commits of a fixer that goes on in the reviewer's conversation, and its reasons against, by blocker."""
    passed = _seat(workspace, task, caps).fix(fixing(terms.axis, blockers))
    halt = _halt(workspace, passed.outcome, task, caps)
    chain = passed.chain.model_copy(update={"halt": halt, "why": passed.outcome.why})
    report = passed.outcome.answer
    if not isinstance(report, FixReport):
        return chain, {}
    ids = {(one.blocker.path, one.blocker.line): one.id for one in blockers}
    refused = ((ids.get((one.path, one.line)), one.why) for one in report.refused)
    return chain, {id_: why for id_, why in refused if id_}


def _halt(workspace: Workspace, outcome: Outcome, task: Assignment, caps: Caps) -> Halt:
    """Why nobody can be asked any more. The cap of one pass ends that pass alone."""
    halt = hiring.HALTS.get(outcome.ended, hiring.NO_HALT)
    narrow = caps.max_usd_per_pass is not None or caps.max_usd_per_site is not None
    if halt == "budget" and narrow and not hiring.all_spent(workspace, task.number, caps):
        return hiring.NO_HALT
    return halt


def _seat(workspace: Workspace, task: Assignment, caps: Caps) -> Seat:
    assert workspace.hired  # noqa: S101 -- the caller asked
    prepared, _ = beginning.proved_by(workspace)
    return Seat(
        workspace,
        workspace.hired,
        task.tip,
        task.chunk.digest,
        task.number,
        caps,
        hiring.reading_ears(workspace, news=lambda: words.said(workspace).told),
        prepared.environment,
    )


def _brief(
    terms: Terms, state: ReviewState, task: Assignment, source: str, news: tuple[str, ...]
) -> ReviewBrief:
    chunk, blobs = task.chunk, {part.path: part.blob for part in task.chunk.parts}
    return ReviewBrief(
        axis=terms.axis,
        chunk=chunk.name,
        nth=task.look.chunk + 1,
        of=task.of,
        files=len(blobs),
        tokens=chunk.tokens,
        source=source,
        news=news,
        areas=state.areas,
        pushbacks=tuple(one for one in state.pushbacks if blobs.get(one.blocker.path) == one.blob),
        blockers=tuple(one for one in state.open if blobs.get(one.blocker.path) == one.blob),
    )


def _verdict(outcome: Outcome, family: str) -> Verdict | Unreadable:
    answer = outcome.answer
    if not isinstance(answer, Review):
        return Unreadable(why=f"{outcome.ended}. {outcome.why}".strip(" ."))
    return Verdict(family=family, **{name: getattr(answer, name) for name in Review.model_fields})


def _source(workspace: Workspace, task: Assignment) -> str:
    """The chunk, whole: every line with its number. The operator's own secrets are taken out."""
    files = read_files(workspace, task.tip, {part.path for part in task.chunk.parts})
    redactor = Redactor(secrets=secrets_in(os.environ))
    shown = [
        f"## {place_of(part)}\n{_numbered(part, decoded(files[part.path]))}"
        for part in task.chunk.parts
    ]
    return sendable(redactor.clean("\n\n".join(shown)))


def _numbered(part: Part, text: str) -> str:
    lines = text.split("\n")
    first, last = max(part.first_line, 1), part.last_line or len(lines)
    return "\n".join(
        f"{number:>6}\t{line}" for number, line in enumerate(lines[first - 1 : last], start=first)
    )
