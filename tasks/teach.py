"""teach: once the model has landed its first sites, a rule is made from them, and proved."""

from prefect import task

from adapters.redacting import cleaned, discreet
from domain.axis import Axis
from domain.survey import Brief
from domain.target import Workspace
from domain.teaching import Lecture
from tasks.journal_policy import KEPT


@task(**KEPT)
@discreet
def teach(workspace: Workspace, axis: Axis, brief: Brief) -> Lecture:
    """Asked once in a run, at the tip that the brief names; what comes of it is in the state."""
    from adapters import teaching  # noqa: PLC0415 -- the libraries of models, for a model alone

    return cleaned(teaching.teach(workspace, axis, brief))
