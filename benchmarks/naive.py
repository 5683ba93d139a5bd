"""The naive loop: fix one site, run the gate, `git commit` or take it back."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.repository.git import Place, git
from benchmarks.fields import Field
from benchmarks.repositories import place, shell
from domain.change import Change

SLICE = 20
"""Sites of a loop that is not run whole."""


@dataclass(frozen=True)
class Naive:
    """What the loop cost for some of the sites."""

    sites: int
    gate_seconds: float
    commit_seconds: float

    @property
    def gate(self) -> float:
        """Seconds of one gate run."""
        return self.gate_seconds / self.sites

    @property
    def commit(self) -> float:
        """Seconds of one `git add && git commit`."""
        return self.commit_seconds / self.sites

    def whole(self, sites: int) -> float:
        """Seconds for so many sites, extrapolated when not all were done."""
        return (self.gate + self.commit) * sites

    def how(self, sites: int) -> str:
        return "run whole" if self.sites == sites else f"{self.sites} sites timed, extrapolated"


def loop(field: Field, command: str, folder: Path, most: int | None = None) -> Naive:
    """Run the loop in a clone of its own, on the first `most` sites."""
    clone = cloned(field.repo, folder)
    gates = commits = 0.0
    chosen = field.changes[:most]
    for number, change in enumerate(chosen):
        (clone / change.path).write_bytes(change.content or b"")
        began = time.perf_counter()
        green = shell(command, clone).ok
        gated = time.perf_counter()
        assert green == (change.path not in field.bad)
        last = f"git add -- '{change.path}' && git commit -q -m 'Fix {number}'"
        assert shell(last if green else f"git checkout -q -- '{change.path}'", clone).ok
        gates += gated - began
        commits += time.perf_counter() - gated
    return Naive(len(chosen), gates, commits)


def commits_alone(clone: Path, changes: Sequence[Change], folder: Path) -> float:
    """Seconds of one `git add && git commit`, in one shell for all, so that nothing of ours is counted."""
    folder.mkdir()
    lines = ["set -e"]
    for number, change in enumerate(changes):
        (folder / str(number)).write_bytes(change.content or b"")
        lines += [
            f"cp '{folder / str(number)}' '{change.path}'",
            f"git add -- '{change.path}' && git commit -q -m 'Fix {number}'",
        ]
    script = folder / "loop.sh"
    script.write_text("\n".join(lines) + "\n")
    began = time.perf_counter()
    done = shell(["sh", str(script)], clone)
    assert done.ok, done.output
    return (time.perf_counter() - began) / len(changes)


def cloned(repo: Path, folder: Path) -> Path:
    """A clone with a work tree and a fresh index, as a person has it."""
    clone = folder / "clone"
    there = place(clone)
    git(Place(git_dir=clone / ".git"), "init", "-q", "--initial-branch=main", str(clone))
    (clone / ".git/objects/info/alternates").write_text(f"{repo / '.git/objects'}\n")
    base = git(place(repo), "rev-parse", "main").decode().strip()
    git(there, "update-ref", "refs/heads/main", base)
    git(there, "read-tree", "--reset", "-u", base)
    git(there, "status", "--porcelain")
    return clone
