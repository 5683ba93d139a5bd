"""Taking over from runs that were killed: their money, their conversations, and the clone as they left it.

A run whose process died left no report. The next one of the same campaign counts what it spent as its own, and
goes on with its last pass. Whatever is done here may be cut off by another kill, and is done again then.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from adapters import shelf
from adapters.erasing import erase
from adapters.failpoints import reach
from adapters.models.account import LEDGER, Account
from adapters.models.files import Files
from adapters.models.forms import FileRefused
from adapters.models.lines import read_lines, write_lines
from adapters.repository import states
from adapters.repository.workspaces import agent_folder, run_folder, target_place
from adapters.whole import write_whole
from domain.brief import PassBrief
from domain.commit import Chain
from domain.ledger import Caps
from domain.state import State
from domain.takeover import Begun, Inherited, Task, objection, settles
from domain.target import Workspace

MARK = "swathe-pass"
"""In the clone's `.git`: names the pass that works there. Moving the clone lays `.git` anew, and the mark is gone."""
INHERITED, TAKEN, REPORT = "inherited.json", "taken-over", "report.json"
ASIDE = "agent.aside"


def inherit(workspace: Workspace) -> Inherited:
    """Take over from killed runs of this campaign. Called with the lock held, before the clone is moved."""
    _put_back(workspace)
    path = run_folder(workspace) / INHERITED
    if not path.exists():
        write_whole(path, _found(workspace).to_json())
    made = inherited(workspace)
    for run in made.runs:
        if not (_folder(workspace, run) / TAKEN).exists():
            _take_money(workspace, run, made.left)
            reach("money-taken")
            (_folder(workspace, run) / TAKEN).write_text(f"{workspace.run}\n")
    return made


def inherited(workspace: Workspace) -> Inherited:
    """What `inherit` found."""
    path = run_folder(workspace) / INHERITED
    return Inherited.from_json(path.read_text()) if path.exists() else Inherited(axis="")


def spent_usd(workspace: Workspace) -> float:
    """By this run and those it took over from, with what is under way at its reservation."""
    path = run_folder(workspace) / LEDGER
    return Account(path, Caps()).ledger.spent_usd if path.exists() else 0.0


def with_money(workspace: Workspace, state: State) -> State:
    """The state with all that was spent so far; said as often as asked, it is counted once."""
    return state.spend(workspace.run, spent_usd(workspace), inherited(workspace).runs)


def begin(workspace: Workspace, brief: PassBrief, tip: str) -> Begun:
    """Write down that a pass begins, or say what was written: a new one, or the one that was left to us."""
    path = _begun(run_folder(workspace), brief.number)
    if path.exists():
        return Begun.from_json(path.read_text())
    task = Task.of(brief, workspace.executor)
    begun = Begun.anew(task, tip, workspace.run, brief.number)
    left = inherited(workspace).left
    if brief.item:
        begun = _item_taken(workspace, begun)
    elif left is not None and brief.number == 1:
        begun = _taken(workspace, left, begun)
    write_whole(path, begun.to_json())
    reach("pass-begun")
    return begun


def finished(workspace: Workspace, brief: PassBrief, tip: str) -> Chain | None:
    """What the pass came to, if it was over when its process died."""
    begun = begin(workspace, brief, tip)
    chain = shelf.left(run_folder(workspace), brief.number)
    if chain is None or chain.halt:
        return None
    return chain.model_copy(update={"notes": (*filter(None, [begun.note]), *chain.notes)})


def talk(workspace: Workspace, name: str) -> Path:
    """Where a conversation of this run lies; one of that name that was left to us, under the name it had there."""
    runs = (workspace.run, *inherited(workspace).runs)
    for run in runs:
        path = fetched(workspace, f"talk-{run}-{name}.jsonl")
        if path.exists():
            return path
    return run_folder(workspace) / f"talk-{workspace.run}-{name}.jsonl"


def fetched(workspace: Workspace, file: str) -> Path:
    """The file in our folder, moved there from a killed run's if it lies in that one."""
    path = run_folder(workspace) / file
    for run in inherited(workspace).runs:
        theirs = _folder(workspace, run) / file
        if not path.exists() and theirs.exists():
            theirs.rename(path)
    return path


def made(workspace: Workspace, number: int, tip: str) -> Chain | None:
    """What a killed run had made in a pass of this number, where something of it is still to be settled on `tip`."""
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    for run in inherited(workspace).runs:
        chain = shelf.left(_folder(workspace, run), number)
        if chain and not chain.halt and settles(chain, tip, state or State(axis=workspace.axis)):
            return chain
    return None


def stands(workspace: Workspace, begun: Begun) -> bool:
    """Whether the clone is as this pass left it."""
    return _marked(agent_folder(workspace)) == begun.mark


def unlock(clone: Path) -> None:
    """Take away the locks that git left in the clone's `.git` when it was killed. Nobody works there now.

    The folder is not ours: no link in it is followed.
    """
    git_dir = clone / ".git"
    if git_dir.is_symlink():
        return
    for folder, _, files in os.walk(git_dir):
        for name in files:
            if name.endswith(".lock"):
                (Path(folder) / name).unlink(missing_ok=True)


def cut_off(workspace: Workspace) -> bool:
    """Whether the clone is as an interrupted pass left it that may still be gone on with."""
    runs = (workspace.run, *inherited(workspace).runs)
    return _marked(agent_folder(workspace)) in _marks_left(workspace.home, runs)


@lru_cache(maxsize=4)
def _marks_left(home: str, runs: tuple[str, ...]) -> frozenset[str]:
    """As this process found them: those that it sets itself are of clones that are taken."""
    begun = (path for run in runs for path in (Path(home) / "runs" / run).glob("begun-*.json"))
    return frozenset(Begun.from_json(path.read_text()).mark for path in begun)


def is_at(workspace: Workspace, number: int) -> bool:
    """Whether the clone is as the pass of this number left it, in this run or in one that was taken over."""
    for run in (workspace.run, *inherited(workspace).runs):
        path = _begun(_folder(workspace, run), number)
        if path.exists():
            return stands(workspace, Begun.from_json(path.read_text()))
    return False


@contextmanager
def clone_aside(workspace: Workspace) -> Generator[None]:
    """Let the clone be moved for the block, and put back what was left in it."""
    left, folder = inherited(workspace).left, agent_folder(workspace)
    if left is None or not stands(workspace, left):
        yield
        return
    folder.rename(Path(workspace.home) / ASIDE)
    try:
        yield
    finally:
        _put_back(workspace)


def _put_back(workspace: Workspace) -> None:
    aside, folder = Path(workspace.home) / ASIDE, agent_folder(workspace)
    if aside.is_dir():
        erase(folder)
        aside.rename(folder)


def _marked(clone: Path) -> str:
    try:
        return Files(clone).read(f".git/{MARK}").text
    except FileRefused:
        return ""


def _found(workspace: Workspace) -> Inherited:
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    # A run that was killed as it ended is in the state, and may lack its report.
    ended = {one.run for one in state.runs} if state else set[str]()
    killed: list[tuple[int, Path, Inherited]] = []
    for path in (Path(workspace.home) / "runs").glob(f"*/{INHERITED}"):
        folder = path.parent
        done = folder.name in ended or any((folder / name).exists() for name in (REPORT, TAKEN))
        theirs = Inherited.from_json(path.read_text())
        if not done and folder.name != workspace.run and theirs.axis == workspace.axis:
            killed.append((path.stat().st_mtime_ns, folder, theirs))
    runs, left = list[str](), None
    for _, folder, theirs in sorted(killed, key=lambda one: one[0], reverse=True):
        runs += [folder.name, *theirs.runs]
        left = left or _last(folder) or theirs.left
    return Inherited(axis=workspace.axis, runs=tuple(dict.fromkeys(runs)), left=left)


def _last(folder: Path) -> Begun | None:
    """The last pass that a run began."""
    begun = [Begun.from_json(path.read_text()) for path in folder.glob("begun-*.json")]
    return max(begun, key=lambda one: one.number, default=None)


def _taken(workspace: Workspace, left: Begun, anew: Begun) -> Begun:
    """The pass that was left, in our hands; or a new one, with the reason."""
    chain = shelf.left(_folder(workspace, left.by), left.number)
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    why = objection(left, anew.task, anew.tip)
    if chain and left.task.same_work(anew.task):
        if settles(chain, anew.tip, state or State(axis=anew.task.axis)):
            _shelve(workspace, chain, anew.number)
            why = ""
        elif not chain.halt:
            return anew  # all of it is settled, and the next pass is a new one
    if why:
        note = f"pass {left.number} of run {left.by}, which was killed, is not gone on with: {why}"
        return anew.model_copy(update={"note": note})
    fetched(workspace, left.talk)
    return left.gone_on(workspace.run, anew.number)


def _item_taken(workspace: Workspace, anew: Begun) -> Begun:
    """The same item at the same turn, if a killed run was at it: the work-list numbers them for all runs."""
    for run in inherited(workspace).runs:
        path = _begun(_folder(workspace, run), anew.number)
        left = Begun.from_json(path.read_text()) if path.exists() else None
        if left and not objection(left, anew.task, left.tip):
            fetched(workspace, left.talk)
            return left.gone_on(workspace.run, anew.number)
    return anew


def _shelve(workspace: Workspace, chain: Chain, number: int) -> None:
    shelf.put(workspace, chain.model_copy(update={"number": number, "halt": "", "why": ""}))


def _take_money(workspace: Workspace, run: str, left: Begun | None) -> None:
    """Into our ledger, under the number of the pass that will go on with the conversation; the others under none."""
    path = run_folder(workspace) / LEDGER
    ours = read_lines(path)
    known = {str(entry.get("call")) for entry in ours}
    talk = f"{left.talk.removesuffix('.jsonl')}:" if left else "-"
    theirs = [
        _renumbered(entry, talk)
        for entry in read_lines(_folder(workspace, run) / LEDGER)
        if str(entry.get("call")) not in known
    ]
    if theirs:
        write_lines(path, [*ours, *theirs])


def _renumbered(entry: dict[str, Any], talk: str) -> dict[str, Any]:
    if "number" not in entry:
        return entry
    return {**entry, "number": int(str(entry.get("call")).startswith(talk))}


def _folder(workspace: Workspace, run: str) -> Path:
    return Path(workspace.home) / "runs" / run


def _begun(folder: Path, number: int) -> Path:
    return folder / f"begun-{number}.json"
