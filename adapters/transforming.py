"""Transforming: one order of a sweep, made in a clone of its own. What comes of it is one commit for each item."""

from collections.abc import Sequence

from adapters import beginning, events, seats, shelf, takeover, words, worklists
from adapters.executors import passes
from adapters.repository.chains import read_chain
from adapters.repository.workspaces import run_folder, store
from adapters.repository.writing import Draft, write_commits
from domain.axis import Axis, title
from domain.brief import Allowance
from domain.budget import Budget, kept_back
from domain.change import Grain
from domain.commit import Chain, Commit, joined
from domain.ledger import Caps
from domain.order import Made, Order
from domain.reading import Confirm
from domain.state import State
from domain.survey import Brief
from domain.target import Workspace
from domain.words import MINUTE
from domain.worklist import Item, Worklist

NO_EDIT = "no edit"
GONE = "it is not there any more"


def transform(
    workspace: Workspace,
    axis: Axis,
    order: Order,
    *,
    grain: Grain,
    budget: Budget,
    confirm: Confirm,
) -> Made:
    """Make the items of an order, or find what a killed run had made of them."""
    if made := shelf.left_made(workspace, order, takeover.inherited(workspace).runs):
        return made
    state = beginning.current_state(workspace, title(axis))
    items = [(state.worklist or Worklist()).item(item_id) for item_id in order.items]
    places = ", ".join(item.place for item in items[:3])
    events.emit(run_folder(workspace), "step", what=f"changing {places}")
    tip = worklists.tip_of(workspace)
    with seats.taken(workspace, lambda seat: takeover.is_at(seat, order.number)) as mine:
        if mine.hired:
            caps = budget.for_work(confirm)
            caps = caps.model_copy(update={"max_usd_per_pass": budget.max_usd_per_site})
            brief = _brief(
                order,
                items[0],
                tip,
                caps,
                minutes=_minutes_left(mine, budget),
                kept=kept_back(confirm),
            )
            chain = _by_model(mine, axis, items[0], brief)
        else:
            chain = passes.make(mine, axis, _rule_brief(order, items, tip, grain, state))
    return _shelved(workspace, order, chain, items)


def _brief(
    order: Order, item: Item, tip: str, caps: Caps, *, minutes: float | None, kept: float
) -> Brief:
    return Brief(
        number=order.number,
        tip=tip,
        only=(item.id,),
        item=worded(item),
        left=Allowance(usd=caps.max_usd_per_pass, minutes=minutes),
        caps=caps,
        kept_back=kept,
    )


def _minutes_left(workspace: Workspace, budget: Budget) -> float | None:
    minutes = words.said(workspace).raised.budget(budget).max_minutes
    if minutes is None:
        return None
    return max(0.0, minutes - events.elapsed(run_folder(workspace)) / MINUTE)


def _by_model(workspace: Workspace, axis: Axis, item: Item, brief: Brief) -> Chain:
    from adapters import hiring  # noqa: PLC0415 -- the libraries of models, for a model alone

    chain = hiring.make(workspace, axis, brief)
    named = tuple(
        commit.model_copy(update={"sites": (item.id,), "place": item.place})
        for commit in _as_one(workspace, chain)
    )
    return chain.model_copy(update={"commits": named})


def worded(item: Item) -> str:
    """An item, as a model is told of it."""
    places = "\n".join(
        f"{span.path}:{span.line}{f'-{span.end_line}' if span.end_line > span.line else ''}"
        f"{f' ({span.symbol})' if span.symbol else ''}"
        for span in item.targets
    )
    said = dict.fromkeys(text for text in (item.title, item.change) if text)
    return "\n".join([*said, places])


def _rule_brief(order: Order, items: Sequence[Item], tip: str, grain: Grain, state: State) -> Brief:
    return Brief(
        number=order.number,
        tip=tip,
        settled=tuple(sorted(state.settled)),
        grain=grain,
        paths=tuple(sorted({path for item in items for path in item.paths})),
        only=tuple(key for item in items for key in item.sites),
    )


def _as_one(workspace: Workspace, chain: Chain) -> tuple[Commit, ...]:
    """The commits of a model for one item as a single one, under the last one's words."""
    if len(chain.commits) < 2:  # noqa: PLR2004 -- nothing to join
        return chain.commits
    last = chain.commits[-1]
    text = f"{last.subject}\n\n{last.body}".strip() + "\n"
    draft = Draft(text, joined(chain.commits), chain.base)
    (sha,) = write_commits(store(workspace), [draft], chain.at)
    return read_chain(store(workspace), chain.base, sha)


def _shelved(workspace: Workspace, order: Order, chain: Chain, items: Sequence[Item]) -> Made:
    commits, by_item = _told_apart(chain, items)
    there = set(chain.found)
    gone = {
        item.id: GONE
        for item in items
        if not workspace.hired and item.id not in by_item and not there.intersection(item.sites)
    }
    said = chain.why or "; ".join(chain.notes[:1])
    left = {
        item.id: f"{NO_EDIT}: {said}" if said else NO_EDIT
        for item in items
        if item.id not in by_item and item.id not in gone
    }
    made = Made(
        order=order,
        base=chain.base,
        commits=by_item,
        gone=gone,
        unmade=left if workspace.hired else {},
        again={} if workspace.hired else left,
        usd=chain.usd,
        seconds=chain.seconds,
        halt=chain.halt,
        why=chain.why,
        notes=chain.notes if workspace.hired else (),
    )
    shelf.put_made(workspace, made, chain.model_copy(update={"commits": commits}))
    return made


def _told_apart(chain: Chain, items: Sequence[Item]) -> tuple[tuple[Commit, ...], dict[str, str]]:
    """The commits with the item that each is of, by the site that it settles first."""
    left = list(items)
    commits: list[Commit] = []
    by_item: dict[str, str] = {}
    for commit in chain.commits:
        keys = {site.partition("#")[0] for site in commit.sites}
        mine = next(
            (item for item in left if item.id in commit.sites or keys.intersection(item.sites)),
            None,
        )
        if mine is None:
            continue  # a rule's second thought; the next enumeration finds it
        left.remove(mine)
        by_item[mine.id] = commit.sha
        commits.append(commit.model_copy(update={"item": mine.id}))
    return tuple(commits), by_item
