"""verify: the gate's verdict on some commits, on a clean checkout in a clone that the agent cannot reach."""

from prefect import task

from adapters import verifying
from adapters.redacting import discreet
from adapters.shelf import fetch
from domain.commit import ChainOnShelf
from domain.proof import Proof, Question
from domain.target import Workspace
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def verify(workspace: Workspace, chain: ChainOnShelf, question: Question) -> Proof:
    """Same commits of the same chain, same answer: kept by all of them."""
    return verifying.verify(workspace, fetch(workspace, chain.number), question)
