"""The scope: which paths a run may touch. Globs as in .gitignore, checked at commit time, not advice."""

from collections.abc import Iterable
from functools import lru_cache

import pathspec


@lru_cache(maxsize=64)
def _spec(globs: tuple[str, ...]) -> pathspec.GitIgnoreSpec:
    return pathspec.GitIgnoreSpec.from_lines(globs)


def within(path: str, globs: tuple[str, ...], touched: frozenset[str] | None = None) -> bool:
    """Whether `path` is in the scope. No globs: everything; `touched`: only what a branch touched."""
    if touched is not None and path not in touched:
        return False
    return not globs or _spec(globs).match_file(path)


def select(
    paths: Iterable[str], globs: tuple[str, ...], touched: frozenset[str] | None
) -> frozenset[str]:
    """Those of `paths` that are in the scope."""
    return frozenset(path for path in paths if within(path, globs, touched))
