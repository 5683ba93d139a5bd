"""queue_up: what several jobs made, as one chain on the tip. The one queue of a target, for one job and for many."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters import worklists
from adapters.redacting import discreet
from domain.commit import ChainOnShelf
from domain.order import Made
from domain.target import Workspace


@task(cache_policy=NO_CACHE)
@discreet
def queue_up(workspace: Workspace, made: tuple[Made, ...], tip: str, number: int) -> ChainOnShelf:
    """In the order of the work-list. Nothing is written but the chain's own list."""
    return worklists.queue_up(workspace, made, tip, number)
