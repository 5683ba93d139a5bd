"""Settling: what was decided becomes refs. Green commits land, the others are parked, the state says so.

Safe to repeat: a commit is written from the pass's own date and facts, so that it gets the same
id again, and what the state names already is left out.
"""

from collections.abc import Callable, Mapping, Sequence

from adapters.failpoints import reach
from adapters.repository import states
from adapters.repository.git import object_id
from adapters.repository.landing import (
    campaign_refs,
    move_refs,
    put_in,
    refuse_checked_out,
    refuse_foreign,
)
from adapters.repository.merging import Merger
from adapters.repository.replaying import replay
from adapters.repository.signing import Signature, signed, subject_of
from adapters.repository.workspaces import store, target_place
from adapters.repository.writing import Draft, write_commits
from domain.batch import Outcome
from domain.commit import Chain, Commit, Entry
from domain.gate import Failure
from domain.replay import Replay
from domain.report import PINNED_RED, RED, Landed, Parked
from domain.state import State
from domain.target import Workspace
from domain.value import Value

Step = tuple[Commit, dict[str, Entry]]
Reasons = Mapping[str, tuple[str, tuple[Failure, ...]]]
"""Why a commit is parked, by sha: in few words, and the tests it breaks."""


PINNED = "green with the protected files of the base, too"


class Settled(Value):
    """What one settling did."""

    tip: str
    landed: tuple[Landed, ...] = ()
    parked: tuple[Parked, ...] = ()


def as_it_is(state: State) -> State:
    return state


def settle(
    workspace: Workspace,
    chain: Chain,
    outcome: Outcome,
    signature: Signature,
    before: State,
    *,
    with_money: Callable[[State], State] = as_it_is,
) -> Settled:
    """Land the good and park the bad commits of a pass that are not settled yet.

    `before` is the state for a campaign that has none in git; `with_money` adds what was spent by now.
    """
    state, state_commit = states.load(target_place(workspace), workspace.state_ref)
    state = with_money(state or before)
    done = {commit.made_from: commit.sha for commit in state.landed}
    earlier = [sha for sha in outcome.good if sha in done]
    fresh = [sha for sha in outcome.good if sha not in done]
    reasons = _reasons(outcome, state)
    # The next commit of this pass goes on what landed of it before, else on its base.
    start = done[earlier[-1]] if earlier else chain.base
    if not fresh and not reasons:
        return Settled(tip=start)
    line, first = replay(store(workspace), chain, earlier, fresh)
    desk = _Desk(workspace, chain, outcome, signature)
    settled = desk.write(line, line.steps[first:], reasons, start)
    if settled.landed:
        state = state.land(settled.tip, settled.landed, outcome.rate)
    desk.publish(settled, state.park(settled.parked, outcome.rate), state_commit, start)
    return settled


def _reasons(outcome: Outcome, state: State) -> Reasons:
    known = {parked.made_from for parked in state.parked}
    reasons: dict[str, tuple[str, tuple[Failure, ...]]] = {
        sha: (reason, ()) for sha, reason in outcome.refused.items()
    }
    reasons |= {
        blame.commit: (PINNED_RED if blame.pinned else RED, blame.failures) for blame in outcome.bad
    }
    return {sha: why for sha, why in reasons.items() if sha not in known}


class _Desk:
    """Writes the commits of one settling into our store, all in one go, and then into the target."""

    def __init__(
        self, workspace: Workspace, chain: Chain, outcome: Outcome, signature: Signature
    ) -> None:
        self.workspace = workspace
        self.chain = chain
        self.outcome = outcome
        self.signature = signature
        self.commits = {commit.sha: commit for commit in chain.commits}

    def write(self, line: Replay, steps: Sequence[Step], reasons: Reasons, start: str) -> Settled:
        drafts = [
            Draft(
                self._message(
                    commit,
                    gate=self._verified(commit),
                    pinned=self._pinned(commit),
                    **self._read(commit),
                ),
                entries,
                None if n else start,
            )
            for n, (commit, entries) in enumerate(steps)
        ]
        parking = self._parking(line, reasons, on=len(drafts) - 1 if drafts else start)
        shas = write_commits(store(self.workspace), [*drafts, *parking.values()], self.chain.at)
        reach("commits-written")
        landed = tuple(
            self._landed(commit, sha) for (commit, _), sha in zip(steps, shas, strict=False)
        )
        kept = dict(zip(parking, shas[len(drafts) :], strict=True))
        parked = tuple(
            self._parked(self.commits[sha], reason, failures, kept.get(sha, sha))
            for sha, (reason, failures) in reasons.items()
        )
        return Settled(tip=landed[-1].sha if landed else start, landed=landed, parked=parked)

    def _parking(self, line: Replay, reasons: Reasons, on: str | int) -> dict[str, Draft]:
        """The parked commits anew on the tip, where they can be picked; without those that do not fit there."""
        drafts: dict[str, Draft] = {}
        with Merger(store(self.workspace)) as merger:
            for sha, (reason, _) in reasons.items():
                if self.commits[sha].leaks:
                    continue
                entries = line.fitted(self.commits[sha], merger.merge)
                if entries:
                    drafts[sha] = Draft(
                        self._message(self.commits[sha], parked=reason), entries, on
                    )
        return drafts

    def publish(self, settled: Settled, state: State, previous: str | None, start: str) -> None:
        """Objects first, then branch, state and parked refs in one transaction."""
        workspace = self.workspace
        refuse_checked_out(workspace)
        now = campaign_refs(workspace)
        branch = now.get(workspace.branch)
        why = f"land {len(settled.landed)}, park {len(settled.parked)}"
        draft = states.draft(state, previous, why)
        (new_state,) = write_commits(store(workspace), [draft], self.chain.at)
        reach("state-written")
        updates: dict[str, tuple[str, str | None]] = {workspace.state_ref: (new_state, previous)}
        if settled.landed:
            refuse_foreign(workspace, branch, start, settled.tip)
            updates[workspace.branch] = (settled.tip, branch)
        kept = [commit for commit in settled.parked if commit.ref]
        updates |= {commit.ref: (commit.sha, now.get(commit.ref)) for commit in kept}
        known = [workspace.base, self.chain.base, branch or "", previous or ""]
        put_in(workspace, [new for new, _ in updates.values()], known)
        move_refs(workspace, updates, why)

    def _message(self, commit: Commit, **more: str) -> str:
        reading = self.outcome.read.get(commit.sha)
        usd = (commit.usd or self.signature.usd) + (reading.usd if reading else 0.0)
        signature = self.signature.model_copy(update={"usd": usd})
        return signed(self.workspace, commit, signature, **more)

    def _verified(self, commit: Commit) -> str:
        size = self.outcome.verified.get(commit.sha, 1)
        return "alone" if size == 1 else f"batch of {size}"

    def _pinned(self, commit: Commit) -> str:
        return PINNED if commit.sha in self.outcome.pinned else ""

    def _read(self, commit: Commit) -> dict[str, str]:
        """The trailers of a second opinion."""
        reading = self.outcome.read.get(commit.sha)
        if reading is None:
            return {}
        return {"confirmed_by": reading.confirmed_by, "unconfirmed": reading.unconfirmed}

    def _stands_on_a_secret(self, commit: Commit) -> bool:
        before = self.chain.commits[: self.chain.commits.index(commit)]
        return any(earlier.leaks for earlier in before)

    def _landed(self, commit: Commit, sha: str) -> Landed:
        reading = self.outcome.read.get(commit.sha)
        return Landed(
            sha=sha,
            site=commit.place,
            sites=commit.sites,
            subject=subject_of(commit),
            confirmed_by=reading.confirmed_by if reading else "",
            unconfirmed=reading.unconfirmed if reading else "",
            verified=self._verified(commit),
            pinned=commit.sha in self.outcome.pinned,
            made_from=commit.sha,
            run=self.workspace.run,
            rule=self.signature.rule,
            item=commit.item,
            usd=commit.usd,
        )

    def _parked(
        self, commit: Commit, reason: str, failures: tuple[Failure, ...], kept: str
    ) -> Parked:
        # What holds a secret never enters the target, where a push would take it along.
        # A commit that did not fit on the tip stands on its own parents, and brings them along.
        withheld = bool(commit.leaks) or (kept == commit.sha and self._stands_on_a_secret(commit))
        reading = self.outcome.read.get(commit.sha)
        return Parked(
            site=commit.place,
            sites=commit.sites,
            subject=subject_of(commit),
            reason=reason,
            failures=failures,
            doubted_by=reading.by if reading and reading.verdict == "breaks" else "",
            ref="" if withheld else f"refs/swathe/{self.workspace.axis}/parked/{commit.sha[:12]}",
            sha="" if withheld else kept,
            made_from=commit.sha,
            run=self.workspace.run,
            rule=self.signature.rule,
            item=commit.item,
            usd=commit.usd,
        )


def save(workspace: Workspace, state: State, why: str, at: int) -> None:
    """Write the state alone: at the end of a run, and when sites were declined."""
    previous = object_id(target_place(workspace), workspace.state_ref)
    (new,) = write_commits(store(workspace), [states.draft(state, previous, why)], at)
    put_in(workspace, [new], [previous or ""])
    move_refs(workspace, {workspace.state_ref: (new, previous)}, why)
