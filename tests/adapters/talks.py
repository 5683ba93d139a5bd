"""A clone, a scripted provider, and an agent between them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repos import Repo
from stub_provider import Provider
from stub_script import Call, Seen, Turn

from adapters.models.account import Account
from adapters.models.agent import Agent
from adapters.models.commands import Commands
from adapters.models.desk import Bench
from adapters.models.families import Connection, connect
from adapters.models.files import Files
from domain.hired import Hired
from domain.ledger import Caps
from domain.model_faults import Patience
from domain.sandbox import OPEN, Sandbox

QUICK = Patience(first_seconds=0, most_seconds=0)
WORDS = "PHASE: work\n\nAxis: say hello"
FINISH = Turn(calls=(Call("finish_pass", {"axis_complete": True, "note": "all done"}),))


def call(name: str, **arguments: Any) -> Turn:
    return Turn(calls=(Call(name, arguments),))


def bash(command: str) -> Turn:
    return call("bash", command=command)


def says(seen: Seen) -> str:
    return "\n".join(seen.results)


COMMIT = "git commit -qam 'Say hello'"
WORK = [
    Turn("Looking.", (Call("read", {"paths": ["a.py"]}),), thinking="Where is it?"),
    call("edit", path="a.py", old="'bye'", new="'hello'"),
    bash(COMMIT),
    FINISH,
]


@dataclass
class Talk:
    """What a test sets up once, and runs as often as it likes."""

    folder: Path
    provider: Provider
    family: str = "claude"
    caps: Caps = field(default_factory=Caps)
    held: Sandbox = OPEN
    waits: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    price: str = ""
    before: float = 0.0
    patience: Patience = QUICK
    more: dict[str, Any] = field(default_factory=dict)
    """Of the connection."""
    bench: dict[str, Any] = field(default_factory=dict)
    hired: dict[str, Any] = field(default_factory=dict)

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    @property
    def journal(self) -> Path:
        return self.folder / "talk.jsonl"

    def connection(self) -> Connection:
        made = connect(
            Hired(family=self.family, price=self.price, **self.hired),
            self.provider.environment(),
            self.caps,
        )
        return Connection(**{**made.__dict__, **self.more})

    def account(self) -> Account:
        return Account(self.folder / "ledger.jsonl", self.caps, before=self.before)

    def agent(self, **more: Any) -> Agent:
        held = Commands(self.clone, self.held)
        bench = Bench(
            files=Files(self.clone), commands=held, **{"gate": lambda: "green", **self.bench}
        )
        return Agent(
            self.connection(),
            bench,
            self.account(),
            self.journal,
            patience=self.patience,
            tell=self.told.append,
            sleep=self.waits.append,
            **{"number": 1, **more},
        )

    def run(self, phase="work", words=WORDS, key="pass-1", **more: Any):
        with self.agent(**more) as agent:
            return agent.run(phase, words, key)

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.provider.requests]


def laid(folder: Path, files: dict[str, str]) -> Repo:
    """A clone with one commit."""
    clone = Repo(folder / "clone")
    clone.commit(files, "base")
    return clone


def log(clone: Repo) -> list[str]:
    return clone.git("log", "--format=%s").splitlines()
