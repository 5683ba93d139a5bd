"""How the kept plan of a review holds out over a history: of real commits, and of made edits of a large tree.

All at once: how many chunks there are for the tokens there are, how full they are, whether one is over the budget in
real tokens, and how many chunks an edited file changes.
"""

import random
import statistics
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from adapters import tokens
from adapters.repository import kept_chunks
from adapters.repository.contents import Wanted, read
from adapters.repository.git import Place, git
from adapters.repository.writing import Draft, write_commits
from benchmarks import sdists
from benchmarks.choices import Choices
from benchmarks.repositories import LONG_AGO, place, unpacked
from benchmarks.scratch import scratch
from benchmarks.service import ROOT
from benchmarks.tables import Row, at_least, at_most, show
from domain.chunk import MAX_TOKENS_INLINE, Part, Settings
from domain.chunk_cuts import text_of

COMMITS = 200
RELEASES = ("5.2", *(f"5.2.{patch}" for patch in range(1, 9)))
ENOUGH = 13
"""Chunks needed: with fewer, one more is more than 8 %."""
CHECKED = 10
"""How often the chunks are read and counted again, over a history."""


class Step(NamedTuple):
    """One commit later."""

    chunks: int
    needed: int
    changed_chunks: int
    changed_files: int
    fill: float
    most: int
    """Tokens of the largest chunk, where the chunks were read and counted; else 0."""


def measure(choices: Choices) -> bool:
    home = choices.tree or ROOT
    with scratch() as folder:
        settings = Settings(MAX_TOKENS_INLINE)
        steps = _followed(home, _first_parents(home)[-COMMITS:], settings)
        met = _show(f"{len(steps)} real commits of {home.name}, read inline", steps, settings)
        steps = _followed(*_released(choices, folder), Settings())
        met &= _show(
            f"{len(steps)} commits from Django {RELEASES[0]} to {RELEASES[-1]}, a folder of a release in each",
            steps,
            Settings(),
        )
        large = sdists.repository("Django", choices, folder / "large")
        steps = _edited(large, choices.seed)
        return _show(f"{COMMITS} made edits of Django", steps, Settings()) and met


def _released(choices: Choices, folder: Path) -> tuple[Path, list[str]]:
    """Real edits of a large tree: what each release changed in each folder is a commit."""
    repo = sdists.repository("Django", choices, folder / "releases")
    for version in RELEASES[1:]:
        tree = unpacked(sdists.release(f"Django-{version}", choices), folder / version)
        there = Place(git_dir=repo / ".git", work_tree=tree)
        git(there, "add", "-A", "-f", ".")
        listed = git(there, "diff", "--cached", "--no-renames", "--name-only", "-z").decode()
        git(there, "reset", "-q")
        paths = sorted((path for path in listed.split("\0") if path), key=_folder)
        for where, changed in groupby(paths, key=_folder):
            git(there, "add", "-A", "-f", "--", *changed)
            git(there, "commit", "-q", "-m", f"{version}: {where or 'the root'}")
    return repo, _first_parents(repo)[: COMMITS + 1]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _first_parents(repo: Path) -> list[str]:
    listed = git(place(repo), "rev-list", "--first-parent", "--reverse", "HEAD")
    return listed.decode().split()


def _followed(repo: Path, commits: list[str], settings: Settings) -> list[Step]:
    first = kept_chunks.keep(str(repo), settings, commits[0], anew=True)
    before = _chunks(first)
    steps: list[Step] = []
    for number, (old, new) in enumerate(pairwise(commits)):
        kept = kept_chunks.keep(str(repo), settings, new)
        after = _chunks(kept)
        listed = git(place(repo), "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        planned = {part.path for parts in (*before.values(), *after.values()) for part in parts}
        changed = {path for path in listed.decode().split("\0") if path in planned}
        differing = sum(
            1 for p in {*before, *after} if _shown(before.get(p)) != _shown(after.get(p))
        )
        total = sum(kept.tokens.values())
        needed = -(-total // settings.max_tokens)
        checked = number % (len(commits) // CHECKED + 1) == 0 or new == commits[-1]
        most = _check_real_tokens(repo, after, settings) if checked else 0
        if changed and needed >= ENOUGH:
            fill = total / len(kept.tokens) / settings.max_tokens
            steps.append(Step(len(kept.tokens), needed, differing, len(changed), fill, most))
        before = after
    return steps


def _chunks(kept: kept_chunks.Kept) -> dict[int, tuple[Part, ...]]:
    chunks = kept_chunks.whole(kept).plan.chunks
    return {p: chunk.parts for p, chunk in zip(sorted(kept.tokens), chunks, strict=True)}


def _shown(parts: tuple[Part, ...] | None) -> list[Part]:
    return sorted(parts or ())


def _check_real_tokens(repo: Path, chunks: dict[int, tuple[Part, ...]], settings: Settings) -> int:
    """Read every chunk as it would be sent, and count it whole; the most tokens of one."""
    parts = [part for held in chunks.values() for part in held]
    wanted = {part.blob: Wanted(part.blob, part.path, part.bytes) for part in parts}
    contents = {one.blob: content for one, content in read(place(repo), list(wanted.values()))}
    most = 0
    for held in chunks.values():
        count = tokens.count("".join(text_of(_stretch(contents[part.blob], part)) for part in held))
        if len(held) > 1 or held[0].first_line != held[0].last_line:
            most = max(most, count)
    return most


def _stretch(content: bytes, part: Part) -> bytes:
    if not part.last_line:
        return content
    return b"\n".join(content.split(b"\n")[part.first_line - 1 : part.last_line]) + b"\n"


def _edited(repo: Path, seed: int) -> list[Step]:
    """Edits of one file each: some lines go, some come, now and then a whole file."""
    draw = random.Random(seed)  # noqa: S311 -- draws that can be repeated
    commits = [git(place(repo), "rev-parse", "HEAD").decode().strip()]
    paths = git(place(repo), "ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")
    paths = [path for path in paths if path.endswith((".py", ".txt", ".html", ".js"))]
    for number in range(COMMITS):
        path = draw.choice(paths)
        lines = git(place(repo), "cat-file", "blob", f"{commits[-1]}:{path}").splitlines(
            keepends=True
        )
        at = draw.randrange(len(lines) + 1)
        came = [b"    added = compute(value, %d)\n" % n for n in range(int(draw.expovariate(0.08)))]
        gone = int(draw.expovariate(0.12))
        content = b"".join([*lines[:at], *came, *lines[at + gone :]])
        draft = Draft(f"{number}\n", {path: content or b"\n"}, commits[-1])
        commits += write_commits(place(repo), [draft], LONG_AGO + number)
    return _followed(repo, commits, Settings())


def _show(what: str, steps: list[Step], settings: Settings) -> bool:
    ratios = [step.chunks / step.needed for step in steps]
    changed = sum(s.changed_chunks for s in steps) / sum(s.changed_files for s in steps)
    rows = [
        at_most("chunks for chunks needed, at the end", ratios[-1], 1.08, note=f"{steps[-1].chunks} for {steps[-1].needed}"),
        at_most("the same, at the worst", max(ratios), 1.08),
        at_least("mean fill, at the least", 100 * min(step.fill for step in steps), 85, "{:.0f} %"),
        at_most("chunks that an edited file changes, on average", changed, 1.3),
        Row("of a commit, on average", f"{statistics.mean(s.changed_chunks for s in steps):.1f} chunks, {statistics.mean(s.changed_files for s in steps):.1f} files"),
        at_most("tokens of the largest chunk, read and counted whole", max(s.most for s in steps), settings.max_tokens, "{:,}"),
    ]  # fmt: skip
    return show(what, rows)
