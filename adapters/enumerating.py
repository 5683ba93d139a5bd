"""Enumerating: what an axis still applies to on a tip. A rule says it at once; a model names it piece by piece."""

import time
from collections.abc import Sequence

from adapters import beginning, events, hiring, seats
from adapters.executors.consult import Consultant
from adapters.repository.opening import touched_by_branch
from adapters.repository.workspaces import read_files, run_folder, tracked
from domain.axis import Sentence, title
from domain.budget import Budget
from domain.lines import decoded
from domain.order import Enumeration, Look, SweepTerms
from domain.recognition import site_key
from domain.role import Finding, SiteList
from domain.scope import select
from domain.site import Listing, Site
from domain.target import Workspace
from domain.words import MINUTE, printable

AT_ONCE = 20
"""Places that a model names in one go: work begins with them while it looks for more."""
MOST_WORDS = 400


def enumerate_by_model(
    workspace: Workspace,
    axis: Sentence,
    look: Look,
    terms: SweepTerms,
    *,
    budget: Budget,
    began: float,
) -> Enumeration:
    """One piece of an enumeration. The first is made by the model that works, later ones by another family if one has a key.

    `began`: active seconds of the run when this enumeration began; it is given `terms.list_minutes`.
    """
    assert workspace.hired  # noqa: S101 -- a sentence needs one
    clock = time.monotonic()
    run = run_folder(workspace)
    prepared, _ = beginning.proved_by(workspace)
    finder = (hiring.other(workspace.hired) if look.number > 1 else None) or workspace.hired
    over = began + MINUTE * terms.list_minutes

    def late() -> bool:
        return events.elapsed(run) >= over

    events.emit(run, "step", what=f"{finder.family} looks for items")
    ears = hiring.reading_ears(
        workspace, lambda: "the time for the list is spent" if late() else ""
    )
    asked = Consultant(finder, budget.caps, ears, prepared.environment, look.number)
    with seats.taken(workspace) as mine:
        outcome = asked.enumerate(mine, look.tip, title(axis), look.part, AT_ONCE)
    seconds = time.monotonic() - clock
    if not isinstance(outcome.answer, SiteList):
        halt = hiring.HALTS.get(outcome.ended, hiring.NO_HALT)
        return Enumeration(
            whole=False, sure=False, halt=halt, why=outcome.why or outcome.ended, seconds=seconds
        )
    named = outcome.answer.sites
    sites = _placed(workspace, look.tip, named)
    more = len(named) >= AT_ONCE and not late()
    return Enumeration(
        listing=Listing(sites=sites, notes=(f"items named by {finder.family}",)),
        tip=look.tip,
        more=more,
        sure=False,
        whole=len(named) < AT_ONCE,
        why="" if more or len(named) < AT_ONCE else "the time for the list is spent",
        dropped=len(named) - len(sites),
        seconds=seconds,
    )


def _placed(workspace: Workspace, tip: str, named: Sequence[Finding]) -> tuple[Site, ...]:
    """What a model named, where that is there: known again by the line it points at, not by the model's words."""
    modes = tracked(workspace, tip)
    inside = select(modes, workspace.target.paths, touched_by_branch(workspace))
    files = read_files(workspace, tip, {one.path for one in named if one.path in inside})
    sites: list[Site] = []
    for one in named:
        if one.path not in files:
            continue
        lines = decoded(files[one.path]).split("\n")
        if one.line > len(lines):
            continue
        sites.append(
            Site(
                key=site_key("", one.path, (lines[one.line - 1].strip(),)),
                path=one.path,
                line=one.line,
                end_line=one.line,
                message=printable(one.what, MOST_WORDS),
            )
        )
    return tuple(sites)
