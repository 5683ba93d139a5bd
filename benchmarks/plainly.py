"""A campaign without Prefect: the steps of `flows/campaign.py`, called as plain functions and timed.

`step.fn` is the function that Prefect would wrap, so the work is the same to the letter. Only `land`
and `close` also draw in the UI: of these, what they do to the target is called.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from adapters import ending, events
from adapters.repository import settling
from adapters.repository.settling import Signature
from adapters.repository.workspaces import run_folder
from adapters.shelf import fetch
from cli.asked import new_run
from domain.axis import Axis, title
from domain.batch import Outcome
from domain.budget import Budget
from domain.commit import ChainOnShelf
from domain.journal import Journal
from domain.proof import answered, question
from domain.report import Report
from domain.state import State
from domain.target import Target, Workspace
from tasks.admit import admit
from tasks.agent_pass import agent_pass
from tasks.open_workspace import open_workspace
from tasks.rescan import rescan
from tasks.set_out import set_out
from tasks.verify import verify


@dataclass
class Carried:
    """What a campaign came to, and where its time went."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """By step; those of the gate are within `verify`."""
    calls: int = 0
    """Of steps: as many task runs as Prefect would record."""
    gates: int = 0
    """Gate runs of the passes; the baseline's are not in it."""
    gate_seconds: float = 0.0
    report: Report = field(
        default_factory=lambda: Report(run="", ending="refused", why="", axis="", target="")
    )

    @contextmanager
    def step(self, name: str) -> Generator[None]:
        self.calls += 1
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def spent(self, *steps: str) -> float:
        return sum(self.seconds.get(step, 0.0) for step in steps)

    @property
    def passing(self) -> float:
        """Seconds from the first look of the executor to the last commit landed."""
        return self.spent("agent_pass", "admit", "verify", "land")

    @property
    def proving(self) -> float:
        """Seconds to admit, verify and land what the executor handed over, gates included."""
        return self.spent("admit", "verify", "land")

    @property
    def landing(self) -> float:
        """Seconds beyond executor and gates."""
        return self.proving - self.gate_seconds

    @property
    def whole(self) -> float:
        return sum(self.seconds.values())


def carry(target: Target, axis: Axis, run: str = "") -> Carried:
    """Carry the axis through the target to an ending."""
    done = Carried()
    with done.step("open_workspace"):
        workspace = open_workspace.fn(target, axis, run or new_run())
    with done.step("set_out"):
        journal = Journal.begin(set_out.fn(workspace, axis, False), Budget(), "finding")
    while not journal.ending:
        with done.step("agent_pass"):
            chain = agent_pass.fn(workspace, axis, journal.brief)
        with done.step("admit"):
            batch = admit.fn(workspace, chain, journal.rate, False)
        while batch.probe and not journal.stopped:
            with done.step("verify"):
                proof = verify.fn(workspace, chain, question(batch, journal.flaky))
            batch, journal = answered(batch, proof), journal.count(proof)
            if batch.ripe:
                with done.step("land"):
                    land(workspace, axis, chain, batch.outcome)
        with done.step("land"):
            tip = land(workspace, axis, chain, batch.outcome)
        with done.step("rescan"):
            survey = rescan.fn(workspace, axis, tip, journal.number)
        journal = journal.record(chain, batch, survey)
    with done.step("close"):
        done.report = ending.close(workspace, journal)
    done.gates, done.gate_seconds = journal.gate_runs, journal.gate_seconds
    return done


def land(workspace: Workspace, axis: Axis, chain: ChainOnShelf, outcome: Outcome) -> str:
    """As `tasks/land.py` does it, without the UI."""
    settled = settling.settle(
        workspace,
        fetch(workspace, chain.number),
        outcome,
        Signature(axis=title(axis), executor=workspace.executor),
        State(axis=title(axis), base=workspace.base),
    )
    commits = [{"sha": c.sha, "subject": c.subject, "site": c.site} for c in settled.landed]
    events.emit(run_folder(workspace), "landed", commits=commits)
    return settled.tip
