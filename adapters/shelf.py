"""The shelf: chains too large to pass between steps by value lie in the run's folder, by pass."""

from pathlib import Path

from adapters.failpoints import reach
from adapters.redacting import cleaned
from adapters.repository.workspaces import run_folder
from adapters.whole import write_whole
from domain.commit import Chain, ChainOnShelf
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
        seconds=chain.seconds,
        notes=chain.notes,
        claimed=chain.claimed,
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


def _path(workspace: Workspace, number: int) -> Path:
    return run_folder(workspace) / _name(number)


def _name(number: int) -> str:
    return f"pass-{number}.json"
