"""Units: the backlog of a review, ranked, and one unit at a time brought to where two reviews find it clean."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adapters import beginning, events, reviewing, seats, shelf, takeover, words, worklists
from adapters.executors import passes, rule_review
from adapters.failpoints import reach
from adapters.repository.chains import read_chain
from adapters.repository.git import git
from adapters.repository.workspaces import read_files, run_folder, store, tracked
from adapters.repository.writing import Draft, write_commits
from adapters.whole import write_whole
from domain import unit
from domain.assignment import Assignment
from domain.axis import title
from domain.budget import Budget
from domain.chunk import Chunk
from domain.commit import Chain, Commit, joined
from domain.ledger import Caps
from domain.order import Enumeration, Made, Order
from domain.reviewers import Opened
from domain.standing import Standing, stand
from domain.survey import Start, Survey
from domain.sweep import Sweep
from domain.target import Workspace
from domain.unit import UnitTalk
from domain.words import MINUTE
from domain.worklist import Found, Item, Worklist

CLEAN = "found clean by two reviews in a row"
CHANGED = "it is another unit by now; the next run lists it anew"


def rank(opened: Opened, tip: str) -> tuple[Found, ...]:
    """The units of a tip that are not known to be clean, the worst first."""
    state = beginning.current_state(opened.workspace, title(opened.axis))
    clean = frozenset((state.worklist or Worklist()).clean)
    chunks = reviewing.sweep_of(opened, tip).plan.chunks
    todo = [chunk for chunk in chunks if unit.content(chunk, opened.terms) not in clean]
    paths = frozenset(part.path for chunk in todo for part in chunk.parts)
    findings = Counter[str]()
    for family in rule_review.families() if todo else ():
        told = passes.told(opened.workspace, rule_review.engine_of(family), tip, paths)
        findings.update(site.path for site in told)
    return unit.listed(todo, opened.terms, findings, clean)


def begin(
    opened: Opened,
    *,
    retry: bool = False,
    before_gate: Callable[[Workspace], Workspace] = lambda workspace: workspace,
) -> Start:
    """State and baseline. A backlog that is worked through proves no gate."""

    def idle(survey: Survey) -> bool:
        listed = survey.state.worklist or Worklist()
        known = listed.settled | set(listed.clean)
        chunks = reviewing.sweep_of(opened, survey.tip).plan.chunks
        return all(unit.content(chunk, opened.terms) in known for chunk in chunks)

    return beginning.set_out(
        opened.workspace, opened.axis, retry=retry, before_gate=before_gate, idle=idle
    )


def enumeration(opened: Opened, tip: str) -> Enumeration:
    """The backlog, for the work-list."""
    return Enumeration(found=rank(opened, tip))


def converge(
    opened: Opened, order: Order, *, caps: Caps, max_minutes: float | None, looks: int
) -> Made:
    """Review, mend and review a unit until it is clean or stubborn; what comes of it is one commit."""
    if made := shelf.left_made(opened.workspace, order, takeover.inherited(opened.workspace).runs):
        return made
    state = beginning.current_state(opened.workspace, title(opened.axis))
    item = (state.worklist or Worklist()).item(order.items[0])
    with seats.taken(opened.workspace) as mine:
        seated = opened.model_copy(update={"workspace": mine})
        at_work = _Unit(seated, order, item, caps, looks, max_minutes)
        return at_work.made()


@dataclass(frozen=True)
class _Unit:
    """One unit under way, in a clone of its own."""

    opened: Opened
    order: Order
    item: Item
    caps: Caps
    looks: int
    max_minutes: float | None

    @property
    def workspace(self) -> Workspace:
        return self.opened.workspace

    def made(self) -> Made:
        talk = self._begun()
        chunk = self._chunk(talk.base)
        if chunk is None:
            return self._shelved(talk, (), gone={self.item.id: CHANGED})
        while True:
            sweep = unit.alone(self._now(chunk, talk), self.opened.terms)
            standing = stand(talk.review, sweep)
            if talk.halt or standing.converged or talk.stubborn(standing, self.looks):
                return self._over(talk, sweep, standing)
            if self._late():
                late = {"halt": "budget", "why": f"{self.max_minutes:g} minutes are spent"}
                return self._over(talk.model_copy(update=late), sweep, standing)
            talk = self._looked(talk, sweep, standing)
            self._keep(talk)

    def _looked(self, talk: UnitTalk, sweep: Sweep, standing: Standing) -> UnitTalk:
        assert standing.look  # noqa: S101 -- else the unit is over
        task = Assignment(look=standing.look, tip=talk.tip, chunk=sweep.chunk(0), of=1)
        heard = reviewing.heard(self.opened, sweep, talk.review, task, self.caps)
        said = talk.reviewed(sweep, standing, heard)
        if said.halt or heard.count.kind != "blocked":
            return said
        blockers = said.review.to_fix(sweep, 0)
        if not blockers:
            return said
        self._keep(said)
        chain, pushbacks = reviewing.fixed(self.opened, task, blockers, self.caps)
        mended = said.fixed(
            sweep,
            blockers,
            chain.commits,
            pushbacks,
            by_rules=self.opened.seated(standing.look.family).hired is None,
        )
        return mended.model_copy(
            update={
                "usd": mended.usd + chain.usd,
                "seconds": mended.seconds + chain.seconds,
                "halt": chain.halt,
                "why": chain.why,
            }
        )

    def _over(self, talk: UnitTalk, sweep: Sweep, standing: Standing) -> Made:
        item, stubborn = self.item.id, talk.stubborn(standing, self.looks)
        if talk.halt:
            return self._shelved(talk, ())
        left = tuple(
            f"left to a person: {one.blocker.path}:{one.blocker.line} {one.blocker.why}"
            for one in standing.left
        )
        clean = (sweep.content(0), self.item.name) if standing.converged else ()
        commits = read_chain(store(self.workspace), talk.base, talk.tip)
        if not commits:
            if stubborn:
                return self._shelved(talk, (), unmade={item: stubborn}, notes=left)
            return self._shelved(talk, (), gone={item: CLEAN}, notes=left, clean=clean)
        whole = self._as_one(talk, commits, stubborn)
        return self._shelved(talk, whole, notes=left, clean=clean)

    def _as_one(
        self, talk: UnitTalk, commits: tuple[Commit, ...], withheld: str
    ) -> tuple[Commit, ...]:
        entries = joined(commits)
        draft = Draft(talk.message(commits), entries, talk.base)
        (sha,) = write_commits(store(self.workspace), [draft], _date(self.workspace, talk.tip))
        place = f"{commits[0].paths[0]}:1" if commits[0].paths else self.item.place
        return tuple(
            commit.model_copy(
                update={
                    "sites": (self.item.id,),
                    "place": place,
                    "item": self.item.id,
                    "withheld": withheld,
                }
            )
            for commit in read_chain(store(self.workspace), talk.base, sha)
        )

    def _shelved(
        self,
        talk: UnitTalk,
        commits: tuple[Commit, ...],
        *,
        gone: dict[str, str] | None = None,
        unmade: dict[str, str] | None = None,
        notes: tuple[str, ...] = (),
        clean: tuple[str, ...] = (),
    ) -> Made:
        made = Made(
            order=self.order,
            base=talk.base,
            commits={commit.item: commit.sha for commit in commits},
            gone=gone or {},
            unmade=unmade or {},
            usd=talk.usd,
            seconds=talk.seconds,
            halt=talk.halt,
            why=talk.why,
            notes=notes,
            clean=clean,
        )
        chain = Chain(number=self.order.number, base=talk.base, commits=commits)
        shelf.put_made(self.workspace, made, chain)
        return made

    def _late(self) -> bool:
        given = Budget(max_minutes=self.max_minutes)
        most = words.said(self.workspace).raised.budget(given).max_minutes
        return most is not None and events.elapsed(run_folder(self.workspace)) >= MINUTE * most

    def _chunk(self, tip: str) -> Chunk | None:
        chunks = reviewing.sweep_of(self.opened, tip).plan.chunks
        return unit.unit_of(chunks, self.opened.terms, self.item)

    def _now(self, chunk: Chunk, talk: UnitTalk) -> Chunk:
        """The unit as its own line of commits has it."""
        if talk.tip == talk.base:
            return chunk
        paths = sorted({part.path for part in chunk.parts})
        place, there = store(self.workspace), tracked(self.workspace, talk.tip)
        before = read_files(self.workspace, talk.base, paths)
        after = read_files(self.workspace, talk.tip, [path for path in paths if path in there])
        gained = {
            path: text.count(b"\n") - before[path].count(b"\n") for path, text in after.items()
        }
        blobs = {
            path: git(place, "rev-parse", f"{talk.tip}:{path}").decode().strip() for path in after
        }
        return unit.later(chunk, blobs, gained)

    def _begun(self) -> UnitTalk:
        """From the beginning, or from where a kill left it."""
        name = f"unit-{self.order.number}.json"
        for run in (self.workspace.run, *takeover.inherited(self.workspace).runs):
            path = Path(self.workspace.home) / "runs" / run / name
            if path.exists():
                return UnitTalk.from_json(path.read_text())
        tip = worklists.tip_of(self.workspace)
        return UnitTalk.begin(tip, self.item.title, self.order.number)

    def _keep(self, talk: UnitTalk) -> None:
        path = run_folder(self.workspace) / f"unit-{self.order.number}.json"
        write_whole(path, talk.to_json())
        reach("unit-kept")


def _date(workspace: Workspace, commit: str) -> int:
    """When the unit's last commit was made: a repeated step makes the same id."""
    return int(git(store(workspace), "show", "-s", "--format=%ct", commit))
