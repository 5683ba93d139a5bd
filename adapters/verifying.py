"""Verifying: commits put on the tip, the gate run on exactly that, and the verdict with its suspects."""

from collections.abc import Sequence
from typing import Any

from adapters import beginning, events, proving, words
from adapters.repository.importing import imports_of
from adapters.repository.pinning import twin
from adapters.repository.replaying import Candidate, candidate
from adapters.repository.workspaces import run_folder, store
from domain.commit import Chain
from domain.gate import Failure, Verdict
from domain.judgement import judge, settle
from domain.proof import Proof, Question
from domain.suspects import Pointers, point_out
from domain.target import Workspace


def verify(workspace: Workspace, chain: Chain, question: Question) -> Proof:
    """One answer of the gate. What does not fit on the tip is named, and not in it.

    What is green is green with the protected files of the base, too, where it differs in them.
    """
    made = _candidate(workspace, chain, question)
    if not made.applied:
        return Proof(probe=(), conflicts=made.conflicts, **_by_now(workspace))
    gate = _Gate(workspace, question, len(made.applied))
    verdict, seen = _decided(workspace, chain.base, made.commit, question.nth, gate)
    nobody = verdict.kind == "unavailable" and gate.is_unavailable_on(chain.base)
    pointers = Pointers() if verdict.green else _suspects(workspace, chain, made, verdict, seen)
    return Proof(
        probe=made.applied,
        conflicts=made.conflicts,
        verdict=verdict,
        named=pointers.named,
        sure=pointers.sure,
        flaky=tuple(sorted(gate.flaky)),
        nobody=nobody,
        seconds=tuple(gate.seconds),
        **_by_now(workspace),
    )


def _by_now(workspace: Workspace) -> dict[str, Any]:
    return {
        "elapsed": events.elapsed(run_folder(workspace)),
        "raised": words.said(workspace).raised,
    }


def _decided(
    workspace: Workspace, tip: str, commit: str, nth: int, gate: "_Gate"
) -> tuple[Verdict, str]:
    """The verdict, and the commit it was reached on: the one that was asked for, or its pinned twin."""
    turn = gate.green_turn(commit, nth)
    verdict = gate.answer(commit, turn)
    pinned = twin(workspace, tip, commit) if verdict.green else None
    if pinned is None:
        return verdict, commit
    # It was red `nth - 1` times; what the commit itself was not, its twin was.
    again = gate.answer(pinned, nth - turn + 1, pinned=True)
    if again.green:
        return again.model_copy(update={"fixed": verdict.fixed}), commit
    if gate.is_red_by_itself(twin(workspace, tip, tip)):
        return verdict, commit
    return again, pinned


class _Gate:
    """The gate of one question: its answers are judged, told as events, and their runs counted."""

    def __init__(self, workspace: Workspace, question: Question, size: int) -> None:
        self.workspace = workspace
        self.run = run_folder(workspace)
        self.size = size
        self.prepared, baseline = beginning.proved_by(workspace)
        self.baseline = baseline.excusing(question.flaky)
        self.seconds: list[float] = []
        """Of the runs that were made."""
        self.flaky: set[str] = set()

    def green_turn(self, commit: str, nth: int) -> int:
        """Which answer on the commit was green already, before the `nth`; else that one is to be asked for."""
        for turn in range(1, nth):
            if (verdict := self._kept(commit, turn)) and verdict.green:
                return turn
        return nth

    def answer(self, commit: str, nth: int, *, pinned: bool = False) -> Verdict:
        """The `nth` answer on the commit's tree; one that follows a red one settles it."""
        events.emit(self.run, "gate-started", commits=self.size)
        done, kept = proving.run(
            self.workspace,
            self.prepared,
            commit,
            nth=nth,
            expect_reports=self.baseline.run.tests is not None,
        )
        verdict, flaky = judge(done, self.baseline), tuple[str, ...]()
        if before := proving.kept_run(self.workspace, self.prepared, commit, nth=nth - 1):
            verdict, flaky = settle(before, done, self.baseline)
        self.flaky.update(flaky)
        self.seconds += [] if kept else [done.seconds]
        events.emit(
            self.run, "gate", kind=verdict.kind, commits=self.size, seconds=verdict.seconds, kept=kept,
            pinned=pinned, failures=[failure.test for failure in verdict.failures][:50],
        )  # fmt: skip
        return verdict.model_copy(update={"kept": kept, "pinned": pinned})

    def _kept(self, commit: str, nth: int) -> Verdict | None:
        done = proving.kept_run(self.workspace, self.prepared, commit, nth)
        before = proving.kept_run(self.workspace, self.prepared, commit, nth - 1)
        if done is None:
            return None
        return settle(before, done, self.baseline)[0] if before else judge(done, self.baseline)

    def is_red_by_itself(self, commit: str | None) -> bool:
        """Whether the tip's own twin is red: then somebody else's commits are on it, and it says nothing of ours."""
        if commit is None:
            return False
        return not any(self.answer(commit, nth, pinned=True).green for nth in (1, 2))

    def is_unavailable_on(self, commit: str) -> bool:
        """Whether the gate cannot be run on that commit either, where it was run before."""
        done, _ = proving.run(self.workspace, self.prepared, commit, fresh=True)
        return done.status == "unavailable"


def _candidate(workspace: Workspace, chain: Chain, question: Question) -> Candidate:
    """The tree to verify: the good commits and then the probe, on the chain's base.

    It is the tree that lands, whether the good ones have landed by now or wait for the end of a split.
    """
    line = (*question.good, *question.probe)
    made = candidate(store(workspace), chain, (), line, chain.base)
    good = set(question.good)
    applied = tuple(sha for sha in made.applied if sha not in good)
    return made.model_copy(update={"applied": applied})


def _suspects(
    workspace: Workspace, chain: Chain, made: Candidate, verdict: Verdict, seen: str
) -> Pointers:
    applied = set(made.applied)
    commits = [commit for commit in chain.commits if commit.sha in applied]
    imports = imports_of(workspace, seen, _named(verdict.failures))
    return point_out(verdict.failures, commits, imports)


def _named(failures: Sequence[Failure]) -> list[Failure]:
    return [failure for failure in failures if "::" in failure.test]
