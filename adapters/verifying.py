"""Verifying: commits put on the tip, the gate run on exactly that, and the verdict with its suspects."""

from collections.abc import Sequence

from adapters import beginning, events, proving
from adapters.proving import Prepared
from adapters.repository.importing import imports_of
from adapters.repository.replaying import Candidate, candidate
from adapters.repository.workspaces import run_folder, store
from domain.commit import Chain
from domain.gate import Failure, Verdict
from domain.judgement import judge, settle
from domain.proof import Proof, Question
from domain.suspects import Pointers, point_out
from domain.target import Workspace


def verify(workspace: Workspace, chain: Chain, question: Question) -> Proof:
    """One answer of the gate. What does not fit on the tip is named, and not in it."""
    run = run_folder(workspace)
    made = _candidate(workspace, chain, question)
    if not made.applied:
        return Proof(probe=(), conflicts=made.conflicts, elapsed=events.elapsed(run))
    prepared, baseline = beginning.proved_by(workspace)
    baseline = baseline.excusing(question.flaky)
    events.emit(run, "gate-started", commits=len(made.applied))
    done, kept = proving.run(
        workspace,
        prepared,
        made.commit,
        nth=question.nth,
        expect_reports=baseline.run.tests is not None,
    )
    verdict, flaky = judge(done, baseline), tuple[str, ...]()
    before = proving.kept_run(workspace, prepared, made.commit, nth=question.nth - 1)
    if before:
        verdict, flaky = settle(before, done, baseline)
    verdict = verdict.model_copy(update={"kept": kept})
    events.emit(
        run, "gate", kind=verdict.kind, commits=len(made.applied), seconds=verdict.seconds, kept=kept,
        failures=[failure.test for failure in verdict.failures][:50],
    )  # fmt: skip
    nobody = done.status == "unavailable" and _unavailable(workspace, prepared, chain.base)
    pointers = Pointers() if verdict.green else _suspects(workspace, chain, made, verdict)
    return Proof(
        probe=made.applied,
        conflicts=made.conflicts,
        verdict=verdict,
        named=pointers.named,
        sure=pointers.sure,
        flaky=flaky,
        nobody=nobody,
        elapsed=events.elapsed(run),
    )


def _unavailable(workspace: Workspace, prepared: Prepared, commit: str) -> bool:
    """Whether the gate cannot be run on that commit either, where it was run before."""
    done, _ = proving.run(workspace, prepared, commit, fresh=True)
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


def _suspects(workspace: Workspace, chain: Chain, made: Candidate, verdict: Verdict) -> Pointers:
    applied = set(made.applied)
    commits = [commit for commit in chain.commits if commit.sha in applied]
    imports = imports_of(workspace, made.commit, _named(verdict.failures))
    return point_out(verdict.failures, commits, imports)


def _named(failures: Sequence[Failure]) -> list[Failure]:
    return [failure for failure in failures if "::" in failure.test]
