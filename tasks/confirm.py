"""confirm: a family that did not write the green commits of a pass reads them, before they land."""

from prefect import task

from adapters.redacting import cleaned, discreet
from adapters.shelf import fetch
from domain.axis import Axis
from domain.commit import ChainOnShelf
from domain.reading import Readings
from domain.target import Workspace
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def confirm(
    workspace: Workspace,
    axis: Axis,
    chain: ChainOnShelf,
    commits: tuple[str, ...],
    max_usd: float | None,
) -> Readings:
    """Same commits of the same chain, same words: kept by all of them, and by the tree for other runs."""
    from adapters import confirming  # noqa: PLC0415 -- the libraries of models, for a model alone

    return cleaned(
        confirming.confirm(workspace, axis, fetch(workspace, chain.number), commits, max_usd)
    )
