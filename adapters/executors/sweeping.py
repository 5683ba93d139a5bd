"""A taught rule at work: what it finds, and its pass over the scope. A model made it, so that it may touch no more than one."""

from adapters.executors import passes
from domain.axis import AstGrep
from domain.commit import Chain
from domain.lesson import rule_name
from domain.site import Listing
from domain.state import State
from domain.survey import Brief
from domain.target import Workspace
from domain.value import Refused


def look(workspace: Workspace, state: State, tip: str) -> Listing:
    """The sites that the rule of a campaign finds on the tip; none where it has none."""
    if not (workspace.hired and state.lesson and state.lesson.proven):
        return Listing()
    try:
        return passes.look(workspace, AstGrep(rule=state.lesson.rule), tip)
    except Refused as refused:  # by another ast-grep than the one that it was proved with
        return Listing(notes=(f"the taught rule is not applied: {refused}",))


def sweep(workspace: Workspace, brief: Brief) -> Chain:
    """Let the rule of the brief work through what it finds, at no cost."""
    chain = passes.make(workspace, AstGrep(rule=brief.rule), brief)
    return chain.model_copy(update={"rule": rule_name(brief.rule)})
