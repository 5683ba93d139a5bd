"""Where a review stands between two passes, in few values: what steps hand on instead of a plan of a million files."""

from domain.blocker import OpenBlocker, Pushback
from domain.coverage import absent, lacks
from domain.report import RED, Remaining
from domain.review_state import Look, ReviewState
from domain.site import Site
from domain.streak import needed
from domain.sweep import StopWhen, Sweep
from domain.turns import converged, next_look
from domain.value import Value


class Doubt(Value):
    """Looks in vain at one chunk."""

    chunk: str
    said: tuple[str, ...]
    """By whom, and why."""


class Standing(Value):
    """What is known of the present content."""

    stop_when: StopWhen
    chunks: int
    """In the plan; 0: there is nothing to review."""
    skipped: dict[str, int] = {}
    look: Look | None = None
    """The pass that is due; None: converged, or nobody's look can decide anything."""
    converged: bool = False
    blockers: tuple[OpenBlocker, ...] = ()
    """Unresolved, on present content."""
    left: tuple[Pushback, ...] = ()
    """Findings that were left to a person."""
    doubts: tuple[Doubt, ...] = ()
    unseen: tuple[str, ...] = ()
    """Chunks that lack a clean verdict which the stop rule asks for."""
    streak: int = 0
    needed: int = 0

    @property
    def stuck(self) -> bool:
        return bool(self.chunks) and not self.converged and self.look is None

    @property
    def red(self) -> bool:
        """All that is stuck is so because the gate was red on every attempt."""
        stuck = [one for one in self.blockers if one.stuck]
        return bool(stuck) and not self.doubts and all(one.tried.startswith(RED) for one in stuck)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Blockers, as the rest of the engine knows what remains."""
        return tuple(
            Site(
                key=one.id,
                path=one.blocker.path,
                line=one.blocker.line,
                rule="blocker",
                message=one.blocker.why,
            )
            for one in self.blockers
        )

    @property
    def remaining(self) -> tuple[Remaining, ...]:
        """Blockers first, then chunks: every one with why it is left."""
        blockers = tuple(
            Remaining(
                site=f"{one.blocker.path}:{one.blocker.line}",
                key=one.id,
                rule="blocker",
                message=one.blocker.why,
                why=one.stuck or one.tried or "no fixer was sent yet",
            )
            for one in self.blockers
        )
        said = {doubt.chunk: "; ".join(doubt.said) for doubt in self.doubts}
        chunks = tuple(
            Remaining(
                site=name,
                key=name,
                rule="chunk",
                why=said.get(name, "no clean verdict yet"),
            )
            for name in dict.fromkeys((*self.unseen, *said))
        )
        left = tuple(
            Remaining(
                site=f"{one.blocker.path}:{one.blocker.line}",
                key=one.id,
                rule="finding",
                message=one.blocker.why,
                why=one.why,
            )
            for one in self.left
        )
        return (*blockers, *chunks, *left)


def stand(state: ReviewState, sweep: Sweep) -> Standing:
    """Of this state on this content."""
    return Standing(
        stop_when=sweep.terms.stop_when,
        chunks=sweep.size,
        skipped=sweep.plan.skipped,
        look=next_look(state, sweep),
        converged=converged(state, sweep),
        blockers=state.unresolved(sweep),
        left=state.left(sweep),
        doubts=_doubts(state, sweep),
        unseen=tuple(
            chunk.name
            for index, chunk in enumerate(sweep.plan.chunks)
            if any(lacks(state.clean, sweep, index, one) for one in sweep.terms.families)
        ),
        streak=state.streak.length(sweep),
        needed=needed(sweep),
    )


def _doubts(state: ReviewState, sweep: Sweep) -> tuple[Doubt, ...]:
    """Of chunks that are not clean by now, and of families that have to be heard and were not."""
    if not state.fruitless:
        return ()
    away = {*absent(state.clean, sweep)}
    if sweep.terms.stop_when == "streak":
        away.update(state.streak.absent(sweep))
    found: list[Doubt] = []
    for index, chunk in enumerate(sweep.plan.chunks):
        content = sweep.content(index)
        lacking = any(lacks(state.clean, sweep, index, family) for family in sweep.terms.families)
        said = [
            f"{one.family}: {one.why}"
            for one in state.fruitless
            if one.content == content and (lacking or one.family in away)
        ]
        if said:
            found.append(Doubt(chunk=chunk.name, said=tuple(said)))
    return tuple(found)
