"""Seeded bugs: known-bad versions of single steps, put in place in the forked engine before it runs.

The harness is worth what it catches. Each bug names the mode of kill that brings it to light; some need
no kill at all, most need one at the right place, and none is caught by every mode.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Put = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """A bug, and where to look for it."""

    put: Put
    mode: str
    first: str = ""
    """The failpoint to begin with."""


def _apart(refs_of: Callable[[Any, dict[str, Any]], list[str]]) -> None:
    """Some refs are moved in a transaction of their own, after the others."""
    from adapters.repository import settling

    honest = settling.move_refs

    def move_refs(workspace: Any, updates: dict[str, Any], reason: str) -> None:
        later = refs_of(workspace, updates)
        honest(workspace, {ref: to for ref, to in updates.items() if ref not in later}, reason)
        honest(workspace, {ref: updates[ref] for ref in later}, reason)

    settling.move_refs = move_refs


def state_apart_from_the_branch() -> None:
    _apart(lambda workspace, updates: [workspace.state_ref])


def parked_apart_and_not_restored() -> None:
    _apart(lambda workspace, updates: [ref for ref in updates if "/parked/" in ref])
    parked_refs_not_restored()


def parked_refs_not_restored() -> None:
    from adapters.repository import recovery

    recovery._restore_parked = lambda workspace, state: None


def no_roll_forward() -> None:
    from adapters.repository import recovery

    recovery._roll_forward = lambda workspace, state, branch: branch


def stale_ref_locks_stay() -> None:
    from adapters.repository import recovery

    recovery.stale_locks = lambda workspace: []


def drafts_and_locks_of_ours_stay() -> None:
    from adapters.repository import workspaces

    workspaces.LEFT_BEHIND = ()


def temporary_folders_stay() -> None:
    from adapters import beginning

    beginning.forget_abandoned = lambda: None


def half_made_clones_stay() -> None:
    """What is there is taken for whole."""
    from adapters.repository import workspaces

    honest = workspaces.lay

    def lay(git_dir: Path, *args: Any, **more: Any) -> None:
        if not git_dir.exists():
            honest(git_dir, *args, **more)

    workspaces.lay = lay


def lock_not_inherited() -> None:
    from adapters.repository import git

    git.inherited = tuple


def gate_outlives_the_engine() -> None:
    from functools import partial

    from adapters.processes import shell

    shell.run = partial(shell.run, contain=False)


def landed_before_the_gate() -> None:
    """And taken back when the gate is red."""
    from adapters import verifying
    from adapters.repository import settling
    from adapters.repository.git import git, object_id
    from adapters.repository.workspaces import target_place
    from domain.batch import Outcome
    from domain.state import State

    honest = verifying.verify

    def verify(workspace: Any, chain: Any, question: Any) -> Any:
        place, refs = target_place(workspace), (workspace.branch, workspace.state_ref)
        before = {ref: object_id(place, ref) for ref in refs}
        signature = settling.Signature(axis="ruff:UP", executor="codemod")
        line = (*question.good, *question.probe)
        verified = dict.fromkeys(question.probe, len(question.probe))
        fresh = State(axis="ruff:UP", base=workspace.base)
        settling.settle(workspace, chain, Outcome(good=line, verified=verified), signature, fresh)
        proof = honest(workspace, chain, question)
        if not (proof.verdict and proof.verdict.green):
            for ref, old in before.items():
                git(place, "update-ref", *((ref, old) if old else ("-d", ref)))
        return proof

    verifying.verify = verify


def always_green() -> None:
    """After the gate was seen to fail on the base, which the engine insists on."""
    from adapters import verifying

    honest = verifying.judge

    def judge(*args: Any) -> Any:
        return honest(*args).model_copy(update={"kind": "green", "failures": ()})

    verifying.judge = judge


def verdict_kept_before_it_is_given() -> None:
    from adapters import proving
    from domain.gate import GateRun

    honest = proving.run

    def run(workspace: Any, prepared: Any, commit: str, *, nth: int = 1, **more: Any) -> Any:
        if known := proving.kept_run(workspace, prepared, commit, nth):
            return known, True
        path = proving._kept_path(workspace, prepared, commit, nth)
        proving._keep(path, GateRun(status="passed"))
        return honest(workspace, prepared, commit, nth=nth, **{**more, "fresh": True})

    proving.run = run


def verdicts_in_place() -> None:
    """Written where they are read, half before the kill and half after it."""
    from adapters import proving
    from adapters.failpoints import reach

    def write_whole(path: Path, content: str | bytes) -> None:
        whole = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(whole[: len(whole) // 2])
        reach("file-drafted")
        path.write_bytes(whole)

    proving.write_whole = write_whole


def settled_twice() -> None:
    """What the state says has landed is not asked for."""
    from adapters.repository import settling, states

    honest = states.load

    def load(place: Any, ref: str) -> Any:
        state, commit = honest(place, ref)
        known = state and state.model_copy(update={"landed": ()})
        return known, commit

    settling.states = SimpleNamespace(load=load, draft=states.draft)


def seconds_by_the_wall_clock() -> None:
    import time

    from adapters import events

    events.time = SimpleNamespace(monotonic=time.time)


def what_landed_is_thrown_away() -> None:
    """A run starts over when it finds that the one before did not end."""
    from adapters import beginning
    from adapters.repository.git import git
    from adapters.repository.workspaces import target_place

    honest = beginning.recover

    def recover(workspace: Any, axis: str) -> Any:
        found = honest(workspace, axis)
        if found.commit and not found.state.runs:
            for ref in (workspace.branch, workspace.state_ref):
                git(target_place(workspace), "update-ref", "-d", ref)
            return honest(workspace, axis)
        return found

    beginning.recover = recover


def clean_before_the_verdict() -> None:
    """A look is written down as clean, and put right when its blockers are known."""
    from adapters import beginning, reviewing
    from domain.axis import title
    from domain.verdict import Count

    honest = reviewing.check

    def check(opened: Any, task: Any, heard: Any) -> Any:
        state = beginning.current_state(opened.workspace, title(opened.axis))
        review = reviewing._review_in(opened, state)
        early = review.record(reviewing.sweep_of(opened, task.tip), task.look, Count(kind="clean"))
        later = reviewing._keep(opened, state, early, "looked at")
        reviewing._keep(opened, later, review, "and put right")
        return honest(opened, task, heard)

    reviewing.check = check


def tried_before_the_fixer() -> None:
    """Blockers are written down as tried before anybody was sent for them, and opened again after that."""
    from adapters import beginning, reviewing
    from domain.axis import title

    honest = reviewing.mend

    def mend(opened: Any, task: Any, blockers: Any, caps: Any) -> Any:
        state = beginning.current_state(opened.workspace, title(opened.axis))
        review = reviewing._review_in(opened, state)
        tried = {one.id: "not mended" for one in blockers}
        early = review.settle(reviewing.sweep_of(opened, task.tip), tried, {})
        later = reviewing._keep(opened, state, early, "a fixer is sent")
        reviewing._keep(opened, later, review, "and put right")
        return honest(opened, task, blockers, caps)

    reviewing.mend = mend


def items_end_apart() -> None:
    """An item that landed is ended in the list by a step of its own, after the branch was moved."""
    from adapters import worklists
    from domain.state import State

    land, settle = State.land, worklists.settle

    def without_the_list(self: Any, tip: str, landed: Any, rate: Any) -> Any:
        return land(self, tip, landed, rate).model_copy(update={"worklist": self.worklist})

    def later(workspace: Any, axis: Any, made: Any, batch: Any, tip: str) -> Any:
        from adapters import beginning
        from adapters.repository.settling import save

        state = beginning.current_state(workspace, "")
        listed = state.worklist.landed([one.item for one in state.landed])
        save(workspace, state.model_copy(update={"worklist": listed}), "later", 0)
        return settle(workspace, axis, made, batch, tip)

    State.land, worklists.settle = without_the_list, later  # type: ignore[method-assign]


MUTANTS = {
    "items-end-apart": Mutant(items_end_apart, "sweep", "refs-moved"),
    "state-apart-from-the-branch": Mutant(state_apart_from_the_branch, "failpoint", "refs-moved"),
    "no-roll-forward": Mutant(no_roll_forward, "torn"),
    "parked-refs-not-restored": Mutant(parked_refs_not_restored, "torn"),
    "parked-apart": Mutant(parked_apart_and_not_restored, "failpoint", "refs-moved"),
    "stale-ref-locks-stay": Mutant(stale_ref_locks_stay, "planted"),
    "drafts-stay": Mutant(drafts_and_locks_of_ours_stay, "failpoint", "file-drafted"),
    "temporary-folders-stay": Mutant(temporary_folders_stay, "in-gate"),
    "half-made-clones-stay": Mutant(half_made_clones_stay, "failpoint", "git-dir-begun"),
    "lock-not-inherited": Mutant(lock_not_inherited, "orphan"),
    "gate-outlives-the-engine": Mutant(gate_outlives_the_engine, "in-gate"),
    "landed-before-the-gate": Mutant(landed_before_the_gate, "failpoint", "gate-starting"),
    "always-green": Mutant(always_green, "time"),
    "verdict-kept-too-early": Mutant(verdict_kept_before_it_is_given, "in-gate"),
    "verdicts-in-place": Mutant(verdicts_in_place, "failpoint", "file-drafted"),
    "settled-twice": Mutant(settled_twice, "time"),
    "seconds-by-the-wall-clock": Mutant(seconds_by_the_wall_clock, "clock"),
    "landed-thrown-away": Mutant(what_landed_is_thrown_away, "group"),
    "clean-before-the-verdict": Mutant(clean_before_the_verdict, "review", "refs-moved"),
    "tried-before-the-fixer": Mutant(tried_before_the_fixer, "review", "refs-moved"),
}


def apply(name: str) -> None:
    """Put a bug into this process."""
    MUTANTS[name].put()
