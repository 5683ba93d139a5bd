"""A pass of a vendor's own agent in the agent's clone: a brief in, commits out.

As with our own agent, nothing that it says decides anything: not its exit code, not its success. Its commits are as
untrusted as any. A pass that was killed begins anew; what it had spent stays counted.
"""

import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from adapters import takeover
from adapters.executors.model import Ears, Passed, brought, head_of, variables
from adapters.models.account import LEDGER, Account
from adapters.models.commands import NAMED
from adapters.models.families import connect
from adapters.models.files import Files
from adapters.processes import sandbox
from adapters.processes.finished import Finished
from adapters.processes.surroundings import scrubbed_environment
from adapters.processes.temporary import temporary_folder
from adapters.processes.toolchains import toolchains
from adapters.repository.workspaces import agent_folder, gate_folder, move_agent, run_folder
from adapters.vendors import inside
from adapters.vendors.agents import Installed, Job, contract, require, schema
from adapters.vendors.events import Heard
from adapters.vendors.gateway import Gateway
from adapters.vendors.till import Till
from domain.brief import PassBrief
from domain.commit import Chain
from domain.environment import Environment
from domain.hired import Hired
from domain.ledger import Caps
from domain.outcome import Outcome
from domain.prices import Tokens
from domain.redaction import Redactor, secrets_in
from domain.sandbox import Mount, Profile
from domain.sandbox import agent as agent_profile
from domain.target import Workspace
from domain.words import sendable

PASS_SECONDS = 6 * 60 * 60.0
KEPT_BYTES = 4_000_000


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
    """Let the agent work from `tip`, and bring its commits across, however the pass ended.

    `Refused` before anything is paid.
    """
    began = time.monotonic()
    connection = connect(hired, keys, caps)
    program = require(hired)
    begun = takeover.begin(workspace, brief, tip)
    move_agent(workspace, tip)
    files = Files(agent_folder(workspace))
    till = Till(
        connection=connection,
        account=Account(
            run_folder(workspace) / LEDGER, caps, before=before_usd, raised=ears.raised
        ),
        name=begun.talk.removesuffix(".jsonl"),
        key=begun.name,
        number=brief.number,
        site=lambda: head_of(files),
        hurry=ears.hurry,
        tell=ears.tell,
    )
    token = secrets.token_urlsafe(32)
    redactor = Redactor(secrets=(*secrets_in(keys), token))
    with temporary_folder() as folder:
        shared = Path(folder)
        with Gateway(connection, till, redactor, shared, token):
            job = Job(
                program=str(program.program),
                model=connection.model,
                effort=connection.effort,
                token=token,
                contract=contract(),
                schema=schema(),
                folder=str(gate_folder(workspace)),
            )
            (shared / "schema.json").write_text(json.dumps(job.schema))
            done = _run(workspace, program, job, shared, environment, words=brief.words)
    said = run_folder(workspace) / f"{hired.executor}-{workspace.run}-pass-{brief.number}.jsonl"
    _keep(said, redactor.clean(done.output))
    outcome = _outcome(till, program.vendor.heard(done.output), done)
    commits, broken = brought(workspace, tip)
    chain = Chain(
        number=brief.number,
        base=tip,
        commits=commits,
        seconds=max(0.0, time.monotonic() - began - outcome.waited_seconds),
        at=int(time.time()),
        notes=tuple(note for note in (_anew(begun.note), *outcome.notes, broken) if note),
    )
    return Passed(chain, outcome)


def _run(
    workspace: Workspace,
    program: Installed,
    job: Job,
    shared: Path,
    environment: Environment,
    *,
    words: str,
) -> Finished:
    """The agent in its sandbox: without a network, but for the way to the gateway."""
    python = str(Path(sys.executable).resolve())
    given = {**NAMED, **variables(environment), **program.vendor.environment(job)}
    return sandbox.run(
        [python, "-I", "-S", "-B", inside.__file__, *program.vendor.command(job)],
        profile=_profile(workspace, program, python, shared, environment),
        backend=workspace.sandbox.backend,
        cwd=agent_folder(workspace),
        env=scrubbed_environment(given),
        timeout_seconds=PASS_SECONDS,
        stdin=sendable(words).encode(),
        keep_bytes=KEPT_BYTES,
    )


def _profile(
    workspace: Workspace, program: Installed, python: str, shared: Path, environment: Environment
) -> Profile:
    """What our own agent's commands see, and the program with what it runs on."""
    needed = (
        *workspace.sandbox.readonly,
        *((environment.path,) if environment.path else ()),
        str(program.folder),
        inside.__file__,
        *map(str, toolchains({"PATH": str(Path(python).parent)})),
    )
    clone = agent_profile(
        str(agent_folder(workspace)), at=str(gate_folder(workspace)), readonly=needed
    )
    way_out = Mount(path=str(shared), at=inside.PLACE)
    return clone.model_copy(update={"mounts": (*clone.mounts, way_out)})


def _outcome(till: Till, heard: Heard, done: Finished) -> Outcome:
    """How the pass ended: by our own till first, and by the agent's word only where it can do no harm."""
    ledger = till.account.ledger
    mine = [
        account for call, account in ledger.accounts.items() if call.startswith(f"{till.name}:")
    ]
    report = heard.report if done.ok and not till.over else None
    if till.over:
        ended, why = till.over.ended, till.over.why
    elif report:
        ended, why = "answered", ""
    else:
        ended = "silent" if done.ok else "failed"
        why = heard.trouble or f"the agent {done.how}"
        if till.last:
            ended, why = "paused", f"{why}; the provider said last: {till.last.said}"
    return Outcome(
        phase="work",
        ended=ended,
        why=why,
        answer=report,
        back_seconds=till.over.seconds if till.over else 0.0,
        usd=sum(account.charged for account in mine),
        tokens=sum((account.tokens for account in mine), Tokens()),
        calls=len(mine),
        lost=sum(account.state == "lost" for account in mine),
        steps=sum(account.state == "settled" for account in mine),
        waited_seconds=till.waited,
        notes=() if till.connection.price else (_unpriced(till.connection.model),),
    )


def _anew(note: str) -> str:
    return f"{note}; a vendor's agent begins it anew" if note else ""


def _unpriced(model: str) -> str:
    return f"what {model} costs is not known, and not counted: --price says it"


def _keep(path: Path, said: str) -> None:
    """What the agent said, beside the conversations of our own."""
    with path.open("a") as file:
        file.write(said)
