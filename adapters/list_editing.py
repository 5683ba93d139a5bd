"""The work-list of a sweep, as a person looks at it and changes it. A run that is on sees it at its next step."""

import os

from adapters.campaigns import workspaces_of
from adapters.catalogue import read_catalogue
from adapters.repository import states, workspaces
from adapters.repository.git import git, object_id
from adapters.repository.settling import save
from adapters.repository.workspaces import target_place
from domain.lines import decoded
from domain.list_change import ListChange
from domain.recognition import site_key
from domain.state import State
from domain.target import Workspace
from domain.value import Refused
from domain.worklist import Found, Span, Worklist

RULES = ("ruff", "ast-grep", "cmd")
"""How the words of an axis begin that is a rule."""


def worklists(repo: str, axis: str | None) -> list[tuple[Workspace, State, Worklist]]:
    """Of each axis that has a list, or of one."""
    found: list[tuple[Workspace, State, Worklist]] = []
    for workspace in workspaces_of(repo, axis):
        state, _ = states.load(target_place(workspace), workspace.state_ref)
        if state and state.worklist:
            found.append((workspace, state, state.worklist))
    return found


def only(repo: str, axis: str | None) -> tuple[Workspace, State, Worklist]:
    """The one list that is meant."""
    found = worklists(repo, axis)
    if len(found) == 1:
        return found[0]
    if not found:
        named = f" for {axis!r}" if axis else ""
        raise Refused(
            f"no work-list{named} in {repo!r}. `swathe sweep {repo} --axis AXIS` makes one."
        )
    axes = ", ".join(state.axis for _, state, _ in found)
    raise Refused(f"{len(found)} axes have a work-list. Say which, with --axis: {axes}.")


def edit(repo: str, axis: str | None, wanted: ListChange) -> None:
    """Change the list, whole or not at all."""
    if wanted.change.strip() and not wanted.add:
        raise Refused(
            "what is to be done was said, and of no place: add one, as PATH:LINE (--add)."
        )
    workspace, state, worklist = only(repo, axis)
    if wanted.add:
        items = [_found(workspace, state, place, wanted.change) for place in wanted.add]
        worklist, _ = worklist.merge(items, whole=False)
    for words in wanted.strike:
        worklist = worklist.strike(words)
    for words in reversed(wanted.first):
        worklist = worklist.move(words, to_front=True)
    for words in wanted.last:
        worklist = worklist.move(words, to_front=False)
    if not workspaces.store(workspace).git_dir.exists():
        workspaces.prepare(workspace)  # the list came from another machine
    save(workspace, state.model_copy(update={"worklist": worklist}), "the operator's list", 0)


def _found(workspace: Workspace, state: State, place: str, change: str) -> Found:
    path, _, number = place.rpartition(":")
    if not path or not number.isdigit() or not int(number):
        raise Refused(f"--add {place!r}: a place is PATH:LINE, as in src/a.py:12.")
    if not _is_sentence(state.axis):
        raise Refused(
            f"--add {place}: the rule of {state.axis!r} finds its own sites, and makes no others."
        )
    if not change.strip():
        raise Refused(f"--add {place}: say what is to be done there, with --change.")
    tip = object_id(target_place(workspace), workspace.branch) or workspace.base
    listed = git(target_place(workspace), "ls-tree", "-z", "--full-tree", tip, "--", path)
    if not listed.startswith((b"100644 ", b"100755 ")):
        raise Refused(f"--add {place}: there is no such file in {tip[:12]}.")
    blob = listed.split(b"\t")[0].split(b" ")[2].decode()
    lines = decoded(git(target_place(workspace), "cat-file", "blob", blob)).split("\n")
    if int(number) > len(lines):
        raise Refused(f"--add {place}: {path} has {len(lines)} lines.")
    key = site_key("", os.fsdecode(os.fsencode(path)), (lines[int(number) - 1].strip(),))
    span = Span(path=path, line=int(number), end_line=int(number))
    return Found(sites=(key,), targets=(span,), title=change.strip(), change=change.strip())


def _is_sentence(axis: str) -> bool:
    """By the words in which a state names its axis; long ones are cut there."""
    return axis.partition(":")[0] not in RULES and axis not in read_catalogue()
