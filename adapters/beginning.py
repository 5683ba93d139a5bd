"""The beginning of a run: lock, clones, state, gate, baseline, and the sites there are.

The command line does the same before Prefect is started; what it found is kept, so that the
flow does none of it twice.
"""

import gc
from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path
from threading import Thread

from adapters import events, proving, takeover, words
from adapters.catalogue import read_catalogue
from adapters.executors import passes, sweeping
from adapters.failpoints import reach
from adapters.processes.temporary import forget_abandoned
from adapters.proving import Prepared
from adapters.repository import lock, sharing, states, workspaces
from adapters.repository.bases import keep_base
from adapters.repository.credentials import shapes
from adapters.repository.git import object_id
from adapters.repository.opening import uncommitted
from adapters.repository.recovery import recover
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder, target_place
from adapters.whole import write_whole
from domain.axis import Axis, Sentence, for_codemod, title
from domain.environment import SetupFailed
from domain.gate import Baseline, GatePlan, GateRun
from domain.gate_script import WRITTEN, GateScript
from domain.hired import Hired
from domain.judgement import baseline_of, notices
from domain.ledger import Caps
from domain.site import Listing
from domain.state import State
from domain.survey import Start, Survey, open_sites
from domain.target import Workspace
from domain.value import Busy, Refused

Proved = tuple[Prepared, Baseline, tuple[float, ...]]
NO_CAPS = Caps()
START = "start.json"
SHARED = "shared"
"""The event that says what came from the remote."""


def attach(workspace: Workspace) -> None:
    """Take the campaign lock, lay what is missing, and hold the remote it is shared with. Repeating it has no effect."""
    holder = lock.take_over(lock_path(workspace), workspace.run)
    if holder is not None:
        who = f"run {holder.run}, process {holder.pid}" if holder.pid else "another run"
        raise Busy(f"{who} works on this repository.")
    forget_abandoned()
    workspaces.prepare(workspace)
    if not (run_folder(workspace) / START).exists():
        words.begin(workspace)
    try:
        keep_base(workspace)
        for what in sharing.begin(workspace):
            events.emit(run_folder(workspace), SHARED, what=what)
    except BaseException:
        lock.release(lock_path(workspace))
        raise


def lock_path(workspace: Workspace) -> Path:
    return Path(workspace.home) / "lock"


def set_out(
    workspace: Workspace,
    axis: Axis,
    *,
    retry: bool = False,
    caps: Caps = NO_CAPS,
    before_gate: Callable[[Workspace], Workspace] = lambda workspace: workspace,
    idle: Callable[[Survey], bool] = lambda _: False,
) -> Start:
    """State, sites and baseline; written down, so that whoever asks again is told the same.

    `before_gate` is called when there is something to do, before the gate is run for the first time, and
    gives the workspace to go on with. `idle`: whether there is nothing to do, whatever the sites are.
    """
    # All libraries are loaded by now. To look through them for cycles would take 80 ms in the midst of a pass.
    gc.freeze()
    written = run_folder(workspace) / START
    if written.exists():
        return Start.from_json(written.read_text())
    if workspace.hired:
        takeover.inherit(workspace)
    _tell_sandbox(workspace)
    surveyed, notes = survey(workspace, axis, title(axis), retry=retry)
    events.emit(
        run_folder(workspace), "sites", count=len(surveyed.listing.sites),
        known=surveyed.known, skipped=surveyed.listing.skipped, **{"pass": 1},
    )  # fmt: skip
    proved = None
    paths = {site.path for site in open_sites(surveyed)}
    if not surveyed.known:
        paths = passes.sources(workspace, surveyed.tip)
    if paths and not idle(surveyed):
        Thread(target=shapes, daemon=True).start()  # slow to load, and the gate is run elsewhere
        told, workspace = workspace.sandbox.said, before_gate(workspace)
        _tell_sandbox(workspace, told)
        proved = prove_baseline(workspace, paths, caps)
    begun = _start(workspace, axis, surveyed, notes, proved)
    write_whole(written, begun.to_json())
    reach("start-kept")
    return begun


def _tell_sandbox(workspace: Workspace, told: str = "") -> None:
    if workspace.sandbox.said != told:
        events.emit(run_folder(workspace), "sandbox", what=workspace.sandbox.said)


def survey(
    workspace: Workspace, axis: Axis, axis_words: str, *, retry: bool = False
) -> tuple[Survey, tuple[str, ...]]:
    """State, tip and the sites there; sites that the operator took back are declined from now on."""
    found = recover(workspace, axis_words)
    reach("recovered")
    known = not isinstance(axis, Sentence)
    with takeover.clone_aside(workspace):
        listing = passes.look(workspace, axis, found.tip) if known else Listing()
        by_rule = sweeping.look(workspace, found.state, found.tip)
    if known:
        passes.leave(workspace, found.tip)
    there = (*listing.sites, *by_rule.sites)
    state = found.state.retried() if retry else found.state.decline(there)
    if state != found.state and found.commit:
        save(workspace, state, "retry" if retry else "decline what was taken back", 0)
    said = words.said(workspace)
    return (
        Survey(
            state=state,
            listing=listing,
            tip=found.tip,
            known=known,
            by_rule=by_rule,
            elapsed=events.elapsed(run_folder(workspace)),
            enough=said.enough,
            raised=said.raised,
            spend_usd=takeover.spent_usd(workspace),
        ),
        found.notes,
    )


def preview(workspace: Workspace, axis: Axis) -> tuple[State | None, Listing]:
    """The sites as a run would find them. Nothing in the target is changed."""
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    tip = object_id(target_place(workspace), workspace.branch) if state else None
    if workspace.hired and isinstance(axis, Sentence):
        return state, Listing(notes=("a model finds the sites of a sentence as it works",))
    return state, passes.look(workspace, axis, tip or workspace.base)


def check_executor(axis: Axis, hired: Hired | None = None) -> None:
    """Refuse an axis that needs a model, when none is hired."""
    if hired is None:
        for_codemod(axis, read_catalogue())


def prove_baseline(workspace: Workspace, paths: Collection[str], caps: Caps = NO_CAPS) -> Proved:
    """Prepare the gate, run it on the base commit, and see it fail with `paths` broken. Seconds of the runs made.

    Where no gate is found, the model that was hired writes one, under `caps`.
    """
    found = proving.find_plan(workspace)
    if isinstance(found, str) and workspace.hired:
        from adapters import gate_writing  # noqa: PLC0415 -- the libraries of models, for a model alone

        return gate_writing.written(
            workspace, found, caps, lambda plan: _prove(workspace, plan, paths)
        )
    return _prove(workspace, proving.plan_of(workspace), paths)


def _prove(workspace: Workspace, plan: GatePlan, paths: Collection[str]) -> Proved:
    run = run_folder(workspace)
    events.emit(run, "step", what="preparing the environment")
    prepared = proving.prepare(workspace, plan)
    if isinstance(prepared, SetupFailed):
        raise Refused(f"setup-failed: {prepared.why}")
    events.emit(run, "step", what="running the gate on the base commit")
    write_whole(run / "prepared.json", prepared.to_json())
    baseline, seconds = _baseline(workspace, prepared)
    tests = baseline.run.tests
    events.emit(
        run, "baseline", tests=None if tests is None else len(tests), failed=list(baseline.failed),
        seconds=sum(seconds),
    )  # fmt: skip
    return prepared, baseline, (*seconds, *_see_it_fail(workspace, prepared, baseline, paths))


def proved_by(workspace: Workspace) -> tuple[Prepared, Baseline]:
    """The prepared gate and the baseline of the run, as `set_out` wrote them down."""
    return _proved(run_folder(workspace))


@lru_cache(maxsize=1)
def _proved(run: Path) -> tuple[Prepared, Baseline]:
    prepared = Prepared.from_json((run / "prepared.json").read_text())
    return prepared, Start.from_json((run / "start.json").read_text()).baseline


def _baseline(workspace: Workspace, prepared: Prepared) -> tuple[Baseline, tuple[float, ...]]:
    first, kept = proving.run(workspace, prepared, workspace.base)
    seconds = [] if kept else [first.seconds]
    _refuse_unusable(first)
    if first.status == "passed":
        return baseline_of(first), tuple(seconds)
    again, kept = proving.run(workspace, prepared, workspace.base, nth=2)
    seconds += [] if kept else [again.seconds]
    baseline = baseline_of(first, again)
    if not baseline.run.tests and baseline.run.status != "passed":
        raise Refused(
            f"the gate is red on the base commit and names no tests: `{first.command}` {first.why}. "
            f"Nothing can be verified against it. Mend the base, or give a --verify that passes there.\n{_end(first)}"
        )
    return baseline, tuple(seconds)


def _refuse_unusable(run: GateRun) -> None:
    if run.status == "unavailable":
        raise Refused(
            f"gate unavailable: {run.why or run.command}. Install it, or give --verify or --setup.\n{_end(run)}"
        )
    if run.status == "timeout":
        raise Refused(
            f"the gate did not end in {run.seconds / 60:.1f} minutes on the base commit (`{run.command}`). "
            f"Give more with --gate-minutes, or a quicker --verify."
        )
    if run.tests is not None and not run.tests:
        raise Refused(f"gate cannot fail: `{run.command}` collected no test on the base commit.")


def _end(run: GateRun) -> str:
    return "\n".join(run.tail.splitlines()[-12:])


def _see_it_fail(
    workspace: Workspace, prepared: Prepared, baseline: Baseline, paths: Collection[str]
) -> tuple[float, ...]:
    """Break the files that hold sites on purpose: a gate that stays green there would pass anything."""
    if not paths:
        return ()
    events.emit(
        run_folder(workspace), "step", what="breaking files on purpose, to see the gate fail"
    )
    broken = proving.break_on_purpose(workspace, paths)
    run, kept = proving.run(workspace, prepared, broken)
    if not notices(run, baseline):
        raise Refused(
            f"gate cannot fail: with {len(paths)} source files broken on purpose, {', '.join(prepared.plan.verify)!r} "
            f"stayed green. Give a --verify that tests them, or narrow --paths to what is tested."
        )
    return () if kept else (run.seconds,)


def _start(
    workspace: Workspace,
    axis: Axis,
    surveyed: Survey,
    notes: tuple[str, ...],
    proved: Proved | None,
) -> Start:
    """All that a run sets out with. Without sites there is nothing to prove, and no gate was run."""
    target = workspace.target
    if workspace.sandbox.said:
        notes = (*notes, workspace.sandbox.said)
    told = (one for one in events.read(run_folder(workspace)) if one.get("event") == SHARED)
    notes = (*(str(one["what"]) for one in told), *notes)
    seen = uncommitted(workspace)
    if seen:
        notes = (
            *notes,
            f"{seen} uncommitted files in {target.repo} were not seen: a run starts from a commit.",
        )
    plan = proved[0].plan if proved else _plan_unproved(workspace)
    if plan.source.startswith(WRITTEN):
        notes = (*notes, f"the gate was {plan.source}: {'; '.join(plan.verify)}")
    seconds = proved[2] if proved else ()
    return Start(
        run=workspace.run,
        axis=title(axis),
        target=target.repo,
        base=workspace.base,
        branch=workspace.branch,
        plan=plan,
        baseline=proved[1] if proved else Baseline(run=GateRun(status="passed")),
        survey=surveyed,
        notes=notes,
        gate_runs=len(seconds),
        gate_seconds=sum(seconds),
        sandbox=workspace.sandbox.backend,
        hired=workspace.hired,
    )


def _plan_unproved(workspace: Workspace) -> GatePlan:
    """Of a run that has nothing to do: a model is not asked for it."""
    found = proving.find_plan(workspace)
    if isinstance(found, str) and workspace.hired:
        return GatePlan(verify=())
    return proving.plan_of(workspace)


def written_gate(workspace: Workspace) -> GateScript | None:
    """The script that proves the commits of this run, where a model wrote it."""
    prepared, _ = proved_by(workspace)
    return proving.kept_script(workspace) if prepared.plan.source.startswith(WRITTEN) else None


def current_state(workspace: Workspace, axis_words: str) -> State:
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    return state or State(axis=axis_words, base=workspace.base)
