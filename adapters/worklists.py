"""The work-list of a sweep, in the state: what is found is merged into it, and what is made is settled in it.

Landing and parking end items in the transaction that moves the branch (`State.land`, `State.park`). All else is here.
Every step may be repeated after a kill: what the list knows already is not counted again.
"""

import os
import time
from collections.abc import Collection, Sequence

from adapters import beginning, ending, shelf, takeover
from adapters.failpoints import reach
from adapters.repository.git import Place, git
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder, store
from adapters.whole import write_whole
from domain.axis import Axis, title
from domain.batch import Batch
from domain.commit import ABSENT, Chain, ChainOnShelf, Commit, Entry
from domain.order import Enumeration, Made, SweepTerms, found_in
from domain.recognition import barred
from domain.replay import above
from domain.state import State
from domain.survey import Survey
from domain.target import Workspace
from domain.worklist import Merged, Worklist

CONFLICT = "conflict: it fits on no tip, however often it was made"
TIP = "tip"
"""In the folder of a run."""
FOLDER = "040000"
MOST_NAMED_PATHS = 500
"""More than so many are looked up by listing the whole tree."""


def merge(
    workspace: Workspace, axis: Axis, tip: str, found: Enumeration, terms: SweepTerms
) -> tuple[Survey, Merged]:
    """Put what an enumeration found into the list; where the sweep stands then."""
    state = beginning.current_state(workspace, title(axis))
    settled = state.settled
    out = barred(found.listing.sites, settled)
    units = tuple(one for one in found.found if one.name not in settled)
    free = [site for site in found.listing.sites if site.id not in out]
    attempts = terms.attempts if workspace.hired else 1
    before = state.worklist or Worklist()
    listed, merged = before.model_copy(update={"most_attempts": attempts}).merge(
        units or found_in(free, terms.grain),
        whole=found.whole and found.sure,
        since=_landed_since(workspace, state, found.tip),
    )
    now = state.model_copy(update={"worklist": listed.drop(found.dropped)})
    if now.worklist != before:
        save(workspace, now, f"list {merged.new} new, {merged.gone} gone", 0)
        reach("listed")
    write_whole(run_folder(workspace) / TIP, tip)
    return ending.stock(workspace, axis, tip, found.listing), merged


def _landed_since(workspace: Workspace, state: State, tip: str) -> frozenset[str]:
    """Items that landed after that tip: of a tip that is the base, all that this run has landed."""
    shas = [commit.sha for commit in state.landed]
    after = state.landed[shas.index(tip) + 1 :] if tip in shas else state.landed
    known = bool(tip) and tip in shas
    return frozenset(
        commit.item for commit in after if commit.item and (known or commit.run == workspace.run)
    )


def settle(
    workspace: Workspace, axis: Axis, made: Sequence[Made], batch: Batch | None, tip: str
) -> Survey:
    """Note what became of orders beside what landed or was parked: gone, nothing made, to be made anew; and their cost."""
    state = beginning.current_state(workspace, title(axis))
    listed = state.worklist or Worklist()
    again = set(batch.again) if batch else set[str]()
    for one in made:
        if one.halt and not one.commits:
            continue  # cut off: the same turn is gone on with
        now = {item.id: item.turns for item in listed.items}
        # What has had its turn was settled before: by landing, by parking, or here before a kill.
        fresh = {item for item, turn in one.order.turns if now.get(item) == turn}
        for item in fresh & one.gone.keys():
            listed = listed.end([item], "gone", one.gone[item])
        listed = listed.cleared(one.clean)
        listed = listed.turned_down({item: one.unmade[item] for item in fresh & one.unmade.keys()})
        for item in fresh & one.again.keys():
            listed = listed.redone([item], one.again[item])
        redo = {item for item, sha in one.commits.items() if sha in again and item in fresh}
        listed = listed.redone(redo, CONFLICT)
        # What landed or was parked was paid for with it.
        listed = listed.paid(dict.fromkeys(fresh, one.usd / len(one.order.items)))
    settled = takeover.with_money(workspace, state.model_copy(update={"worklist": listed}))
    if settled != state:
        save(workspace, settled, "settle items", 0)
        reach("items-settled")
    write_whole(run_folder(workspace) / TIP, tip)
    return ending.stock(workspace, axis, tip)


def tip_of(workspace: Workspace) -> str:
    """What a job sets out from: the tip when the list was settled last.

    It is no part of what a job is told: what was made on an earlier one is not made again for that.
    """
    return (run_folder(workspace) / TIP).read_text()


def queue_up(workspace: Workspace, made: Sequence[Made], tip: str, number: int) -> ChainOnShelf:
    """The commits of several orders as one chain on the tip, in the list's order, whatever tip each was made on."""
    state = beginning.current_state(workspace, "")
    # What was struck meanwhile does not land.
    place = {item.id: n for n, item in enumerate((state.worklist or Worklist()).open)}
    commits: list[Commit] = []
    for one in sorted(made, key=lambda one: place.get(one.order.items[0], len(place))):
        usd = one.usd / len(one.order.items)
        commits += (
            commit.model_copy(update={"usd": usd})
            for commit in shelf.made_by(workspace, one.order).commits
            if commit.item in place
        )
    paths = {change.path for commit in commits for change in commit.changes}
    notes = tuple(dict.fromkeys(note for one in made for note in one.notes))
    chain = Chain(
        number=number,
        base=tip,
        commits=tuple(commits),
        there=_there(store(workspace), tip, paths),
        queued=True,
        seconds=sum(one.seconds for one in made),
        at=int(time.time()),
        usd=sum(one.usd for one in made),
        notes=notes,
    )
    return shelf.put(workspace, chain)


def _there(place: Place, tip: str, paths: Collection[str]) -> dict[str, Entry]:
    """What the tip holds at each path, and at the folders above it: where a file stands, no folder can be made."""
    asked = {*paths, *(folder for path in paths for folder in above(path))}
    named = [] if len(asked) > MOST_NAMED_PATHS else ["--", *sorted(asked)]
    listed = git(
        place, "ls-tree", "-z", "--full-tree", *(["-t"] if named else ["-r", "-t"]), tip, *named
    )
    found: dict[str, Entry] = dict.fromkeys(paths, (ABSENT, ""))
    for row in listed.split(b"\0"):
        head, tab, path = row.partition(b"\t")
        name = os.fsdecode(path)
        if tab and name in asked:
            mode, kind, blob = head.decode().split(" ")
            if kind != "tree":
                found[name] = (mode, blob)
            elif name in paths:
                found[name] = (FOLDER, blob)
    return found
