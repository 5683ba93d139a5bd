"""Sharing a campaign with a remote: what is there is fetched before a run sets out, and what lands is pushed.

The remote is an equal: neither side is ever overwritten. Where both went on, ours is kept aside, under refs of its own.
"""

import os
import shlex
import time
from collections.abc import Mapping
from pathlib import Path

from adapters.repository.discovery import discover
from adapters.repository.git import Place, ask, contains, git, refs
from adapters.repository.landing import (
    Moved,
    archive_of,
    campaign_refs,
    move_refs,
    moved_by_us,
    put_in,
    refuse_checked_out,
)
from adapters.repository.lease import Lease
from adapters.repository.remotes import refs_at, talk
from adapters.repository.workspaces import store, target_place
from domain.sharing import LEASE, NONE, ORIGIN, Course, Delivery, course
from domain.target import Target, Workspace, is_url
from domain.value import Refused
from domain.words import without_credentials

SEEN = "refs/swathe-seen/"
"""In our store: what the remote had when we last looked, or pushed."""
SECONDS_BEFORE_ANOTHER_TRY = (1.0, 4.0)

_leases: dict[str, Lease] = {}


def shared_at(target: Target) -> str | None:
    """The address of the remote; None for a target that is shared with nobody."""
    if target.share in ("", NONE):
        return None
    if is_url(target.share) or Path(target.share).is_absolute():
        return target.share
    if is_url(target.repo):
        if target.share == ORIGIN:
            return target.repo
        raise Refused(
            f"{target.repo!r} has one remote, {ORIGIN!r}, and no {target.share!r} (--share). Give a git URL."
        )
    return _named(target.repo, target.share)


def _named(repo: str, name: str) -> str:
    git_dir, _, top = discover(Path(repo).expanduser())
    _, out, _ = ask(Place(git_dir=git_dir), "config", "--get", f"remote.{name}.url")
    if url := os.fsdecode(out).strip():
        return url if is_url(url) else str(((top or git_dir) / url).resolve())
    _, out, _ = ask(Place(git_dir=git_dir), "remote")
    known = ", ".join(os.fsdecode(out).split()) or "none"
    raise Refused(
        f"no remote {name!r} in {repo!r} to share with (--share). There are: {known}; or give a git URL."
    )


def begin(workspace: Workspace) -> tuple[str, ...]:
    """Hold the remote, and take from it what others did; what is to be known of that. Repeating it has no effect."""
    url = shared_at(workspace.target)
    if url is None or workspace.home in _leases:
        return ()
    place = store(workspace)
    lease = Lease(place, url, workspace.run)
    lease.take(refs_at(place, url, LEASE))
    _leases[workspace.home] = lease
    try:
        return _meet(workspace, lease, _looked(workspace, url))
    except BaseException:
        end(workspace)
        raise


def end(workspace: Workspace) -> None:
    """Let go of the remote."""
    if lease := _leases.pop(workspace.home, None):
        lease.release()


def push(workspace: Workspace) -> Delivery | None:
    """Bring there what it has not, all or nothing. `Moved` when somebody else wrote there; when it can't be reached, that is told."""
    lease = _leases.get(workspace.home)
    if lease is None:
        return None
    updates = missing(workspace)
    status, said = lease.push(updates) if updates else (0, "")
    if status and "stale info" in said:
        there = _looked(workspace, lease.url)
        if any(there.get(ref) != new for ref, (new, _) in updates.items()):
            raise Moved(
                f"somebody else moved a ref of this run at {lease.shown}; nothing was overwritten. "
                f"Run again, and the work goes on from there. ({said})"
            )
        status = 0  # it had come there, and the answer was lost
    if status:
        return _undelivered(workspace, lease, f"{said}.")
    _note(workspace, {ref: new for ref, (new, _) in updates.items()})
    return Delivery(to=lease.shown)


def deliver(workspace: Workspace) -> Delivery | None:
    """The last push of a run, tried again. Whatever comes of it, the run has ended as it has."""
    for seconds in (*SECONDS_BEFORE_ANOTHER_TRY, None):
        try:
            delivery = push(workspace)
        except Refused as refusal:
            return _undelivered(workspace, _leases[workspace.home], str(refusal))
        if seconds is None or delivery is None or not delivery.missing or "reject" in delivery.why:
            return delivery  # what was refused there is refused again
        time.sleep(seconds)
    return None


def _undelivered(workspace: Workspace, lease: Lease, why: str) -> Delivery:
    refs_missing = tuple(sorted(missing(workspace)))
    below = f"refs/swathe/{workspace.axis}/*"
    specs = [f"{ref}:{ref}" for ref in (workspace.branch, below)]
    command = ["git", "--git-dir", workspace.git_dir, "push", "--atomic", lease.shown, *specs]
    return Delivery(to=lease.shown, missing=refs_missing, why=why, command=shlex.join(command))


def missing(workspace: Workspace) -> dict[str, tuple[str, str]]:
    """Refs that the remote has not as we have them: to our id, from the one we last saw there."""
    seen = _seen(workspace)
    return {
        ref: (ours, seen.get(ref, ""))
        for ref, ours in campaign_refs(workspace).items()
        if seen.get(ref) != ours
    }


def _seen(workspace: Workspace) -> dict[str, str]:
    found = refs(store(workspace), *(_mark(ref) for ref in _ours(workspace)))
    return {f"refs/{name.removeprefix(SEEN)}": sha for name, sha in found.items()}


def _mark(ref: str) -> str:
    return f"{SEEN}{ref.removeprefix('refs/')}"


def _ours(workspace: Workspace) -> tuple[str, str]:
    return workspace.branch, f"refs/swathe/{workspace.axis}"


def _note(workspace: Workspace, there: Mapping[str, str]) -> None:
    lines = "".join(f"update {_mark(ref)} {sha}\n" for ref, sha in there.items())
    git(store(workspace), "update-ref", "--no-deref", "--stdin", stdin=lines.encode())


def _looked(workspace: Workspace, url: str) -> dict[str, str]:
    """The refs of the campaign there, fetched into our store."""
    branch, below = _ours(workspace)
    found = refs_at(store(workspace), url, branch, f"{below}/*")
    there = {ref: sha for ref, sha in found.items() if ref == branch or ref.startswith(f"{below}/")}
    seen = _seen(workspace)
    gone = "".join(f"delete {_mark(ref)}\n" for ref in seen if ref not in there)
    git(store(workspace), "update-ref", "--no-deref", "--stdin", stdin=gone.encode())
    specs = [f"+{ref}:{_mark(ref)}" for ref, sha in there.items() if seen.get(ref) != sha]
    if specs:
        status, _, err = talk(
            store(workspace), url, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--",
            url, *specs,
        )  # fmt: skip
        if status:
            raise Refused(f"{without_credentials(url)} could not be fetched: {err}")
    return there


def _meet(workspace: Workspace, lease: Lease, there: dict[str, str]) -> tuple[str, ...]:
    """Go on from what is there. Where both sides went on, ours is kept aside: nothing is lost, nothing forced."""
    ours, (branch, _), state = campaign_refs(workspace), _ours(workspace), workspace.state_ref
    ways = {ref: _course(workspace, ours.get(ref), there.get(ref)) for ref in (state, branch)}
    if ways[branch] == "apart" and ways[state] == "behind":
        # Another worker found all of it taken home by other commits, and began anew from the base.
        ways[branch] = "behind" if archive_of(workspace, ours[branch]) in there else "apart"
    aside: dict[str, str] = {}
    if "apart" in ways.values():
        _refuse_theirs(workspace, lease)
        aside = {
            f"refs/swathe/{workspace.axis}/aside/{ours[ref][:12]}": ours[ref]
            for ref in (state, branch)
            if ref in ours
        }
        ways = dict.fromkeys(ways, "behind")
    taken = {ref: there[ref] for ref, way in ways.items() if way == "behind" and ref in there}
    others = {
        ref: sha
        for ref, sha in there.items()
        if ref not in ways and (state in taken or ref not in ours)
    }
    return _take(workspace, lease, {**taken, **others}, aside, ours)


def _course(workspace: Workspace, ours: str | None, theirs: str | None) -> Course:
    place = store(workspace)
    both = bool(ours and theirs and ours != theirs)
    return course(
        ours,
        theirs,
        ours_in_theirs=both and contains(place, str(ours), str(theirs)),
        theirs_in_ours=both and contains(place, str(theirs), str(ours)),
    )


def _take(
    workspace: Workspace,
    lease: Lease,
    theirs: Mapping[str, str],
    aside: Mapping[str, str],
    ours: Mapping[str, str],
) -> tuple[str, ...]:
    wanted = {**theirs, **aside}
    updates = {ref: (sha, ours.get(ref)) for ref, sha in wanted.items() if ours.get(ref) != sha}
    if not updates:
        return ()
    if workspace.branch in updates:
        refuse_checked_out(workspace)
    put_in(workspace, [new for new, _ in updates.values()], [workspace.base, *ours.values()])
    move_refs(workspace, updates, "from the remote")
    notes = [f"the work goes on from what {lease.shown} has of it."] if theirs else []
    if aside:
        kept = ", ".join(sorted(aside))
        notes.append(
            f"here and at {lease.shown} the work had gone different ways. What was here alone is kept as {kept}."
        )
    return tuple(notes)


def _refuse_theirs(workspace: Workspace, lease: Lease) -> None:
    """A branch that its owner moved is theirs to bring together."""
    if moved_by_us(target_place(workspace), workspace.branch):
        return
    name = workspace.branch.removeprefix("refs/heads/")
    here = campaign_refs(workspace).get(workspace.branch, "")[:12]
    raise Refused(
        f"{name!r} is at {here} here, where somebody else moved it, and has gone another way at {lease.shown}. "
        f"Bring the two together (`git fetch {lease.shown} {name}`, then merge or reset), and run again."
    )
