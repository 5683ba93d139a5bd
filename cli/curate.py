"""`swathe curate`: the landed commits, grouped into fewer on a second branch."""

import time
from typing import Annotated

import typer

from cli import ask, checked, terminal
from cli.status import OneAxis
from domain.curation import Grouping
from domain.value import Refused


def curate(
    repo: ask.Repo,
    axis: OneAxis = None,
    by: Annotated[
        Grouping,
        typer.Option(help="What one commit holds: an item of the list, or all of a folder."),
    ] = "directory",
    as_json: ask.Json = False,
) -> None:
    """Group the landed commits into fewer, on the branch `swathe/<axis>-by-<what>`: easier to read, the same tree.

    The commits that were proved stay on `swathe/<axis>`; each group names those that it is made of.
    """
    from adapters.campaigns import workspaces_of
    from adapters.repository.curating import curate as grouped

    repo = checked.repository(repo)
    found = workspaces_of(repo, None if axis is None else checked.words("--axis", axis))
    if len(found) != 1:
        axes = ", ".join(one.axis for one in found)
        raise Refused(
            f"{len(found)} campaigns in {repo!r}. Say which, with --axis: {axes}."
            if found
            else f"no campaign in {repo!r}. `swathe status {repo}` shows those there are."
        )
    made = grouped(found[0], by, int(time.time()))
    if as_json:
        terminal.as_json(made)
        return
    terminal.results().print(
        terminal.said(
            f"{made.made_of} commits of {found[0].branch.removeprefix('refs/heads/')} are {made.commits} on {made.branch}, "
            f"now at {made.tip[:12]}. The tree is the same."
        ),
        soft_wrap=True,
    )
