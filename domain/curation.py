"""Curating: landed commits grouped into fewer, for whoever reads them. The chain that was proved stays as it is.

A commit goes into an earlier group only if no group after that touches a file of it: then the order of the two does
not matter, and the last tree is the same, byte for byte.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from domain.commit import Commit
from domain.words import counted

Grouping = Literal["item", "directory"]
MOST_SUBJECTS = 50


@dataclass
class Group:
    """Commits that become one."""

    name: str
    commits: list[Commit] = field(default_factory=list[Commit])

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(path for commit in self.commits for path in commit.paths)

    def message(self, axis: str) -> str:
        """A commit that stands alone keeps its own; else a list of what is in it, with the ids of the originals."""
        if len(self.commits) == 1:
            only = self.commits[0]
            return f"{only.subject}\n\n{only.body}".strip() + "\n"
        subjects = [f"- {commit.subject}" for commit in self.commits[:MOST_SUBJECTS]]
        more = len(self.commits) - len(subjects)
        rest = [f"- and {more} more"] if more > 0 else []
        made_of = " ".join(commit.sha[:12] for commit in self.commits)
        head = f"{self.name or 'The root'}: {counted(len(self.commits), 'change')} of {axis}"
        return "\n".join([head, "", *subjects, *rest, "", f"Swathe-Made-Of: {made_of}", ""])


def grouped(commits: Sequence[Commit], name: Callable[[Commit], str]) -> list[Group]:
    """The commits in groups by name, each group where its first commit stood."""
    groups: list[Group] = []
    for commit in commits:
        touched = frozenset(commit.paths)
        home = None
        for group in reversed(groups):
            if group.name == name(commit):
                home = group
                break
            if group.paths & touched:
                break
        if home is None:
            home = Group(name(commit))
            groups.append(home)
        home.commits.append(commit)
    return groups


def directory(commit: Commit) -> str:
    """The folder that holds all that a commit touches."""
    folders = [path.split("/")[:-1] for path in commit.paths]
    common = folders[0] if folders else []
    for parts in folders[1:]:
        same = [a for a, b in zip(common, parts, strict=False) if a == b]
        common = common[: len(same)] if common[: len(same)] == parts[: len(same)] else []
    return "/".join(common)
