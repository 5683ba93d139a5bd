"""Gate writing: where no test command is found, the model that was hired finds one, and we own what it wrote.

It is judged before it is run, run on the base commit, and has to notice what is broken on purpose. Nobody but us can
change it from then on: it lies in our folder, under its digest, and is part of the state.
"""

import os
from collections.abc import Callable
from typing import TypeVar

from adapters import events, proving
from adapters.executors.consult import Consultant
from adapters.executors.model import Ears
from adapters.hiring import waiting
from adapters.models.families import connect
from adapters.repository.workspaces import run_folder, tracked
from domain.brief import gating, refused_gate
from domain.detection import language_of
from domain.environment import Environment, SetupFailed
from domain.gate import GatePlan
from domain.gate_script import GateScript, unfit_script
from domain.ledger import Caps
from domain.role import Commands
from domain.target import Workspace
from domain.value import Refused

MOST_TRIES = 3

Proved = TypeVar("Proved")


def written(
    workspace: Workspace, none: str, caps: Caps, prove: Callable[[GatePlan], Proved]
) -> Proved:
    """What `prove` says of the first script that holds; `Refused`, with what to do, when none does.

    `none`: why no gate was found.
    """
    hired = workspace.hired
    assert hired  # noqa: S101 -- the caller asked
    run = run_folder(workspace)
    by = connect(hired, os.environ, caps).model
    asked = Consultant(hired, caps, _ears(workspace), _environment(workspace))
    words, why = gating(none), ""
    for _ in range(MOST_TRIES):
        events.emit(run, "step", what=f"no test command was found: {by} looks for one")
        outcome = asked.once(workspace, workspace.base, "gate", words)
        if not isinstance(outcome.answer, Commands):
            raise Refused(_none(f"{by} gave none: {outcome.ended}. {outcome.why}"))
        script = GateScript.of(outcome.answer.commands, by, outcome.answer.note)
        why = unfit_script(script.commands)
        if not why:
            events.emit(run, "step", what=f"{by} says: {'; '.join(script.commands)}")
            try:
                proved = prove(proving.scripted(workspace, script))
            except Refused as refused:
                why = str(refused)
            else:
                proving.keep_script(workspace, script)
                return proved
        words = refused_gate(gating(none), script.commands, why)
    asked.forget(workspace, "gate")
    raise Refused(_none(f"{MOST_TRIES} scripts of {by} did not hold; the last: {why}"))


def _none(why: str) -> str:
    return f"no gate: no test command was found, and {why.strip()} Give the command that proves a commit, as in --verify 'make test'."


def _environment(workspace: Workspace) -> Environment:
    """What the gate of such a repository would run in, but for what its commands need by name."""
    target = workspace.target
    names = frozenset(tracked(workspace, workspace.base))
    plan = GatePlan(
        verify=(),
        setup=target.setup,
        language=language_of(names),
        environment=target.environment,
        timeout_seconds=60 * target.gate_minutes,
    )
    events.emit(run_folder(workspace), "step", what="preparing the environment")
    prepared = proving.prepare(workspace, plan)
    if isinstance(prepared, SetupFailed):
        raise Refused(f"setup-failed: {prepared.why}")
    return prepared.environment


def _ears(workspace: Workspace) -> Ears:
    run = run_folder(workspace)
    return Ears(
        gate=lambda _: "There is no gate yet: it is what you are to find.",
        tell=lambda words: events.emit(run, "step", what=words),
        wait=waiting(run),
    )
