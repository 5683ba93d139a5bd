"""The tokens of a plan, from a sample of its contents: a few hundred places are read instead of every file."""

from collections import defaultdict

from adapters import tokens
from adapters.repository.chunks import Planned
from adapters.repository.contents import Wanted, read
from domain.chunk import Part
from domain.chunk_cuts import text_of
from domain.chunk_sample import PLACES, Sampled, Window, drawn, sampled
from domain.skipped import skipped_by_content


def sample(planned: Planned, seed: str = "", places: int = PLACES) -> Sampled:
    """The same for a tree, unless another seed is given."""
    parts = _whole_files(planned)
    windows = defaultdict[str, list[Window]](list)
    for window in drawn(parts, seed or planned.where.tree, places):
        windows[window.part.blob].append(window)
    firsts = [found[0].part for found in windows.values()]
    wanted = [Wanted(part.blob, part.path, part.bytes) for part in firsts]
    counted: list[tuple[Window, int]] = []
    for one, content in read(planned.where.place, wanted):
        text = skipped_by_content(one.path, content) is None
        for window in windows[one.blob]:
            stretch = content[window.start : window.start + window.bytes]
            counted.append((window, tokens.count(text_of(stretch)) if text else 0))
    return sampled(parts, counted)


def _whole_files(planned: Planned) -> list[Part]:
    """A file that was cut into slices, as one again: a place is drawn in all of it."""
    files: dict[str, Part] = {}
    for part in planned.plan.parts:
        before = files.get(part.path)
        if before:
            part = part._replace(  # noqa: PLW2901
                bytes=before.bytes + part.bytes, tokens=before.tokens + part.tokens
            )
        files[part.path] = part
    return list(files.values())
