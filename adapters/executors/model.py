"""A pass of a model in the agent's clone: a brief in, commits out.

The model commits with plain git in the `.git` it was given. What crosses back is its commits and nothing else, and
they are as untrusted as any.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from adapters import takeover
from adapters.failpoints import reach
from adapters.models.account import LEDGER, Account
from adapters.models.agent import Agent, head
from adapters.models.commands import Commands
from adapters.models.conversation import Conversation
from adapters.models.desk import Bench
from adapters.models.families import Connection, connect
from adapters.models.files import Files
from adapters.models.forms import FileRefused
from adapters.processes.surroundings import scrubbed_environment
from adapters.repository.chains import read_chain
from adapters.repository.crossing import Broken, cross, cross_theirs
from adapters.repository.git import git
from adapters.repository.workspaces import (
    agent,
    agent_folder,
    clone,
    gate_folder,
    move_agent,
    run_folder,
    store,
)
from domain.brief import PassBrief
from domain.commit import Chain, Commit
from domain.environment import Environment
from domain.hired import Hired
from domain.ledger import Caps
from domain.outcome import Outcome
from domain.recognition import site_key
from domain.redaction import Redactor, secrets_in
from domain.role import COMMITS, Phase
from domain.takeover import Begun
from domain.target import Workspace
from domain.words import counted


def _alone(question: str, assumption: str) -> str:
    return ""


@dataclass(frozen=True)
class Ears:
    """How the engine takes part in a pass. All are asked in the thread that the pass runs in."""

    gate: Callable[[str], str]
    """Given a commit in our store, the tree as it stands: what the gate says of it, in words for the model."""
    ask: Callable[[str, str], str] = _alone
    """A question and an assumption, for the operator; the answer, empty when nobody is there."""
    news: Callable[[], Mapping[str, str]] = dict
    """All that the operator said to the model, by the words' ids: whoever was told is not told again."""
    raised: Callable[[Caps], Caps] = lambda caps: caps
    """Caps as far as the operator raised them by now."""
    hurry: Callable[[], str] = str
    """Why the pass has to end soon: the operator said enough, the time is nearly up. Empty: it need not."""
    tell: Callable[[str], None] = lambda _: None
    """Something that a person watching should see: a wait for a rate limit."""
    wait: Callable[[float], None] = time.sleep
    """Lets seconds go by."""


class Passed(NamedTuple):
    """What a pass came to."""

    chain: Chain
    outcome: Outcome


def make(
    workspace: Workspace,
    tip: str,
    brief: PassBrief,
    hired: Hired,
    *,
    caps: Caps,
    ears: Ears,
    environment: Environment,
    before_usd: float = 0.0,
    keys: Mapping[str, str] = os.environ,
) -> Passed:
    """Let the model work from `tip`, and bring its commits across, however the pass ended.

    `before_usd`: what earlier runs of the campaign spent under the same cap. Called again after a kill, it goes on
    in the clone as it was left, and pays no answered call again. `Refused` before anything is paid.
    """
    began = time.monotonic()
    connection = connect(hired, keys, caps)
    begun = takeover.begin(workspace, brief, tip)
    journal = takeover.fetched(workspace, begun.talk)
    notes = _stand(workspace, begun, journal, connection)
    account = Account(run_folder(workspace) / LEDGER, caps, before=before_usd, raised=ears.raised)
    at_work = bench(workspace, tip, ears, environment=environment, keys=keys)
    with Agent(
        connection, at_work, account, journal, number=brief.number, tell=ears.tell, sleep=ears.wait
    ) as worker:
        if answers := len(worker.conversation.answers):
            ears.tell(f"the pass goes on: {counted(answers, 'answer')} kept, and not paid again")
        outcome = worker.run("work", brief.words, begun.name, heard=brief.heard)
    commits, broken = brought(workspace, tip)
    seconds = max(0.0, time.monotonic() - began - outcome.waited_seconds)
    chain = Chain(
        number=brief.number,
        base=tip,
        commits=commits,
        seconds=seconds,
        at=int(time.time()),
        notes=tuple(note for note in (*notes, *outcome.notes, broken) if note),
    )
    return Passed(chain, outcome)


def bench(
    workspace: Workspace,
    tip: str,
    ears: Ears,
    *,
    environment: Environment,
    keys: Mapping[str, str],
) -> Bench:
    """What a model works with in the agent's clone; the same for every role."""
    folder = agent_folder(workspace)
    commands = Commands(
        folder,
        workspace.sandbox,
        at=str(gate_folder(workspace)),
        readonly=[environment.path] if environment.path else [],
        environment=variables(environment),
    )
    files = Files(folder)

    def objection(phase: Phase) -> str:
        if phase not in COMMITS:
            return ""
        if left := commands.changes():
            return f"this is not committed:\n{left}\nCommit it, or put back exactly these paths."
        if apart := commands.elsewhere():
            return f"only what HEAD holds is taken, and these branches hold more:\n{apart}\nBring over what is to land."
        return ""

    return Bench(
        files=files,
        commands=commands,
        gate=lambda: ears.gate(snapshot(workspace, tip)),
        ask=ears.ask,
        objection=objection,
        news=ears.news,
        hurry=ears.hurry,
        site=lambda: head_of(files),
        redactor=Redactor(secrets=secrets_in(keys)),
    )


def snapshot(workspace: Workspace, tip: str) -> str:
    """A commit of the clone's files as they stand, committed or not, in our store. Ignored files are not in it.

    Made through our own git directory for the checkout: nothing that the model wrote to its `.git` is read.
    """
    place = agent(workspace)
    git(place, "add", "-A")
    tree = git(place, "write-tree").decode().strip()
    made = git(place, "commit-tree", tree, "-p", tip, "-m", "the tree as it is").decode().strip()
    git(place, "update-ref", "--no-deref", "HEAD", made)
    return cross(workspace, tip, made)


def _stand(workspace: Workspace, begun: Begun, journal: Path, connection: Connection) -> list[str]:
    """Put the clone on the tip, unless this very pass was interrupted in it."""
    notes, why = [begun.note], ""
    if journal.exists():
        if not takeover.stands(workspace, begun):
            why = "the clone was moved"
        why = why or Conversation.trouble(journal, head(connection))
        if not why:
            takeover.unlock(agent_folder(workspace))
            return notes
        # Its conversation speaks of files that are gone with the clone's old state.
        aside = journal.with_name(f"{journal.name}.left-{time.time_ns()}")
        journal.rename(aside)
        notes.append(f"an interrupted pass begins anew: {why}; see {aside.name}")
    move_agent(workspace, begun.tip)
    (clone(workspace).git_dir / takeover.MARK).write_text(begun.mark)
    reach("pass-stood")
    return notes


def brought(workspace: Workspace, tip: str) -> tuple[tuple[Commit, ...], str]:
    """The commits of the clone, in our store; or why none could be taken."""
    try:
        head = cross_theirs(workspace, tip)
    except Broken as broken:
        return (), f"nothing could be taken from the clone: {broken}"
    return placed(read_chain(store(workspace), tip, head)), ""


def placed(commits: Sequence[Commit]) -> tuple[Commit, ...]:
    """A model's commit settles the site that it names itself: what it touches first, under its subject."""
    seen, done = Counter[str](), list[Commit]()
    for commit in commits:
        path = commit.paths[0] if commit.paths else ""
        key = site_key("", path, (commit.subject,))
        site = f"{key}#{seen[key]}" if seen[key] else key
        seen[key] += 1
        done.append(commit.model_copy(update={"sites": (site,), "place": f"{path}:1"}))
    return tuple(done)


def variables(environment: Environment) -> dict[str, str]:
    """What the gate's own commands see, so that the model's see the same."""
    if not environment.bin:
        return environment.variables
    path = scrubbed_environment({})["PATH"]
    return {**environment.variables, "PATH": f"{environment.bin}{os.pathsep}{path}"}


def head_of(files: Files) -> str:
    """The commit that the clone stands on, by its own word: it only tells whose money is spent."""
    try:
        head = files.read(".git/HEAD").text.strip()
        return files.read(f".git/{head[5:]}").text.strip() if head.startswith("ref: ") else head
    except FileRefused:
        return ""
