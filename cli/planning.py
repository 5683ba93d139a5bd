"""What a run would do, without a run."""

from collections.abc import Sequence

from adapters import beginning, proving
from adapters.boxing import boxed
from adapters.catalogue import read_catalogue
from adapters.repository.opening import open_target
from cli.asked import attached, axis_of, located, new_run
from domain.axis import Commands, for_codemod, slug, title
from domain.choice import Grain
from domain.doctor import Plan, PlannedSite
from domain.gate import GatePlan
from domain.options import RunOptions
from domain.site import Site
from domain.state import State
from domain.survey import Survey, open_sites
from domain.target import Workspace, hire
from domain.value import Refused


def plan(options: RunOptions) -> Plan:
    """What a run would do. Nothing in the target is changed."""
    options = located(options)
    axis = axis_of(options)
    workspace = hire(open_target(options.target, slug(axis), new_run()), options.hired)
    if not options.hired and isinstance(for_codemod(axis, read_catalogue()), Commands):
        workspace = boxed(workspace)  # the others start nothing of the target's
    with attached(workspace):
        state, listing = beginning.preview(workspace, axis)
        sites = open_sites(Survey(state=state or State(axis=title(axis)), listing=listing, tip=""))
        gate, notes = _gate_of(workspace), listing.notes
    if workspace.sandbox.said:
        notes = (*notes, workspace.sandbox.said)
    return Plan(
        axis=title(axis),
        target=options.target.repo,
        base=workspace.base,
        branch=workspace.branch.removeprefix("refs/heads/"),
        sites=tuple(PlannedSite(place=s.place, rule=s.rule, message=s.message) for s in sites),
        commits=_commits(sites, options.grain),
        gate=gate,
        skipped=listing.skipped,
        notes=notes,
    )


def _commits(sites: Sequence[Site], grain: Grain) -> int:
    """How many commits the sites make; findings that share one edit share one commit."""
    match grain:
        case "file":
            return len({site.path for site in sites})
        case "rule":
            return len({site.rule for site in sites})
        case "finding":
            return len({(site.path, site.edits or site.id) for site in sites})


def _gate_of(workspace: Workspace) -> GatePlan | None:
    try:
        return proving.plan_of(workspace)
    except Refused:
        return None
