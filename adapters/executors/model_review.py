"""A review by a model, and the fix after it, in one conversation: the fixer goes on where the reviewer stopped.

Nothing of the review is read again, nor paid again: the provider still holds it.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from adapters import takeover
from adapters.executors.model import Ears, Passed, bench, brought, placed
from adapters.failpoints import reach
from adapters.models.account import LEDGER, Account
from adapters.models.agent import Agent, head
from adapters.models.conversation import Conversation
from adapters.models.families import Connection, connect
from adapters.models.files import Files
from adapters.models.forms import FileRefused
from adapters.repository.workspaces import agent_folder, clone, move_agent, run_folder
from domain.commit import Chain
from domain.environment import Environment
from domain.hired import Hired
from domain.ledger import Caps
from domain.outcome import Outcome
from domain.review_brief import INDEX
from domain.role import Phase
from domain.target import Workspace

MARK = "swathe-review"
"""In the clone's `.git`: names the review whose conversation is about the files there."""


@dataclass(frozen=True)
class Seat:
    """Who reviews and mends, on whose account, and where."""

    workspace: Workspace
    hired: Hired
    tip: str
    content: str
    """Digest of the chunk: a conversation about another one is another one."""
    number: int
    """Of the pass; the conversation is named by it."""
    caps: Caps
    ears: Ears
    environment: Environment
    before_usd: float = 0.0
    keys: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def review(self, words: str, index: str, *, again: int = 1) -> Outcome:
        """Ask for a verdict. `index`: the list of the chunk's files, empty where they stand in `words`."""
        self._stand(index)
        return self._run("review", words, f"review-{self.number}-{again}")

    def fix(self, words: str) -> Passed:
        """Send the reviewer to mend what it found, and bring its commits across, however that ended.

        What a run had made that was killed before it was settled is settled now, and not made again.
        """
        if chain := takeover.made(self.workspace, self.number, self.tip):
            return Passed(chain, self._known(f"fix-{self.number}"))
        began = time.monotonic()
        self._stand()
        outcome = self._run("fix", words, f"fix-{self.number}")
        commits, broken = brought(self.workspace, self.tip)
        seconds = max(0.0, time.monotonic() - began - outcome.waited_seconds)
        chain = Chain(
            number=self.number,
            base=self.tip,
            commits=placed(commits),
            seconds=seconds,
            at=int(time.time()),
            notes=tuple(note for note in (*outcome.notes, broken) if note),
            usd=outcome.usd,
        )
        return Passed(chain, outcome)

    def _run(self, phase: Phase, words: str, key: str) -> Outcome:
        account = Account(
            run_folder(self.workspace) / LEDGER,
            self.caps,
            before=self.before_usd,
            raised=self.ears.raised,
        )
        at_work = bench(
            self.workspace, self.tip, self.ears, environment=self.environment, keys=self.keys
        )
        with Agent(
            self._connection,
            at_work,
            account,
            self._talk,
            number=self.number,
            tell=self.ears.tell,
            sleep=self.ears.wait,
        ) as worker:
            return worker.run(phase, words, key)

    def _known(self, key: str) -> Outcome:
        """How a phase ended that is over, as its conversation has it."""
        if self._talk.exists() and not Conversation.trouble(self._talk, head(self._connection)):
            asks = Conversation.open(self._talk, head(self._connection)).asks
            for outcome in (ask.outcome for ask in asks if ask.key == key):
                if outcome is not None:
                    return outcome
        return Outcome(phase="fix", ended="failed", why="its conversation is gone")

    @cached_property
    def _connection(self) -> Connection:
        return connect(self.hired, self.keys, self.caps)

    @cached_property
    def _talk(self) -> Path:
        """Of this pass; one that a killed run left to us is gone on with."""
        return takeover.talk(self.workspace, f"review-{self.number}")

    def _stand(self, index: str = "") -> None:
        """Put the clone on the tip, unless this very conversation is about the files in it."""
        mark = f"{self._talk.name} {self.tip} {self.content}\n"
        if self._talk.exists():
            usable = not Conversation.trouble(self._talk, head(self._connection))
            if usable and self._marked() == mark:
                takeover.unlock(agent_folder(self.workspace))
                return
            # It speaks of files that are gone with the clone's old state.
            self._talk.rename(self._talk.with_name(f"{self._talk.name}.left-{time.time_ns()}"))
        move_agent(self.workspace, self.tip)
        # Its `.git` was laid anew just now: nobody has planted a link in it.
        folder = clone(self.workspace).git_dir
        (folder / MARK).write_text(mark)
        (folder / Path(INDEX).name).write_text(index, encoding="utf-8", errors="surrogateescape")
        reach("review-stood")

    def _marked(self) -> str:
        try:
            return Files(agent_folder(self.workspace)).read(f".git/{MARK}").text
        except FileRefused:
            return ""
