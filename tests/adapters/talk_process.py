"""An agent in a process of its own, for tests that kill it: `talk_process.py FOLDER URL FAMILY`."""

import os
import signal
import sys
from pathlib import Path

from talks import QUICK, WORDS

from adapters.models.account import Account
from adapters.models.agent import Agent
from adapters.models.commands import Commands
from adapters.models.desk import Bench
from adapters.models.families import FAMILIES, connect
from adapters.models.files import Files
from domain.hired import Hired
from domain.ledger import Caps
from domain.sandbox import OPEN


def gate(folder: Path) -> str:
    """Die at the first time, in the middle of an answer's calls."""
    mark = folder / "died"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "green"


def main(folder: Path, url: str, family: str) -> None:
    address = url if family == "claude" else f"{url}/v1"
    environment = {FAMILIES[family].key: "k", FAMILIES[family].address: address}
    # The stub kills the process whose id it finds here.
    (folder / "pid").write_text(str(os.getpid()))
    clone = folder / "clone"
    bench = Bench(Files(clone), Commands(clone, OPEN), gate=lambda: gate(folder))
    caps = Caps(max_usd=10)
    account = Account(folder / "ledger.jsonl", caps)
    connection = connect(Hired(family=family), environment, caps)
    with Agent(
        connection, bench, account, folder / "talk.jsonl", number=1, patience=QUICK
    ) as agent:
        print(agent.run("work", WORDS, "pass-1").to_json())  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
