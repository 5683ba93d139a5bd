"""A second opinion: a model that reads a commit and says what it thinks, and can change nothing.

For confirming a commit, for looking afresh for sites that remain, and for making a rule of what landed. Each is a conversation of its own, so that
nothing of the work colours it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from adapters import takeover
from adapters.executors.model import Ears, bench
from adapters.models.account import LEDGER, Account
from adapters.models.agent import Agent
from adapters.models.families import connect
from adapters.repository.git import git
from adapters.repository.workspaces import move_agent, run_folder, store
from domain.brief import confirming, rescanning
from domain.environment import Environment
from domain.hired import Hired
from domain.ledger import Caps
from domain.outcome import Outcome
from domain.role import Phase
from domain.target import Workspace


def shown(workspace: Workspace, commit: str, axis: str) -> str:
    """The question about a commit of our store, whole: the axis, the commit's message and its diff."""
    message, diff = (
        git(store(workspace), "show", *how, commit).decode("utf-8", "replace")
        for how in (("-s", "--format=%B"), ("--format=", "--no-ext-diff", "--no-textconv"))
    )
    return confirming(axis, message, diff)


DIGITS = 12
"""Of a digest in the name of a conversation."""


@dataclass(frozen=True)
class Consultant:
    """Who is asked, on whose account, and with which environment."""

    hired: Hired
    caps: Caps
    ears: Ears
    environment: Environment
    number: int = 0
    """Of the pass that the money is counted for."""
    before_usd: float = 0.0
    keys: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def confirm(self, workspace: Workspace, commit: str, axis: str) -> Outcome:
        """Whether a commit of our store holds up. The answer is an `Opinion`.

        Asked again of the same commit in the same run, it is told from the kept conversation.
        """
        return self._consult(workspace, commit, "confirm", shown(workspace, commit, axis))

    def rescan(self, workspace: Workspace, commit: str, axis: str) -> Outcome:
        """Which sites a fresh look at a commit still finds. The answer is a `SiteList`."""
        words = rescanning(axis, workspace.target.paths)
        return self._consult(workspace, commit, "rescan", words)

    def teach(self, workspace: Workspace, commit: str, words: str) -> Outcome:
        """A rule from commits that landed after this one. The answer is a `Rule`."""
        return self._consult(workspace, commit, "teach", words)

    def _consult(self, workspace: Workspace, commit: str, phase: Phase, words: str) -> Outcome:
        """Moves the agent's clone to the commit, where the model reads and runs, and writes nothing."""
        connection = connect(self.hired, self.keys, self.caps)
        move_agent(workspace, commit)
        asked = f"{commit}\0{connection.family}\0{connection.model}\0{words}".encode()
        name = f"{phase}-{sha256(asked).hexdigest()[:DIGITS]}"
        journal = takeover.talk(workspace, name)
        account = Account(run_folder(workspace) / LEDGER, self.caps, before=self.before_usd)
        at_work = bench(workspace, commit, self.ears, environment=self.environment, keys=self.keys)
        with Agent(
            connection,
            at_work,
            account,
            journal,
            number=self.number,
            tell=self.ears.tell,
            sleep=self.ears.wait,
        ) as reader:
            return reader.run(phase, words, name)
