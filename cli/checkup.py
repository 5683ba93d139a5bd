"""What a repository needs for a run, and whether it is there. Runs the gate; changes nothing."""

import os
from collections.abc import Iterable

from adapters import beginning, proving
from adapters.boxing import boxed
from adapters.home import swathe_home
from adapters.models.families import FAMILIES, with_key
from adapters.processes.sandbox import available
from adapters.processes.shell import tool
from adapters.repository import git as door
from adapters.repository.opening import absolute, open_target, uncommitted
from adapters.repository.workspaces import tracked
from adapters.service import server
from adapters.vendors.agents import installed
from domain.admission import protected
from domain.detection import seen
from domain.doctor import Check, Doctor
from domain.gate import Baseline, GatePlan
from domain.hired import WORKERS
from domain.report import BaselineSummary
from domain.target import Target, Workspace
from domain.value import Refused

MOST_SEEN = 6
TOOLS = ("ruff", "ast-grep", "uv")


def doctor(target: Target) -> Doctor:
    """Detect and run the gate, as a run would, and say what was found."""
    target = target.model_copy(update={"repo": absolute(target.repo)})
    workspace = open_target(target, "doctor", "doctor")
    held = _sandbox(target)
    checks = [*_tools(), *_executors(), held, *_repository(workspace), *_service()]
    if not held.ok:  # nothing may be run
        return Doctor(repo=target.repo, base=workspace.base, checks=tuple(checks))
    workspace = boxed(workspace)
    beginning.attach(workspace)
    gate: GatePlan | None = None
    baseline: Baseline | None = None
    try:
        gate = proving.plan_of(workspace)
        checks.append(
            Check(name="gate", ok=True, found=f"{'; '.join(gate.verify)} ({gate.source})")
        )
        checks += _also_seen(workspace, gate)
        sources = _sources(workspace)
        prepared, baseline, _ = beginning.prove_baseline(workspace, sources)
        checks.append(
            Check(
                name="environment",
                ok=True,
                found="; ".join(prepared.environment.notes) or "prepared",
            )
        )
        checks.append(_baseline(baseline))
        checks.append(
            Check(
                name="negative control",
                ok=True,
                found="with its sources broken on purpose, the gate is red"
                if sources
                else "there is no source file that could be broken on purpose",
            )
        )
    except Refused as refusal:
        what, _, advice = str(refusal).partition(". ")
        checks.append(
            Check(name="gate" if gate is None else "baseline", ok=False, found=what, advice=advice)
        )
    summary = None
    if baseline:
        tests = baseline.run.tests
        summary = BaselineSummary(
            failed=baseline.failed,
            flaky=baseline.flaky,
            tests=None if tests is None else len(tests),
        )
    return Doctor(
        repo=target.repo, base=workspace.base, checks=tuple(checks), gate=gate, baseline=summary
    )


def _also_seen(workspace: Workspace, gate: GatePlan) -> Iterable[Check]:
    """The other ways to test that were found, and what of them cannot be run here."""
    names = frozenset(tracked(workspace, workspace.base))
    for one in seen(names, proving.manifests(workspace, names))[:MOST_SEEN]:
        taken = gate.source.endswith(one.place)
        if taken and not one.left_out:
            continue
        commands = "" if taken else f": {'; '.join(one.commands) or 'nothing that can be run here'}"
        yield Check(
            name="gate" if taken else "also seen",
            ok=True,
            found=f"{one.place}{commands}",
            advice=f"Left out: {'; '.join(one.left_out[:MOST_SEEN])}" if one.left_out else "",
        )


def _baseline(baseline: Baseline) -> Check:
    tests = baseline.run.tests
    count = "names no tests: only its exit code tells" if tests is None else f"{len(tests)} tests"
    if not baseline.failed:
        return Check(
            name="baseline", ok=True, found=f"green, {count}, {baseline.run.seconds:.1f} s"
        )
    return Check(
        name="baseline",
        ok=True,
        found=f"{count}, {len(baseline.failed)} fail already, {baseline.run.seconds:.1f} s",
        advice=f"A run goes on, and allows no failure but these: {', '.join(baseline.failed[:8])}",
    )


def _sources(workspace: Workspace) -> frozenset[str]:
    """Files to break on purpose: sources, not tests nor settings."""
    names = tracked(workspace, workspace.base)
    return frozenset(
        name
        for name in names
        if name.endswith((".py", ".js", ".ts", ".go", ".rs", ".java")) and not protected(name)
    )


def _tools() -> Iterable[Check]:
    yield Check(name="git", ok=True, found=".".join(map(str, door.version())))
    for name in TOOLS:
        try:
            yield Check(name=name, ok=True, found=tool(name))
        except FileNotFoundError as missing:
            yield Check(name=name, ok=False, found="not found", advice=str(missing))


def _executors() -> Iterable[Check]:
    """Who could work here. None is needed: rules are applied without a model."""
    keys = with_key(os.environ)
    for (family, agent), name in WORKERS.items():
        lacking = [] if family in keys else [f"set {FAMILIES[family].key}"]
        if agent == "vendor" and not installed(family):
            lacking.append(f"install the extra: pip install 'swathe[{name}]'")
        found = "can be hired" if not lacking else "not here"
        yield Check(name=f"executor {name}", ok=True, found=found, advice="; ".join(lacking))


def _sandbox(target: Target) -> Check:
    """What works here, whether it is asked for or not; a model's commands need it, the target's own do not."""
    report = available("auto" if target.sandbox == "off" else target.sandbox)
    found, advice = [report.words], [report.advice]
    if report.works:
        advice = [f"It does not hold back: {'; '.join(report.gaps)}."]
    elif report.backend == "bubblewrap":
        weaker = available("landlock")
        found += [
            "with --sandbox auto the target's commands have your rights, and models are refused"
        ]
        advice += [f"What works here: {weaker.words}." if weaker.works else f"And {weaker.words}."]
    if target.sandbox == "off":
        found += ["off: --sandbox auto uses it" if report.works else "off"]
    return Check(
        name="sandbox",
        ok=report.works or (target.sandbox in ("off", "auto") and not target.offline),
        found="; ".join(found),
        advice=" ".join(advice),
    )


def _repository(workspace: Workspace) -> Iterable[Check]:
    yield Check(name="base", ok=True, found=f"{workspace.target.base} is {workspace.base[:12]}")
    seen = uncommitted(workspace)
    if seen:
        yield Check(
            name="uncommitted",
            ok=True,
            found=f"{seen} files",
            advice="A run starts from a commit and does not see them.",
        )


def _service() -> Iterable[Check]:
    found = server.status(swathe_home())
    yield Check(
        name="Prefect server",
        ok=True,
        found=found.url if found.running else "started with the first run",
    )
