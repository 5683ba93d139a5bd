"""A review by rules: the families that need no key. They read all of a chunk, and mend what a fix is known for."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from adapters.catalogue import REVIEWERS, read_catalogue
from adapters.executors import passes
from domain.axis import Engine
from domain.blocker import Blocker
from domain.chunk import Chunk
from domain.commit import Chain
from domain.site import Site
from domain.survey import Brief
from domain.target import Workspace
from domain.verdict import Engagement, Verdict


def review(workspace: Workspace, tip: str, family: str, chunk: Chunk) -> tuple[Verdict, Engagement]:
    """What the rules of a family find in a chunk. They see all of it, whatever the rules make of it."""
    paths = tuple(dict.fromkeys(part.path for part in chunk.parts))
    sites = passes.told(workspace, engine_of(family), tip, frozenset(paths))
    blockers = _blockers(family, [site for site in sites if _within(chunk, site)])
    verdict = Verdict(family=family, approved=not blockers, blockers=blockers, files_reviewed=paths)
    return verdict, Engagement.of_all(chunk)


def mend(workspace: Workspace, family: str, brief: Brief) -> Chain:
    """One commit for each finding in the files of the brief that has a fix; the others are told one by one elsewhere."""
    chain = passes.make(workspace, engine_of(family), brief)
    return chain.model_copy(update={"notes": ()})


def families() -> tuple[str, ...]:
    """The names of those that review by rules, in their order."""
    return tuple(_engines())


def engine_of(family: str) -> Engine:
    return _engines()[family]


@cache
def _engines() -> dict[str, Engine]:
    return {name: entry.engine for name, entry in read_catalogue(REVIEWERS).items()}


def _blockers(family: str, sites: Sequence[Site]) -> tuple[Blocker, ...]:
    """All that is said of one line makes one blocker."""
    lines = defaultdict[tuple[str, int], list[Site]](list)
    for site in sites:
        lines[site.path, site.line].append(site)
    return tuple(
        Blocker(
            path=path,
            line=line,
            why="; ".join(f"{site.rule} {site.message}".strip() for site in found),
            how_to_tell=f"{family} says so",
        )
        for (path, line), found in sorted(lines.items())
    )


def _within(chunk: Chunk, site: Site) -> bool:
    return any(
        part.path == site.path
        and part.first_line <= site.line
        and (not part.last_line or site.line <= part.last_line)
        for part in chunk.parts
    )
