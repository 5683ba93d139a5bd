"""The shelf: chains too large to pass between steps by value lie in the run's folder, by pass."""

from collections.abc import Iterable
from pathlib import Path

from adapters.failpoints import reach
from adapters.redacting import cleaned
from adapters.repository.workspaces import run_folder
from adapters.whole import write_whole
from domain.commit import Chain, ChainOnShelf
from domain.order import Made, Order
from domain.target import Workspace

_read: tuple[Path, Chain] | None = None
"""The last one, which is asked for again and again."""


def put(workspace: Workspace, chain: Chain) -> ChainOnShelf:
    global _read  # noqa: PLW0603 -- replaced as one, since jobs are threads
    path = _path(workspace, chain.number)
    write_whole(path, chain.to_json())
    reach("shelved")
    _read = (path, chain)
    head = chain.commits[-1].sha if chain.commits else chain.base
    told = ChainOnShelf(
        number=chain.number,
        base=chain.base,
        head=head,
        count=len(chain.commits),
        queued=chain.queued,
        seconds=chain.seconds,
        notes=chain.notes,
        claimed=chain.claimed,
        question=chain.question,
        usd=chain.usd,
        rule=chain.rule,
        halt=chain.halt,
        why=chain.why,
    )
    return cleaned(told)


def left(folder: Path, number: int) -> Chain | None:
    """What lies in the folder of a run, this one or another, for a pass."""
    path = folder / _name(number)
    return Chain.from_json(path.read_text()) if path.exists() else None


def fetch(workspace: Workspace, number: int) -> Chain:
    global _read  # noqa: PLW0603
    path, known = _path(workspace, number), _read
    if known is None or known[0] != path:
        known = (path, Chain.from_json(path.read_text()))
        _read = known
    return known[1]


def put_made(workspace: Workspace, made: Made, chain: Chain) -> None:
    """What an order of a sweep came to: its commits, and then that it is made."""
    run = run_folder(workspace)
    name, commits = _made(made.order)
    write_whole(run / commits, chain.to_json())
    write_whole(run / name, made.to_json())
    reach("made-shelved")


def left_made(workspace: Workspace, order: Order, killed: Iterable[str]) -> Made | None:
    """What this run, or a killed one that it took over from, had made of the very same order."""
    for run in (workspace.run, *killed):
        found = _made_in(Path(workspace.home) / "runs" / run, order)
        if found and not found[0].halt:
            put_made(workspace, *found)
            return found[0]
    return None


def _made_in(folder: Path, order: Order) -> tuple[Made, Chain] | None:
    name, commits = _made(order)
    if not (folder / name).exists():
        return None
    made = Made.from_json((folder / name).read_text())
    chain = Chain.from_json((folder / commits).read_text())
    return (made, chain) if made.order == order else None


def made_by(workspace: Workspace, order: Order) -> Chain:
    """The commits of an order that was made."""
    return Chain.from_json((run_folder(workspace) / _made(order)[1]).read_text())


def _made(order: Order) -> tuple[str, str]:
    return f"item-{order.number}.json", f"item-{order.number}.chain.json"


def _path(workspace: Workspace, number: int) -> Path:
    return run_folder(workspace) / _name(number)


def _name(number: int) -> str:
    return f"pass-{number}.json"
