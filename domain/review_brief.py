"""What a review and its fix are told: one chunk, what was said of it before, and nothing that is stale."""

from collections.abc import Collection, Iterable, Sequence

from domain.blocker import OpenBlocker, Pushback
from domain.brief import axis_line, joined, listed
from domain.chunk import Chunk, Part
from domain.value import Value
from domain.words import counted, printable

INDEX = ".git/swathe-chunk.md"
"""In the agent's clone, where git sees no file of the repository."""
MOST_AREAS = 20
MOST_NEWS = 20
"""Files that are named in the prompt, so that nobody has to open the index for them."""
CLEAN = "## Found clean, and unchanged since. Open one only where a file above depends on it."
DEFECTS = (
    "whatever is wrong: defects in behaviour, security, loss of data, broken contracts between "
    "callers and callees. Style and taste are notes at most."
)
"""The axis of a review that was given none."""


class ReviewBrief(Value):
    """What the reviewer of one chunk is told."""

    axis: str
    """Empty: whatever is wrong."""
    chunk: str
    """Its name."""
    nth: int
    """From 1."""
    of: int
    files: int
    tokens: int
    source: str = ""
    """The chunk itself, where it stands in the prompt; empty: it is read with the tools."""
    news: tuple[str, ...] = ()
    """Places to look at, with their tokens, where the rest of the chunk is clean as it is; empty: all of it."""
    areas: tuple[str, ...] = ()
    pushbacks: tuple[Pushback, ...] = ()
    """Of fixers, on the content that the chunk has now."""
    blockers: tuple[OpenBlocker, ...] = ()
    """Raised before, and neither mended nor withdrawn."""

    @property
    def words(self) -> str:
        where = (
            f"Chunk {self.nth} of {self.of}, `{printable(self.chunk)}`: {counted(self.files, 'file')}, about "
            f"{self.tokens:,} tokens."
        )
        how = (
            "It stands below, whole, every line with its number."
            if self.source
            else f"Its files are listed in `{INDEX}`. Open them with `read`."
        )
        return joined(
            [
                "PHASE: review",
                axis_line(self.axis) if self.axis else f"Axis: {DEFECTS}",
                f"{where} {how}",
                listed(
                    f"Only this is new in it; what else `{INDEX}` lists was found clean, and is unchanged since:",
                    self.news,
                ),
                listed("Looked at before:", self.areas[-MOST_AREAS:], last=True),
                listed(
                    "Answered by a fixer. Do not raise one again, unless you have new evidence, and say which:",
                    [_answered(one) for one in self.pushbacks],
                    sanitise=_block,
                ),
                listed(
                    "Raised before and still open. Where it still holds, raise it again; where it does not, leave it out:",
                    [_raised(one) for one in self.blockers],
                    sanitise=_block,
                ),
                self.source,
            ]
        )


def index_of(chunk: Chunk, news: Collection[str]) -> str:
    """The index file of a chunk: paths, lines and tokens. Apart from `news`: what was found clean as it is."""
    new = [_row(part) for part in chunk.parts if part.path in news]
    old = [_row(part) for part in chunk.parts if part.path not in news]
    known = [CLEAN, "", *old, ""] if old else []
    return "\n".join([f"# {chunk.name}", "", *new, "", *known])


def news_of(chunk: Chunk, news: Collection[str]) -> tuple[str, ...]:
    """The rows of the index that a reviewer is pointed at, where they are few and not all."""
    new = [part for part in chunk.parts if part.path in news]
    few = len(new) <= MOST_NEWS and len(new) < len(chunk.parts)
    return tuple(_told(part) for part in new) if few else ()


def _row(part: Part) -> str:
    return f"- {_told(part)}"


def _told(part: Part) -> str:
    return f"{_shown(part)} (about {part.tokens:,} tokens)"


def place_of(part: Part) -> str:
    """A file, or a stretch of its lines, as people name it."""
    if part.first_line <= 1 and not part.last_line:
        return part.path
    return f"{part.path}:{part.first_line}-{part.last_line or ''}"


def fixing(axis: str, blockers: Iterable[OpenBlocker]) -> str:
    """What a fix phase is told. The axis stands in it: a finding applied by its letter can undo the axis."""
    return joined(
        [
            "PHASE: fix",
            axis_line(axis) if axis else f"Axis: {DEFECTS}",
            listed(
                "Mend each of these in a commit of its own, with the smallest change that settles it, or refuse it "
                "with your reasons:",
                [_raised(one) for one in blockers],
                sanitise=_block,
            ),
        ]
    )


def _shown(part: Part) -> str:
    return printable(place_of(part))


def _raised(one: OpenBlocker) -> str:
    blocker = one.blocker
    rows = [f"{blocker.path}:{blocker.line} {blocker.why}"]
    rows += [f"how to tell: {blocker.how_to_tell}"] if blocker.how_to_tell else []
    rows += [f"tried, and: {one.tried}"] if one.tried else []
    return "\n".join(rows)


def _answered(one: Pushback) -> str:
    return f"{one.blocker.path}:{one.blocker.line} {one.blocker.why}\nthe answer: {one.why}"


def _block(text: str) -> str:
    """Several lines, each printable, the later ones indented."""
    return "\n    ".join(printable(line) for line in _lines(text))


def _lines(text: str) -> Sequence[str]:
    return text.splitlines() or [""]
