"""The judge: asserts after every kill, and at the end, what must hold of a campaign's repository.

Independent of what it judges: plain git by subprocess, the gate's rule written down a second time, the
gate's own log. Nothing of Swathe is imported.
"""

import fcntl
import hashlib
import io
import json
import os
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ground import FIRST_LINE, Ground

Tree = dict[str, bytes]
SECONDS_TO_GO = 1.0
"""All processes of a dead engine are gone by then (cases.md, S8)."""
KNOWN = {
    *(
        "store.git",
        "agent",
        "agent.git",
        "agent-1",
        "agent-1.git",
        "agent-2",
        "agent-2.git",
        "gate",
        "gate.index",
        "gate.keep",
        "gate.tags",
    ),
    *("envs", "runs", "verdicts", "lock", "scratch", "caches"),
}
"""What may lie in the folder of a campaign that is over."""
RECORD = "%H%x00%T%x00%P%x00%s%x00%(trailers:key=Swathe-Site,valueonly,separator=)%x00%(trailers:key=Swathe-Gate,valueonly,separator=)%x01"

_trees: dict[str, Tree] = {}


@dataclass(frozen=True)
class Landed:
    """A commit on the landing branch."""

    sha: str
    tree: str
    parents: str
    subject: str
    site: str
    gate: str


@dataclass
class Checker:
    """What is known of a campaign from the outside, and what is wrong with it."""

    ground: Ground
    calm: "Fate | None" = None
    """How the same campaign ends when nobody disturbs it."""
    tip: str = ""
    landed: list[Landed] = field(default_factory=list["Landed"])

    def after_kill(self) -> list[str]:
        """What is wrong while nobody has recovered yet: state and branch may be one step apart."""
        refs = self._refs()
        state = self._state(refs)
        found = [*self._history(refs), *self._fsck()]
        tip = refs.get(self.ground.branch, "")
        if state and tip != state["tip"] and not self._leads(tip, state["tip"]):
            found.append(f"the state names {state['tip'][:12]}, the branch is at {tip[:12]}")
        return found

    def at_end(self) -> list[str]:
        """What is wrong when a run came to its end by itself."""
        refs = self._refs()
        found = [*self._history(refs), *self._fsck(), *self._agreement(refs), *self._left()]
        found += [f"the processes {gone} are left" for gone in [self.wait_for_silence()] if gone]
        came = self.fate()
        found += [
            f"it ended with an open blocker: {one}"
            for one in came.reviewed
            if one.endswith(" open")
        ]
        found += self._listed(self._state(refs) or {})
        return found + (self.calm.differs_from(came) if self.calm else [])

    def _listed(self, state: dict[str, Any]) -> list[str]:
        """What is wrong with the work-list of a sweep that is over: every item ended once, landed ones by a commit."""
        items = (state.get("worklist") or {}).get("items", [])
        ended = Counter(item["ended"] for item in items)
        found = [f"item {item['id']} has not ended" for item in items if not item["ended"]]
        if items and ended["landed"] != len(self.landed):
            found.append(f"{ended['landed']} items landed, and {len(self.landed)} commits did")
        ids = [item["id"] for item in items]
        return found + (["an item is listed twice"] if len(set(ids)) < len(ids) else [])

    def fate(self) -> "Fate":
        """What came of it."""
        refs = self._refs()
        return fate(self.ground, refs, self._state(refs))

    def wait_for_silence(self) -> list[str]:
        """Wait until no process of the campaign is left, as long as it may take; those that are then."""
        deadline = time.monotonic() + SECONDS_TO_GO
        while found := processes_of(self.ground):
            if time.monotonic() > deadline:
                return found
            time.sleep(0.005)
        return []

    def _refs(self) -> dict[str, str]:
        rows = self.ground.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(row.split() for row in rows)

    def _state(self, refs: dict[str, str]) -> dict[str, Any] | None:
        if self.ground.state not in refs:
            return None
        return json.loads(self.ground.git("show", f"{refs[self.ground.state]}:state.json"))

    def _leads(self, tip: str, later: str) -> bool:
        """Whether the branch can go on from `tip` to `later`."""
        return not tip or self.ground.ask("merge-base", "--is-ancestor", tip, later)[0] == 0

    def _history(self, refs: dict[str, str]) -> list[str]:
        """Landed only grows, on the base; nothing twice; a green gate for every tree."""
        if refs.get("refs/heads/main") != self.ground.base:
            return ["the owner's branch was moved"]
        tip = refs.get(self.ground.branch, "")
        if self.tip and not tip:
            return [f"the landing branch is gone; it was at {self.tip[:12]}"]
        if not tip:
            return []
        before, self.tip = self.tip, tip
        self.landed = self._chain(tip)
        shas = {commit.sha for commit in self.landed}
        found = (
            [f"{before[:12]} had landed, and is not on the branch any more"]
            if before and before not in shas
            else []
        )
        return [*found, *self._twice(), *self._gated()]

    def _chain(self, tip: str) -> list[Landed]:
        text = self.ground.git(
            "log", "--reverse", f"--format={RECORD}", f"{self.ground.base}..{tip}"
        )
        return [
            Landed(*record.strip().split("\0")) for record in text.split("\x01") if record.strip()
        ]

    def _twice(self) -> list[str]:
        found: list[str] = []
        above, standing = self.ground.base, self.ground.base_tree
        patches: Counter[object] = Counter()
        for commit in self.landed:
            if commit.parents != above:
                found.append(f"{commit.sha[:12]} is not on {above[:12]}")
            old, new = self._tree(standing), self._tree(commit.tree)
            patch = frozenset(
                (path, new.get(path)) for path in {*old, *new} if old.get(path) != new.get(path)
            )
            if not patch:
                found.append(f"{commit.sha[:12]} changes nothing")
            patches[patch] += 1
            above, standing = commit.sha, commit.tree
        found += [f"the same change landed {n} times" for n in patches.values() if n > 1]
        sites = Counter((commit.site, commit.subject) for commit in self.landed)
        return found + [f"{site} landed {n} times" for site, n in sites.items() if n > 1]

    def _gated(self) -> list[str]:
        """Each tree is right by the rule, and the gate was seen to say so of the tree that ends each batch."""
        found = [
            f"{commit.sha[:12]} ({commit.subject}) is red"
            for commit in self.landed
            if not green(self._tree(commit.tree), self.ground.needles)
        ]
        seen = self._seen_green()
        at = 0
        while at < len(self.landed):
            batch = self.landed[at : at + _size(self.landed[at].gate)]
            last = batch[-1]
            if {commit.gate for commit in batch} != {last.gate} or len(batch) < _size(last.gate):
                found.append(f"{last.sha[:12]}: {last.gate}, and not all of them are there")
            if sums_of(self._tree(last.tree)) not in seen:
                found.append(f"{last.sha[:12]} landed, and no gate was green on its tree")
            at += len(batch)
        return found

    def _seen_green(self) -> set[str]:
        path = self.ground.tools / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        return {line.partition(" ")[2] for line in lines if line.startswith("0 ")}

    def _tree(self, tree: str) -> Tree:
        if tree not in _trees:
            _, packed = self.ground.ask("archive", "--format=tar", tree)
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                files = {entry.name: archive.extractfile(entry) for entry in archive}
                _trees[tree] = {name: file.read() for name, file in files.items() if file}
        return _trees[tree]

    def _fsck(self) -> list[str]:
        status, said = self.ground.ask("fsck", "--strict", "--no-dangling", "--no-progress")
        return [f"git fsck: {said.decode(errors='replace')[:300]}"] if status or said else []

    def _agreement(self, refs: dict[str, str]) -> list[str]:
        """State and refs say the same, and nothing that was parked is lost."""
        state = self._state(refs)
        if state is None:
            return ["there is no state"] if self.ground.branch in refs else []
        found: list[str] = []
        if state["tip"] != refs.get(self.ground.branch, ""):
            found.append(
                f"the state's tip is {state['tip'][:12]}, the branch {refs.get(self.ground.branch)}"
            )
        if [commit["sha"] for commit in state["landed"]] != [commit.sha for commit in self.landed]:
            found.append("the state does not list what is on the branch")
        parked = {commit["ref"]: commit["sha"] for commit in state["parked"]}
        kept = {ref: sha for ref, sha in refs.items() if ref.startswith(self.ground.parked)}
        found += [f"parked, and lost: {ref}" for ref in parked if kept.get(ref) != parked[ref]]
        found += [f"a ref that no state knows: {ref}" for ref in kept if ref not in parked]
        others = refs.keys() - kept - {"refs/heads/main", self.ground.branch, self.ground.state}
        return found + [f"a temporary ref is left: {ref}" for ref in others]

    def _left(self) -> list[str]:
        """Locks, drafts, clones and temporary files that outlive the run."""
        ground, home = self.ground, self.ground.campaign_home
        found = [*ground.target.rglob("*.lock"), *ground.temporary.iterdir()]
        for pattern in ("*.lock", "*.draft", "tmp_*"):
            found += [path for path in ground.home.rglob(pattern) if not _in_checkout(path)]
        if len(list(ground.home.glob("targets/*"))) > 1:
            found += ground.home.glob("targets/*")
        if home:
            found += [path for path in home.iterdir() if path.name not in KNOWN]
        said = [f"left behind: {path.relative_to(ground.room)}" for path in found]
        if home and (holder := lock_is_held(home / "lock")):
            said.append(f"the lock is held: {holder}")
        status, changed = ground.ask("status", "--porcelain")
        return [*said, f"the owner's files: {changed.decode()}"] if status or changed else said


@dataclass(frozen=True)
class Fate:
    """What came of a campaign, in what does not depend on when it was interrupted."""

    tree: str
    landed: frozenset[str]
    parked: frozenset[str]
    reviewed: frozenset[str] = frozenset()
    """Of a review: what was found clean as it is now, by whom; and what was left to a person."""

    def differs_from(self, other: "Fate") -> list[str]:
        told = {
            "final tree": (self.tree, other.tree),
            "landed": (sorted(self.landed), sorted(other.landed)),
            "parked": (sorted(self.parked), sorted(other.parked)),
            "reviewed": (sorted(self.reviewed), sorted(other.reviewed)),
        }
        return [f"{what}: {a} undisturbed, {b} here" for what, (a, b) in told.items() if a != b]


def fate(ground: Ground, refs: dict[str, str], state: dict[str, Any] | None) -> Fate:
    tip = refs.get(ground.branch, ground.base)
    state = state or {"landed": (), "parked": ()}
    return Fate(
        tree=ground.git("rev-parse", f"{tip}^{{tree}}").strip(),
        landed=frozenset(f"{commit['site']} {commit['subject']}" for commit in state["landed"]),
        parked=frozenset(f"{commit['site']} {commit['reason']}" for commit in state["parked"]),
        reviewed=frozenset(_reviewed(ground, tip, state.get("review") or {})),
    )


def _reviewed(ground: Ground, tip: str, review: dict[str, Any]) -> Iterator[str]:
    """Of the contents at the tip. A blocker that is open there is told, too: no run may end well with one."""
    now = {row.split("\t")[1]: row.split()[2] for row in ground.git("ls-tree", tip).splitlines()}
    for path, marks in review.get("clean", {}).items():
        yield from (f"{path} clean to {'+'.join(mark['families'])}" for mark in marks)
    for kind in ("open", "pushbacks"):
        for one in review.get(kind, ()):
            path, line = one["blocker"]["path"], one["blocker"]["line"]
            if now.get(path) == one["blob"]:
                yield f"{path}:{line} {kind}"


def green(tree: Tree, needles: Mapping[str, str]) -> bool:
    """The gate's rule, once more."""
    return all(
        text.decode().splitlines()[:1] == [FIRST_LINE] and needles.get(name, "") in text.decode()
        for name, text in tree.items()
    )


def sums_of(tree: Tree) -> str:
    """What the gate writes into its log of a tree."""
    return " ".join(f"{hashlib.sha1(tree[name]).hexdigest()} {name}" for name in sorted(tree))  # noqa: S324


def _in_checkout(path: Path) -> bool:
    """In the `.git` that whoever works in a checkout is given: laid anew before each use, and read by nobody of ours."""
    return ".git" in path.parts


def _size(gate: str) -> int:
    """Of the batch: `alone`, `batch of 4`."""
    return int(gate.rpartition(" ")[2]) if gate.startswith("batch") else 1


def lock_is_held(path: Path) -> str:
    """Who holds the campaign lock, or nothing."""
    if not path.exists():
        return ""
    with path.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return handle.read() or "somebody"
    return ""


def processes_of(ground: Ground) -> list[str]:
    """Every process that works in the room, as `<pid> <command>`: by its environment, its words, its folder."""
    mark = os.fsencode(ground.room)
    found: list[str] = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        told = b""
        for name in ("environ", "cmdline"):
            try:
                told += Path(entry.path, name).read_bytes() + b"\0"
            except OSError:
                break
        with suppress(OSError):
            told += os.fsencode(Path(entry.path, "cwd").readlink())
        if mark in told:
            words = told.split(b"\0")
            found.append(f"{entry.name} {b' '.join(words[-12:])[-120:].decode(errors='replace')}")
    return found
