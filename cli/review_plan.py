"""The plan of a review, as it is asked for. Nothing is imported here that takes longer than a plan."""

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli import checked
from domain.chunk import MAX_TOKENS, WINDOW_PERCENT, Settings, most_tokens
from domain.refusal import Refused

if TYPE_CHECKING:
    from adapters.repository.chunks import Planned


def show(
    repo: str,
    *,
    paths: Sequence[str] = (),
    base: str = "HEAD",
    include_generated: bool = False,
    max_tokens: int = MAX_TOKENS,
    window_tokens: int | None = None,
    window_percent: int = WINDOW_PERCENT,
    exact: bool = False,
    sample: bool = False,
    as_json: bool = False,
    of_an_axis: Sequence[str] = (),
) -> None:
    """Print it. `exact`: as a review goes by it. `sample`: with the tokens by a sample. `of_an_axis`: options that were given and mean nothing without --axis."""
    with _told(repo, as_json=as_json):
        for name in of_an_axis:
            raise Refused(
                f"{name} is of the plan of an axis, and no axis was named. Add --axis, or leave {name} out."
            )
        if sample and exact:
            raise Refused("--exact counts the tokens of every file. Leave --sample out.")
        settings = Settings(
            _budget(max_tokens, window_tokens, window_percent),
            tuple(map(checked.glob, paths)),
            include_generated,
        )
        from adapters.repository import chunks
        from cli import chunk_view

        gc.disable()  # a million small tuples, no cycle among them, and then the process ends
        asked = checked.repository(repo), settings, checked.ref("--base", base)
        planned = _kept(*asked) if exact else chunks.plan_of(*asked)
        if sample:
            from adapters.repository import sampling

            planned = planned._replace(sampled=sampling.sample(planned))
        chunk_view.show(repo, planned, as_json=as_json)


def _kept(repo: str, settings: Settings, base: str) -> "Planned":
    from adapters.repository import kept_chunks

    return kept_chunks.whole(kept_chunks.keep(repo, settings, base))


def _budget(max_tokens: int, window_tokens: int | None, percent: int) -> int:
    checked.positive("--max-review-chunk-tokens", max_tokens)
    if window_tokens is not None:
        checked.positive("--reviewer-window-tokens", window_tokens)
    return most_tokens(max_tokens, window_tokens or 0, percent)


@contextmanager
def _told(repo: str, *, as_json: bool) -> Generator[None]:
    """A refusal as JSON too, where that was asked for."""
    try:
        yield
    except Refused:
        if not as_json:
            raise
        from cli import run

        with run.refusal_as_json(repo, "", as_json=True):
            raise
