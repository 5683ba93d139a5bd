"""enumerate_sites: what the axis applies to on a tip; by its own probe, or in parts by a model."""

import time

from prefect import task

from adapters.executors import passes
from adapters.redacting import cleaned, discreet
from domain.axis import Axis, Sentence
from domain.budget import Budget
from domain.order import Enumeration, Look, SweepTerms
from domain.target import Workspace
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def enumerate_sites(
    workspace: Workspace,
    axis: Axis,
    look: Look,
    terms: SweepTerms,
    *,
    budget: Budget,
    began: float,
) -> Enumeration:
    """A part is paid once: kept by its number and the tip. `began`: active seconds when the enumeration began."""
    if isinstance(axis, Sentence):
        from adapters import enumerating  # noqa: PLC0415 -- the libraries of models, for a model alone

        return cleaned(
            enumerating.enumerate_by_model(workspace, axis, look, terms, budget=budget, began=began)
        )
    clock = time.monotonic()
    listing = passes.look(workspace, axis, look.tip)
    return Enumeration(listing=listing, seconds=time.monotonic() - clock)
