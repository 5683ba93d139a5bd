"""The plan of a review, from git's listing of a tree: sizes are git's, and no file is read for it."""

from collections.abc import Callable
from typing import NamedTuple

from adapters.repository.attributes import marks
from adapters.repository.hardened import GitFailed
from adapters.repository.listing import Located, entries, listing, located
from domain.chunk import Plan, Settings
from domain.chunk_packing import planned
from domain.chunk_skips import Sieve, sift
from domain.refusal import Refused


class Planned(NamedTuple):
    """A plan, and the commit it is of."""

    where: Located
    settings: Settings
    plan: Plan


def plan_of(repo: str, settings: Settings, base: str = "HEAD") -> Planned:
    """The plan of a commit, as anybody with the same repository and settings makes it."""
    where = located(repo, base) or _opened(repo, base)
    try:
        text = listing(where.place, where.tree)
    except GitFailed:
        _opened(repo, base)  # a partial clone is refused there, with what to do
        raise
    found = marks(where.place, text, (path for *_, path in entries(text)))
    sieve = Sieve(_scope(settings), found, include_generated=settings.include_generated)
    plan = planned(sift(entries(text), sieve), settings)
    _refuse_nothing(repo, settings, plan)
    return Planned(where, settings, plan)


def _refuse_nothing(repo: str, settings: Settings, plan: Plan) -> None:
    """An empty plan would be read to its end at once."""
    if plan.chunks:
        return
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in plan.skipped.items())
    if settings.paths:
        raise Refused(
            f"no file of {repo!r} that can be reviewed matches --paths {' '.join(map(repr, settings.paths))} "
            f"(skipped: {reasons or 'none'}). Globs are read as in .gitignore, from the root: 'src/**'."
        )
    raise Refused(
        f"{repo!r} has no file to review (skipped: {reasons or 'none'}). "
        f"Generated and vendored ones are read with --include-generated."
    )


def _opened(repo: str, base: str) -> Located:
    """By the way that every run takes: mirrors, and all that can be wrong with a repository."""
    from adapters.repository.git import tree_of  # noqa: PLC0415 -- GitPython is for the odd case
    from adapters.repository.opening import open_target  # noqa: PLC0415
    from domain.target import Target  # noqa: PLC0415

    workspace = open_target(Target(repo=repo, base=base), "review", "plan")
    git_dir = workspace.git_dir
    where = Located(git_dir, workspace.base, "")
    return where._replace(tree=tree_of(where.place, workspace.base))


def _scope(settings: Settings) -> Callable[[str], bool] | None:
    if not settings.paths:
        return None
    from domain.scope import within  # noqa: PLC0415 -- its library takes as long as a plan

    return lambda path: within(path, settings.paths)
