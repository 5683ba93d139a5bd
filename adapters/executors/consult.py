"""A second opinion: a model that reads a commit and says what it thinks, and can change nothing.

For confirming a commit, for looking afresh for sites that remain, for making a rule of what landed, and for finding a gate. Each is a conversation of its own, so that
nothing of the work colours it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from adapters import takeover
from adapters.executors.model import Ears, bench
from adapters.models.account import LEDGER, Account
from adapters.models.agent import Agent
from adapters.models.families import connect
from adapters.repository.git import git
from adapters.repository.workspaces import move_agent, run_folder, store
from adapters.whole import write_whole
from domain.brief import confirming, enumerating, rescanning
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

    def enumerate(
        self, workspace: Workspace, commit: str, axis: str, part: int, most: int
    ) -> Outcome:
        """The next sites of a commit, `most` of them at the most. The answer is a `SiteList`.

        All parts are one conversation, so that it knows what it has named.
        """
        words = enumerating(axis, workspace.target.paths, part, most)
        name = self._name("rescan", commit, f"{axis}\0{most}\0{self.number}")
        return self._consult(workspace, commit, "rescan", words, name=name, key=f"{name}-{part}")

    def once(self, workspace: Workspace, commit: str, phase: Phase, words: str) -> Outcome:
        """Asked of a commit by whatever run: what was answered is kept by the question, and paid once."""
        question = f"{self.hired.to_json()}\0{phase}\0{commit}\0{words}".encode()
        name = f"{phase}-{sha256(question).hexdigest()[:DIGITS]}"
        path = Path(workspace.home) / "answers" / f"{name}.json"
        if path.exists():
            return Outcome.from_json(path.read_text())
        outcome = self._consult(workspace, commit, phase, words)
        if outcome.answer is not None:
            path.parent.mkdir(exist_ok=True)
            write_whole(path, outcome.to_json())
        return outcome

    def forget(self, workspace: Workspace, phase: Phase) -> None:
        """Answers that came to nothing: the next run asks anew."""
        for path in (Path(workspace.home) / "answers").glob(f"{phase}-*.json"):
            path.unlink()

    def _name(self, phase: Phase, commit: str, words: str) -> str:
        connection = connect(self.hired, self.keys, self.caps)
        asked = f"{commit}\0{connection.family}\0{connection.model}\0{words}".encode()
        return f"{phase}-{sha256(asked).hexdigest()[:DIGITS]}"

    def _consult(
        self,
        workspace: Workspace,
        commit: str,
        phase: Phase,
        words: str,
        *,
        name: str = "",
        key: str = "",
    ) -> Outcome:
        """Moves the agent's clone to the commit, where the model reads and runs, and writes nothing.

        `name` is of the conversation, `key` of what is asked in it; without them both are of the question.
        """
        connection = connect(self.hired, self.keys, self.caps)
        move_agent(workspace, commit)
        name = name or self._name(phase, commit, words)
        journal = takeover.talk(workspace, name)
        account = Account(
            run_folder(workspace) / LEDGER,
            self.caps,
            before=self.before_usd,
            raised=self.ears.raised,
        )
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
            return reader.run(phase, words, key or name)
