"""Settling: what was decided becomes refs. Green commits land, the others are parked, the state says so.

Safe to repeat: a commit is written from the pass's own date and facts, so that it gets the same
id again, and what the state names already is left out.
"""

from collections.abc import Sequence

from adapters.repository import states
from adapters.repository.git import object_id
from adapters.repository.landing import move_refs, refuse_checked_out, send
from adapters.repository.replaying import replay
from adapters.repository.workspaces import store, target_place
from adapters.repository.writing import Draft, write_commits
from domain.batch import Outcome
from domain.commit import Chain, Commit
from domain.gate import Failure
from domain.message import clean, compose
from domain.replay import Entry
from domain.report import Landed, Parked
from domain.state import State
from domain.target import Workspace
from domain.value import Value


class Settled(Value):
    """What one settling did."""

    tip: str
    landed: tuple[Landed, ...] = ()
    parked: tuple[Parked, ...] = ()


class Signature(Value):
    """What the trailers of a commit say of its run."""

    axis: str
    executor: str


def settle(workspace: Workspace, chain: Chain, outcome: Outcome, signature: Signature, before: State) -> Settled:
    """Land the good and park the bad commits of a pass that are not settled yet.

    `before` is the state for a campaign that has none in git.
    """
    place = store(workspace)
    state, state_commit = states.load(target_place(workspace), workspace.state_ref)
    state = state or before
    done = {commit.made_from for commit in state.landed}
    earlier = [sha for sha in outcome.good if sha in done]
    fresh = [sha for sha in outcome.good if sha not in done]
    tip = _tip(chain, state, earlier)
    line, start = replay(place, chain, earlier, fresh)
    drafts, landed = _drafts(workspace, line.steps[start:], tip, outcome, signature)
    shas = write_commits(place, drafts, chain.at)
    landed = tuple(commit.model_copy(update={"sha": sha}) for commit, sha in zip(landed, shas, strict=True))
    tip = shas[-1] if shas else tip
    parked = _park(workspace, chain, outcome, tip, state, signature)
    if not landed and not parked:
        return Settled(tip=tip)
    if landed:
        state = state.land(tip, landed, outcome.rate)
    state = state.park(parked, outcome.rate)
    _write(workspace, state, state_commit, landed, parked, chain)
    return Settled(tip=tip, landed=landed, parked=parked)


def _tip(chain: Chain, state: State, earlier: Sequence[str]) -> str:
    """Where the next commit of this pass goes: on what landed of it before, else on its base."""
    by_source = {commit.made_from: commit.sha for commit in state.landed}
    return by_source[earlier[-1]] if earlier else chain.base


def _drafts(
    workspace: Workspace,
    steps: Sequence[tuple[Commit, dict[str, Entry]]],
    tip: str,
    outcome: Outcome,
    signature: Signature,
) -> tuple[list[Draft], tuple[Landed, ...]]:
    drafts: list[Draft] = []
    landed: list[Landed] = []
    for commit, entries in steps:
        size = outcome.verified.get(commit.sha, 1)
        verified = "alone" if size == 1 else f"batch of {size}"
        subject, body = clean(f"{commit.subject}\n{commit.body}")
        message = compose(subject, body, _trailers(workspace, commit, signature, verified))
        drafts.append(Draft(message, entries, parent=None if drafts else tip))
        landed.append(
            Landed(
                sha="",
                site=commit.place,
                sites=commit.sites,
                subject=subject,
                verified=verified,
                made_from=commit.sha,
                run=workspace.run,
            )
        )
    return drafts, tuple(landed)


def _trailers(workspace: Workspace, commit: Commit, signature: Signature, gate: str) -> dict[str, str]:
    more = len(commit.sites) - 1
    return {
        "Swathe-Axis": signature.axis,
        "Swathe-Site": commit.place + (f" and {more} more" if more > 0 else ""),
        "Swathe-Run": workspace.run,
        "Swathe-Executor": signature.executor,
        "Swathe-Gate": gate,
        "Swathe-Cost-USD": "0",
    }


def _park(
    workspace: Workspace, chain: Chain, outcome: Outcome, tip: str, state: State, signature: Signature
) -> tuple[Parked, ...]:
    """Write the parked commits anew on the tip, where they can be picked; as they were if they do not fit."""
    known = {parked.made_from for parked in state.parked}
    reasons = {sha: (reason, ()) for sha, reason in outcome.refused.items()}
    reasons |= {blame.commit: ("red", blame.failures) for blame in outcome.bad}
    parked: list[Parked] = []
    for sha, (reason, failures) in reasons.items():
        if sha in known:
            continue
        commit = chain.commit(sha)
        kept = _on_tip(workspace, chain, outcome.good, commit, tip, signature, reason) or sha
        parked.append(_parked(workspace, commit, reason, failures, kept))
    return tuple(parked)


def _parked(
    workspace: Workspace, commit: Commit, reason: str, failures: tuple[Failure, ...], kept: str
) -> Parked:
    return Parked(
        site=commit.place,
        sites=commit.sites,
        subject=clean(commit.subject)[0],
        reason=reason,
        failures=failures,
        ref=f"refs/swathe/{workspace.axis}/parked/{commit.sha[:12]}",
        sha=kept,
        made_from=commit.sha,
        run=workspace.run,
    )


def _on_tip(
    workspace: Workspace,
    chain: Chain,
    good: Sequence[str],
    commit: Commit,
    tip: str,
    signature: Signature,
    reason: str,
) -> str | None:
    line, start = replay(store(workspace), chain, good, (commit.sha,))
    steps = line.steps[start:]
    if not steps:
        return None
    subject, body = clean(f"{commit.subject}\n{commit.body}")
    trailers = _trailers(workspace, commit, signature, "") | {"Swathe-Parked": reason}
    draft = Draft(compose(subject, body, trailers), steps[0][1], parent=tip)
    return write_commits(store(workspace), [draft], chain.at)[0]


def _write(
    workspace: Workspace,
    state: State,
    state_commit: str | None,
    landed: Sequence[Landed],
    parked: Sequence[Parked],
    chain: Chain,
) -> None:
    """Objects first, then branch, state and parked refs in one transaction."""
    refuse_checked_out(workspace)
    place = target_place(workspace)
    branch = object_id(place, workspace.branch)
    why = f"land {len(landed)}, park {len(parked)}"
    (new_state,) = write_commits(store(workspace), [states.draft(state, state_commit, why)], chain.at)
    updates: dict[str, tuple[str, str | None]] = {workspace.state_ref: (new_state, state_commit)}
    if landed:
        updates[workspace.branch] = (landed[-1].sha, branch)
    updates |= {commit.ref: (commit.sha, object_id(place, commit.ref)) for commit in parked}
    send(workspace, [new for new, _ in updates.values()], [workspace.base, chain.base, branch or "", state_commit or ""])
    move_refs(workspace, updates, why)


def save(workspace: Workspace, state: State, why: str, at: int) -> None:
    """Write the state alone: at the end of a run, and when sites were declined."""
    previous = object_id(target_place(workspace), workspace.state_ref)
    (new,) = write_commits(store(workspace), [states.draft(state, previous, why)], at)
    send(workspace, [new], [previous or ""])
    move_refs(workspace, {workspace.state_ref: (new, previous)}, why)
