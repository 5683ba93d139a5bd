"""The plan of a review, from git's listing of a tree: sizes are git's, and no file is read for it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from adapters.repository.attributes import marks, rules_of
from adapters.repository.hardened import GitFailed
from adapters.repository.listing import Located, entries, listing, located
from domain.chunk import Plan, Settings
from domain.chunk_packing import planned
from domain.chunk_skips import Sieve, sift
from domain.refusal import Refused

if TYPE_CHECKING:
    from domain.chunk_sample import Sampled  # with `statistics`, which a plan has no use for


class Planned(NamedTuple):
    """A plan, and the commit it is of."""

    where: Located
    settings: Settings
    plan: Plan
    counted: bool = False
    """Whether every token of it was counted; else they are estimated."""
    sampled: "Sampled | None" = None
    """What a sample says of all of it, where one was taken."""


def plan_of(repo: str, settings: Settings, base: str = "HEAD") -> Planned:
    """The plan of a commit, as anybody with the same repository and settings makes it."""
    where = opened(repo, base)
    text = listed_files(repo, base, where)
    rules = rules_of(where.place, text)
    found = marks(where.place, rules, (path for *_, path in entries(text)))
    sieve = Sieve(scope(settings), found, include_generated=settings.include_generated)
    plan = planned(sift(entries(text), sieve), settings)
    refuse_nothing(repo, settings, plan.skipped if not plan.chunks else None)
    return Planned(where, settings, plan)


def refuse_nothing(repo: str, settings: Settings, skipped: Mapping[str, int] | None) -> None:
    """An empty plan would be read to its end at once. None: it is not empty."""
    if skipped is None:
        return
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
    if settings.paths:
        raise Refused(
            f"no file of {repo!r} that can be reviewed matches --paths {' '.join(map(repr, settings.paths))} "
            f"(skipped: {reasons or 'none'}). Globs are read as in .gitignore, from the root: 'src/**'."
        )
    raise Refused(
        f"{repo!r} has no file to review (skipped: {reasons or 'none'}). "
        f"Generated and vendored ones are read with --include-generated."
    )


def opened(repo: str, base: str) -> Located:
    return located(repo, base) or _looked_closer(repo, base)


def listed_files(repo: str, base: str, where: Located) -> str:
    try:
        return listing(where.place, where.tree)
    except GitFailed:
        _looked_closer(repo, base)  # a partial clone is refused there, with what to do
        raise


def _looked_closer(repo: str, base: str) -> Located:
    """By the way that every run takes: mirrors, and all that can be wrong with a repository."""
    from adapters.repository.git import tree_of  # noqa: PLC0415 -- GitPython is for the odd case
    from adapters.repository.opening import open_target  # noqa: PLC0415
    from domain.target import Target  # noqa: PLC0415

    workspace = open_target(Target(repo=repo, base=base), "review", "plan")
    git_dir = workspace.git_dir
    where = Located(git_dir, workspace.base, "")
    return where._replace(tree=tree_of(where.place, workspace.base))


def scope(settings: Settings) -> Callable[[str], bool] | None:
    if not settings.paths:
        return None
    from domain.scope import within  # noqa: PLC0415 -- its library takes as long as a plan

    return lambda path: within(path, settings.paths)
