"""What a person sees of a run in the Prefect UI: progress, a table of commits, the closing report.

Artifacts are comfort: when the server does not take one, the run goes on.
"""

import re
import time
from collections.abc import Callable, Sequence
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from domain.approval import NAMED
from domain.report import Landed, Parked, Report
from domain.site import Listing
from domain.summary import broken_tests, markdown, verbatim
from domain.target import Workspace
from domain.words import counted
from domain.worklist import Worklist

_progress: dict[str, UUID] = {}
_shown: dict[str, float] = {}
"""By run, when its progress was shown last."""
MOST_ROWS = 1000


def key_of(kind: str, workspace: Workspace) -> str:
    """An artifact's key: lower-case letters, digits and dashes; one series per campaign."""
    return re.sub(r"[^a-z0-9]+", "-", f"{kind} {workspace.axis}".lower()).strip("-")


def show_progress(
    workspace: Workspace, decided: int, of: int, besides: str = "", *, what: str = "commit"
) -> None:
    """How many of the pass' commits, or of a list's items, are decided. No more than once a second, but for the last.

    `besides`: what else a person should know who looks there.
    """
    now = time.monotonic()
    if decided < of and now - _shown.get(workspace.run, -1.0) < 1.0:
        return
    _shown[workspace.run] = now
    percent = 100.0 * decided / of if of else 100.0
    said = f"{counted(decided, what)} of {of} decided on {workspace.branch.removeprefix('refs/heads/')}. {besides}".strip()

    def show() -> None:
        if workspace.run in _progress:
            update_progress_artifact(_progress[workspace.run], progress=percent, description=said)
            return
        made = create_progress_artifact(
            percent, key=key_of("progress", workspace), description=said
        )
        _progress[workspace.run] = made  # pyright: ignore[reportArgumentType] -- a UUID in a sync flow

    _try(show)


def show_commits(workspace: Workspace, landed: Sequence[Landed], parked: Sequence[Parked]) -> None:
    """What landed and what is parked, with why."""
    table = [
        {
            "what": "landed",
            "site": verbatim(c.site),
            "gate": c.verified,
            "commit": c.sha[:12],
            "subject": verbatim(c.subject),
        }
        for c in landed[:MOST_ROWS]
    ]
    table += [
        {
            "what": "parked",
            "site": verbatim(p.site),
            "gate": verbatim(f"{p.reason}: {broken_tests(p, most=1)}".rstrip(": ")),
            "commit": p.sha[:12],
            "subject": verbatim(p.subject),
        }
        for p in parked[:MOST_ROWS]
    ]
    said = f"{counted(len(landed), 'commit')} landed, {len(parked)} parked."
    _try(lambda: create_table_artifact(table, key=key_of("commits", workspace), description=said))


def show_sites(workspace: Workspace, listing: Listing) -> None:
    """What is to be approved."""
    table = [
        {
            "id": site.id[:NAMED] if "#" not in site.id else site.id,
            "site": verbatim(site.place),
            "rule": verbatim(site.rule),
            "what": verbatim(site.message),
        }
        for site in listing.sites[:MOST_ROWS]
    ]
    more = len(listing.sites) - len(table)
    said = f"{counted(len(listing.sites), 'site')} to approve{f'; {more:,} are not shown' if more else ''}."
    _try(lambda: create_table_artifact(table, key=key_of("sites", workspace), description=said))


def show_list(workspace: Workspace, worklist: Worklist) -> None:
    """The work-list, the next item first; those that have ended come last."""
    ended = [item for item in worklist.items if not item.open]
    table = [
        {
            "id": item.id,
            "place": verbatim(item.place),
            "what": verbatim(item.title),
            "ended": verbatim(f"{item.ended}: {item.why}".strip(": ")),
        }
        for item in (*worklist.open, *ended)[:MOST_ROWS]
    ]
    said = f"{counted(len(worklist.open), 'item')} open, {len(ended)} ended."
    _try(lambda: create_table_artifact(table, key=key_of("list", workspace), description=said))


def show_report(workspace: Workspace, report: Report) -> None:
    """The closing report."""
    text = markdown(report)
    _try(
        lambda: create_markdown_artifact(
            text, key=key_of("report", workspace), description=report.why
        )
    )


def address() -> str:
    """Where this run is to be seen; empty when no UI is known."""
    return str(flow_run.ui_url or "")


def _try(show: Callable[[], object]) -> None:
    try:
        show()
    except Exception as trouble:  # noqa: BLE001 -- whatever the server says, the work goes on
        get_run_logger().warning("The UI was not told: %s", trouble)
