"""The plan of a review on the terminal, written plainly: it is read before a table would be laid out."""

import sys

from adapters.repository.chunks import Planned
from domain.chunk import Chunk, Plan
from domain.words import counted, printable

MOST_ROWS = 40
MOST_WIDTH = 60


def show(repo: str, planned: Planned, *, as_json: bool) -> None:
    sys.stdout.write(_json(repo, planned) if as_json else _text(repo, planned))


def _text(repo: str, planned: Planned) -> str:
    chunks, skipped, _ = planned.plan
    lines = [_title(repo, planned), ""]
    if chunks:
        lines += _rows(chunks[:MOST_ROWS])
    if len(chunks) > MOST_ROWS:
        lines.append(f"  … and {len(chunks) - MOST_ROWS:,} more; --json lists them all")
    lines += [f"skipped: {counted(count, 'file')}: {reason}" for reason, count in skipped.items()]
    lines.append("Nothing has been changed. For the sites of an axis, add --axis.")
    return "\n".join(lines) + "\n"


def _title(repo: str, planned: Planned) -> str:
    scope = f" (--paths {' '.join(planned.settings.paths)})" if planned.settings.paths else ""
    how = "counted" if planned.counted else "estimated by extension"
    if planned.sampled:
        tokens_seen, percent = planned.sampled
        how += f" ({tokens_seen:,} by a sample, within {percent} %)"
    files, size, tokens = _sums(planned.plan)
    return (
        f"{counted(len(planned.plan.chunks), 'chunk')} of at most {planned.settings.max_tokens:,} tokens in {printable(repo)}"
        f" at {planned.where.commit[:12]}{printable(scope)}: {counted(files, 'file')}, {size:,} bytes, {tokens:,} tokens, {how}"
    )


def _sums(plan: Plan) -> tuple[int, int, int]:
    """How many files, bytes and tokens; a file may be in several parts."""
    files = size = tokens = 0
    taken_apart: set[str] = set()
    for chunk in plan.chunks:
        for path, _, first_line, last_line, part_size, part_tokens in chunk.parts:
            size += part_size
            tokens += part_tokens
            if first_line == 1 and not last_line:
                files += 1
            else:
                taken_apart.add(path)
    return files + len(taken_apart), size, tokens


def _rows(chunks: tuple[Chunk, ...]) -> list[str]:
    names = [printable(chunk.name, MOST_WIDTH) for chunk in chunks]
    width = max(map(len, ("chunk", *names)))
    rows = [f"{'chunk':<{width}}  parts   tokens"]
    for name, chunk in zip(names, chunks, strict=True):
        rows.append(f"{name:<{width}}  {len(chunk.parts):>5,}  {chunk.tokens:>7,}")
    return rows


def _json(repo: str, planned: Planned) -> str:
    """One line, in ASCII: a path whose bytes are not UTF-8 survives the way out."""
    import json

    where, settings, plan, exact, sampled = planned
    said = {
        "repo": repo,
        "commit": where.commit,
        "tree": where.tree,
        "settings": settings._asdict(),
        "digest": plan.digest,
        "tokens": sum(part.tokens for part in plan.parts),
        "counted": exact,
        "sampled": sampled._asdict() if sampled else None,
        "chunks": [
            {
                "name": chunk.name,
                "tokens": chunk.tokens,
                "parts": [part._asdict() for part in chunk.parts],
            }
            for chunk in plan.chunks
        ],
        "skipped": plan.skipped,
    }
    return json.dumps(said) + "\n"
