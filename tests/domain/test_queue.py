"""The one queue: whatever the interleaving of jobs, what landed is some serial order, and every item landed once."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.commit import ABSENT, Change, Commit, Entry
from domain.order import Order
from domain.replay import begin
from domain.worklist import Found, Span, Worklist

FILES = ("a", "b", "c/d", "c/e")
Tree = dict[str, str]
"""Content by path; a content is the ids of the items that wrote it, in their order."""


def entry(tree: Tree, path: str) -> Entry:
    return ("100644", tree[path]) if path in tree else (ABSENT, "")


def edit(tree: Tree, item: str, paths: tuple[str, ...]) -> Tree:
    """What an item does: it writes its name behind what it finds."""
    return {**tree, **{path: f"{tree.get(path, '')}.{item}" for path in paths}}


def commit(tree: Tree, item: str, paths: tuple[str, ...], turn: int) -> Commit:
    after = edit(tree, item, paths)
    changes = tuple(
        Change(
            path=path,
            old_mode=entry(tree, path)[0],
            new_mode="100644",
            old_blob=entry(tree, path)[1],
            new_blob=after[path],
        )
        for path in paths
    )
    return Commit(
        sha=f"{item}-{turn}", tree="", parents=(), subject=item, changes=changes, item=item
    )


@dataclass
class World:
    """A target, its list, and jobs that made something on whatever tip there was."""

    touches: dict[str, tuple[str, ...]]
    worklist: Worklist
    tree: Tree
    history: list[str] = field(default_factory=list[str])
    made: dict[str, Commit] = field(default_factory=dict[str, Commit])

    def take(self, which: int, known: bool) -> None:
        """A job makes an item: one that no file of another is in the way of, as far as its targets are known."""
        running = list(self.made)
        due = self.worklist.due(running, 99) if known else self.worklist.open
        free = [item for item in due if item.id not in self.made]
        if free:
            item = free[which % len(free)]
            turn = Order.of([item]).turns[0][1]
            self.made[item.id] = commit(self.tree, item.id, self.touches[item.id], turn)

    def deliver(self, red: frozenset[str]) -> None:
        """All that was made goes through the queue; of the red ones, nothing lands."""
        place = {item.id: n for n, item in enumerate(self.worklist.items)}
        commits = sorted(self.made.values(), key=lambda one: place[one.item])
        there = {path: entry(self.tree, path) for one in commits for path in one.paths}
        line = begin(commits, there)
        for one in commits:
            if one.item in red:
                self.worklist = self.worklist.turned_down({one.item: "red"})
            elif line.apply(one, lambda ours, base, theirs: None):
                self.tree |= {path: blob for path, (_, blob) in line.steps[-1][1].items()}
                self.history.append(one.item)
                self.worklist = self.worklist.landed([one.item])
            else:
                self.worklist = self.worklist.redone([one.item], "conflict")
        self.made.clear()

    def be_killed(self) -> None:
        """What was made is gone, and the list and the branch are as they were."""
        self.made.clear()


paths = st.lists(st.sampled_from(FILES), min_size=1, max_size=2, unique=True).map(tuple)
takes = st.tuples(st.just("take"), st.integers(0, 9), st.booleans())
steps = st.lists(
    st.one_of(
        *[takes] * 4,
        st.tuples(st.just("deliver"), st.just(0), st.just(False)),
        st.tuples(st.just("kill"), st.just(0), st.just(False)),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(paths, min_size=1, max_size=8), steps, st.sets(st.integers(0, 7)))
def test_what_landed_is_some_serial_order_and_every_item_ends_once(
    touched: list[tuple[str, ...]], done: list[tuple[str, int, bool]], red: set[int]
):
    touches = {f"i{n}": some for n, some in enumerate(touched)}
    found = [
        Found(sites=(name,), targets=tuple(Span(path=path) for path in some))
        for name, some in touches.items()
    ]
    base = {"a": "base", "b": "base"}
    world = World(touches, Worklist().merge(found, whole=True)[0], dict(base))
    bad = frozenset(f"i{n}" for n in red)

    for kind, which, known in done:
        if kind == "take":
            world.take(which, known)
        elif kind == "deliver":
            world.deliver(bad)
        else:
            world.be_killed()
    while world.worklist.open:
        world.take(0, known=True)
        world.deliver(bad)

    serial: Tree = dict(base)
    for item in world.history:
        serial = edit(serial, item, touches[item])
    assert world.tree == serial
    assert len(world.history) == len(set(world.history))
    ended = {item.id: item.ended for item in world.worklist.items}
    assert {item for item, how in ended.items() if how == "landed"} == set(world.history)
    assert set(ended.values()) <= {"landed", "parked"}
    assert bad.isdisjoint(world.history)
