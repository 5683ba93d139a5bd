"""Proving a commit: the gate's plan, its environment, and a run on a clean checkout; kept by tree."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock

from adapters.failpoints import reach
from adapters.processes import environment, gate
from adapters.repository import keeping, states, workspaces
from adapters.repository.git import tree_of
from adapters.repository.workspaces import (
    gate_folder,
    held_in,
    look_over_gate,
    move_gate,
    read_files,
    run_folder,
    store,
    target_place,
    tracked,
)
from adapters.repository.writing import Draft, write_commits
from adapters.whole import write_whole
from domain.detection import detect, language_of, to_read
from domain.environment import Environment, SetupFailed
from domain.gate import GatePlan, GateRun
from domain.gate_script import GateScript
from domain.target import Workspace
from domain.value import Refused, Value

BROKEN = b"\n)]}' broken on purpose, to see whether the gate notices (\n"
MOST_BROKEN = 200


class Prepared(Value):
    """A gate that can be run: its commands, its environment, and what the set-up left in the checkout."""

    plan: GatePlan
    environment: Environment
    keep: tuple[str, ...] = ()
    digest: str
    """Names commands and environment: a verdict is kept under it and the tree."""


def plan_of(workspace: Workspace) -> GatePlan:
    """The gate, as `find_plan` finds it. None is an error, never a pass."""
    found = find_plan(workspace)
    if isinstance(found, str):
        raise Refused(
            f"no gate: {found} Give the command that proves a commit, as in --verify 'make test'; or let a run with "
            f"--executor claude or gpt find it out: what a model writes is tried, shown and kept."
        )
    return found


def find_plan(workspace: Workspace) -> GatePlan | str:
    """Given by the operator, else detected from the base commit, else written by a model earlier; or why there is none."""
    target = workspace.target
    seconds = 60 * target.gate_minutes
    names = frozenset(tracked(workspace, workspace.base))
    found = detect(names, manifests(workspace, names))
    if target.verify:
        language = "other" if isinstance(found, str) else found.language
        return GatePlan(
            verify=target.verify,
            setup=target.setup,
            language=language,
            source="given by the operator",
            environment=target.environment,
            timeout_seconds=seconds,
        )
    if isinstance(found, str):
        script = kept_script(workspace)
        return scripted(workspace, script) if script else found
    return _as_asked(workspace, found)


def scripted(workspace: Workspace, script: GateScript) -> GatePlan:
    """The plan of a script that a model wrote."""
    language = language_of(frozenset(tracked(workspace, workspace.base)))
    return _as_asked(workspace, script.plan(language))


def _as_asked(workspace: Workspace, plan: GatePlan) -> GatePlan:
    target = workspace.target
    return plan.model_copy(
        update={
            "setup": target.setup or plan.setup,
            "environment": target.environment or plan.environment,
            "timeout_seconds": 60 * target.gate_minutes,
        }
    )


def kept_script(workspace: Workspace) -> GateScript | None:
    """The gate script of this target: kept in our folder, and in the state for another machine."""
    path = script_path(workspace)
    if path.exists():
        script, where = GateScript.from_json(path.read_text()), str(path)
    else:
        state, _ = states.load(target_place(workspace), workspace.state_ref)
        script, where = (state.gate if state else None), workspace.state_ref
    if script and not script.sound:
        raise Refused(
            f"the gate script in {where} is not the one that {script.by} wrote: its commands are not those of digest "
            f"{script.digest}. Remove it, or give the commands yourself: --verify."
        )
    return script


def keep_script(workspace: Workspace, script: GateScript) -> None:
    write_whole(script_path(workspace), script.to_json(indent=1))


def script_path(workspace: Workspace) -> Path:
    return Path(workspace.home) / "gate-script.json"


def manifests(workspace: Workspace, names: Iterable[str]) -> Mapping[str, bytes]:
    """Dependency manifests, task files and CI files of the base commit."""
    return read_files(workspace, workspace.base, to_read(names))


def prepare(workspace: Workspace, plan: GatePlan) -> Prepared | SetupFailed:
    """Put the gate's checkout on the base commit and prepare the environment there, or find it prepared."""
    home = Path(workspace.home)
    kept = _kept_files(workspace)
    _move(workspace, workspace.base, kept)
    made = environment.prepare(
        plan,
        gate_folder(workspace),
        home / "envs",
        manifests(workspace, tracked(workspace, workspace.base)),
        run_folder(workspace) / "setup.log",
        held=workspace.sandbox,
    )
    if isinstance(made, SetupFailed):
        return made
    keep = workspaces.strangers(workspace)
    keeping.save(workspace, keep - _sealed(workspace, made, keep))
    write_whole(home / "gate.keep", b"\0".join(os.fsencode(path) for path in sorted(keep)))
    digest = hashlib.sha256(
        "\0".join([*plan.verify, made.digest, workspace.sandbox.backend]).encode()
    ).hexdigest()[:16]
    return Prepared(plan=plan, environment=made, keep=tuple(sorted(keep)), digest=digest)


def _kept_files(workspace: Workspace) -> frozenset[str]:
    """What the last set-up made inside the checkout (an egg-info, a compiled extension)."""
    path = Path(workspace.home) / "gate.keep"
    if not path.exists():
        return frozenset()
    return frozenset(os.fsdecode(name) for name in path.read_bytes().split(b"\0") if name)


def _sealed(workspace: Workspace, made: Environment, keep: frozenset[str]) -> frozenset[str]:
    """Those of the kept files that a gate cannot write to: `node_modules`, which may be large, under bubblewrap."""
    folder, tools = gate_folder(workspace), Path(made.bin or "/").parent
    if workspace.sandbox.backend != "bubblewrap" or not tools.is_relative_to(folder):
        return frozenset()
    return frozenset(path for path in keep if (folder / path).is_relative_to(tools))


def _move(workspace: Workspace, commit: str, keep: frozenset[str]) -> None:
    """Put the checkout on `commit`, and what the set-up left there back to what it was."""
    move_gate(workspace, commit, keep=keep)
    if keep:
        keeping.restore(workspace, keep - held_in(workspace, commit, keep))


def run(
    workspace: Workspace,
    prepared: Prepared,
    commit: str,
    *,
    nth: int = 1,
    expect_reports: bool = False,
    fresh: bool = False,
) -> tuple[GateRun, bool]:
    """Run the gate on a clean checkout of `commit`; and whether the answer was kept from earlier.

    `nth` asks for the first, second … answer on the same tree: a red one is asked for twice.
    A gate that was killed is run again once: that somebody ended it, or the kernel, says nothing of the commit.
    `fresh` wants no kept answer.
    """
    with _one_at_a_time:
        if not fresh and (before := kept_run(workspace, prepared, commit, nth)):
            return before, True
        done = _run_on(workspace, prepared, commit, expect_reports=expect_reports)
        if done.killed:
            done = _run_on(workspace, prepared, commit, expect_reports=expect_reports)
        reach("gate-answered")
        if done.answered:
            _keep(_kept_path(workspace, prepared, commit, nth), done)
        return done, False


_one_at_a_time = Lock()
"""There is one checkout for the gate. Models that work side by side ask for it, too."""


def _run_on(
    workspace: Workspace, prepared: Prepared, commit: str, *, expect_reports: bool
) -> GateRun:
    keep = frozenset(prepared.keep)
    _move(workspace, commit, keep)
    number = sum(1 for _ in run_folder(workspace).glob("gate-*.log")) + 1
    reach("gate-starting")
    done = gate.run_gate(
        prepared.plan,
        prepared.environment,
        gate_folder(workspace),
        Path(workspace.home) / "scratch",
        run_folder(workspace) / f"gate-{number}.log",
        expect_reports=expect_reports,
        held=workspace.sandbox,
    )
    look_over_gate(workspace, commit, keep)
    return done


def kept_run(workspace: Workspace, prepared: Prepared, commit: str, nth: int) -> GateRun | None:
    """The `nth` answer that was given on the commit's tree earlier, by this run or another."""
    path = _kept_path(workspace, prepared, commit, nth)
    return GateRun.from_json(path.read_text()) if path.exists() else None


def _kept_path(workspace: Workspace, prepared: Prepared, commit: str, nth: int) -> Path:
    tree = tree_of(store(workspace), commit)
    return Path(workspace.home) / "verdicts" / f"{tree}-{prepared.digest}-{nth}.json"


def _keep(path: Path, done: GateRun) -> None:
    path.parent.mkdir(exist_ok=True)
    write_whole(path, done.to_json())
    reach("verdict-kept")


def break_on_purpose(workspace: Workspace, paths: Iterable[str]) -> str:
    """A commit on the base in which every one of `paths` is nonsense. It never leaves our store."""
    modes = tracked(workspace, workspace.base)
    chosen = sorted(set(paths) & modes.keys())[:MOST_BROKEN]
    contents = read_files(workspace, workspace.base, chosen)
    entries = {path: BROKEN + content for path, content in contents.items()}
    draft = Draft("broken on purpose\n", entries, workspace.base, modes=modes)
    return write_commits(store(workspace), [draft], 0)[0]
