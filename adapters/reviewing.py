"""A review of one chunk at a time: what is due, what the reviewer finds, what is written down, what is mended."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from adapters import beginning, ending, events
from adapters.executors import rule_review
from adapters.executors.reading import read_regular
from adapters.repository.contents import edits
from adapters.repository.git import tree_of
from adapters.repository.hardened import GitFailed
from adapters.repository.kept_chunks import keep_at, whole
from adapters.repository.listing import Located
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder, store, target_place
from adapters.shelf import fetch, put
from domain.assignment import Assignment, Begun, Checked, Heard, Mended, Unmended, outcomes
from domain.axis import title
from domain.batch import Outcome
from domain.blocker import OpenBlocker
from domain.chunk import Plan, Settings
from domain.commit import Chain
from domain.drift import hunks, moved
from domain.ledger import Caps
from domain.review_document import from_earlier
from domain.review_state import Look, ReviewState
from domain.reviewers import Opened
from domain.standing import Standing, stand
from domain.state import State
from domain.survey import Brief, Survey
from domain.sweep import Sweep
from domain.target import Workspace
from domain.verdict import weigh

EARLIER = ".whole_improve_loop.state"
"""Of the system before this one, in the folder of the repository."""


def begin(
    opened: Opened,
    *,
    retry: bool = False,
    before_gate: Callable[[Workspace], Workspace] = lambda workspace: workspace,
) -> Begun:
    """State, baseline, and where the review stands. One that has nothing to look at proves no gate."""

    def idle(survey: Survey) -> bool:
        sweep = sweep_of(opened, survey.tip)
        return stand(_taken_up(opened, survey.state, sweep), sweep).look is None

    workspace, axis = opened.workspace, opened.axis
    start = beginning.set_out(workspace, axis, retry=retry, before_gate=before_gate, idle=idle)
    state = beginning.current_state(workspace, title(axis))
    sweep = sweep_of(opened, start.survey.tip)
    review = _taken_up(opened, state, sweep)
    if state.review:
        _keep(opened, state, review, "a run begins")
    standing = stand(review, sweep)
    # Who asks for another try has changed something: it is looked at first.
    left = None if retry else _unmended(review, sweep, start.survey, standing)
    return Begun(start=start, standing=standing, left=left)


def _taken_up(opened: Opened, state: State, sweep: Sweep) -> ReviewState:
    """The review as a run finds it: who was silent may be asked again, and answers are where their lines are now."""
    return _carried(opened.workspace, _review_in(opened, state).asked_anew(), sweep)


def _unmended(
    review: ReviewState, sweep: Sweep, survey: Survey, standing: Standing
) -> Unmended | None:
    if not (found := review.untried(sweep)):
        return None
    index, family = found
    # The number of the pass that found them: its conversation, if it is still there, is gone on with.
    turn = max(review.turn - 1, 0)
    look = Look(turn=turn, chunk=index, family=family, binding=sweep.binding)
    chunk = Assignment(look=look, tip=survey.tip, chunk=sweep.chunk(index), of=sweep.size)
    to_fix = review.to_fix(sweep, index)
    return Unmended(chunk=chunk, checked=Checked(standing=standing, survey=survey, to_fix=to_fix))


def sweep_of(opened: Opened, tip: str) -> Sweep:
    """The plan of a tip, on the terms of the review."""
    target, terms = opened.workspace.target, opened.terms
    settings = Settings(
        max_tokens=terms.chunk_tokens,
        paths=target.paths,
        include_generated=target.include_generated,
    )
    key = (opened.workspace.git_dir, tip, f"{settings.key} {terms.to_json()}")
    if key not in _sweeps:
        if len(_sweeps) >= MOST_SWEEPS:
            _sweeps.clear()
        _sweeps[key] = Sweep(_planned(opened.workspace, tip, settings), terms)
    return _sweeps[key]


def _planned(workspace: Workspace, tip: str, settings: Settings) -> Plan:
    tree = tree_of(target_place(workspace), tip)
    where = Located(workspace.git_dir, tip, tree)
    return whole(keep_at(where, settings, workspace.target.repo, tip)).plan


_sweeps: dict[tuple[str, str, str], Sweep] = {}
MOST_SWEEPS = 4


def assigned(opened: Opened, tip: str, look: Look) -> Assignment:
    """The chunk that a look is due at."""
    sweep = sweep_of(opened, tip)
    return Assignment(look=look, tip=tip, chunk=sweep.chunk(look.chunk), of=sweep.size)


def review(opened: Opened, task: Assignment, caps: Caps) -> Heard:
    """Ask the family whose turn it is."""
    state = _review_in(opened, beginning.current_state(opened.workspace, title(opened.axis)))
    return heard(opened, sweep_of(opened, task.tip), state, task, caps)


def heard(opened: Opened, sweep: Sweep, state: ReviewState, task: Assignment, caps: Caps) -> Heard:
    """What the family whose turn it is says of a chunk of this plan, and what that counts for."""
    began, look = time.monotonic(), task.look
    workspace = opened.seated(look.family)
    said = f"{look.family} reads {task.chunk.name} ({look.chunk + 1} of {task.of})"
    events.emit(run_folder(workspace), "step", what=said)
    if workspace.hired:
        from adapters import model_reviewing  # noqa: PLC0415 -- the libraries of models, for a model alone

        return model_reviewing.review(workspace, sweep, state, task, caps)
    verdict, seen = rule_review.review(workspace, task.tip, look.family, task.chunk)
    count = weigh(
        verdict,
        seen,
        task.chunk,
        family=look.family,
        terms=sweep.terms,
        answered=state.answered,
    )
    return Heard(count=count, seconds=time.monotonic() - began)


def check(opened: Opened, task: Assignment, heard: Heard) -> Checked:
    """Write the verdict and the cursor down, in one ref transaction; what is due after that."""
    sweep = sweep_of(opened, task.tip)
    state = beginning.current_state(opened.workspace, title(opened.axis))
    review = _review_in(opened, state)
    if not heard.halt:
        review = review.record(sweep, task.look, heard.count)
        why = f"{task.look.family} on {task.chunk.name}: {heard.count.kind}"
        _keep(opened, state, review, why)
    blocked = heard.count.kind == "blocked" and not heard.halt
    return Checked(
        standing=stand(review, sweep),
        survey=ending.resurvey(opened.workspace, opened.axis, task.tip, task.number),
        to_fix=review.to_fix(sweep, task.look.chunk) if blocked else (),
    )


def mend(opened: Opened, task: Assignment, blockers: Sequence[OpenBlocker], caps: Caps) -> Mended:
    """Send a fixer for these; its commits are brought across."""
    workspace = opened.seated(task.look.family)
    chain, pushbacks = fixed(opened, task, blockers, caps)
    events.emit(
        run_folder(workspace), "executed",
        commits=len(chain.commits), seconds=chain.seconds, **{"pass": chain.number},
    )  # fmt: skip
    return Mended(
        chain=put(workspace, chain), pushbacks=pushbacks, by_rules=workspace.hired is None
    )


def fixed(
    opened: Opened, task: Assignment, blockers: Sequence[OpenBlocker], caps: Caps
) -> tuple[Chain, dict[str, str]]:
    """What the family that found these made of them: commits, and reasons against, by blocker."""
    family = task.look.family
    workspace = opened.seated(family)
    events.emit(run_folder(workspace), "step", what=f"{family} mends {task.chunk.name}")
    if workspace.hired:
        from adapters import model_reviewing  # noqa: PLC0415

        return model_reviewing.mend(workspace, opened.terms, task, blockers, caps)
    state = beginning.current_state(workspace, title(opened.axis))
    brief = Brief(
        number=task.number,
        tip=task.tip,
        settled=tuple(sorted(state.settled)),
        paths=tuple(dict.fromkeys(one.blocker.path for one in blockers)),
    )
    return rule_review.mend(workspace, family, brief), {}


def settle(opened: Opened, task: Assignment, mended: Mended, decided: Outcome, tip: str) -> Checked:
    """Write down what became of the blockers; where the new tip stands."""
    workspace = opened.workspace
    state = beginning.current_state(workspace, title(opened.axis))
    review, sweep = _review_in(opened, state), sweep_of(opened, task.tip)
    chain = fetch(workspace, mended.chain.number)
    blockers = review.to_fix(sweep, task.look.chunk)
    became = outcomes(blockers, mended, chain.commits, decided, task.look.family)
    review = review.settle(sweep, became.tried, became.pushbacks, became.left)
    review = _carried(workspace, review, sweep_of(opened, tip))
    _keep(opened, state, review, f"fixes of {task.chunk.name}")
    return Checked(
        standing=stand(review, sweep_of(opened, tip)),
        survey=ending.resurvey(workspace, opened.axis, tip, task.number),
    )


def _carried(workspace: Workspace, review: ReviewState, sweep: Sweep) -> ReviewState:
    """With the answers to findings whose lines an edit left as they were, wherever those are now."""
    lines: dict[str, int] = {}
    for one, blob in review.adrift(sweep):
        try:
            diff = edits(store(workspace), one.blob, blob)
        except GitFailed:
            continue  # the content of then is gone
        if line := moved(one.blocker.line, hunks(diff)):
            lines[one.id] = line
    return review.carried(sweep, lines)


def _keep(opened: Opened, state: State, review: ReviewState, why: str) -> State:
    if review == state.review:
        return state
    kept = state.model_copy(update={"review": review})
    save(opened.workspace, kept, why, int(time.time()))
    return kept


def _review_in(opened: Opened, state: State) -> ReviewState:
    """The review of a state; of a repository that only the earlier system knew, its cursor."""
    if state.review:
        return state.review
    folder = Path(opened.workspace.target.repo)
    text = read_regular(folder, EARLIER) if (folder / EARLIER).is_file() else b""
    return from_earlier(text) if isinstance(text, bytes) and text else ReviewState()
