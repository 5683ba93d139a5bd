"""Words of the operator, beside the clones of their target: whoever works there reads them between two steps.

One line for each, in one file for each axis. A run that sets out begins without them; one that is resumed has them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from adapters.models.lines import append, read_lines, write_lines
from adapters.redacting import cleaned
from domain.target import Workspace
from domain.word import Said, Word


def path(workspace: Workspace) -> Path:
    return Path(workspace.home) / f"words-{workspace.axis}.jsonl"


def say(workspace: Workspace, word: Word) -> bool:
    """Leave a word for the run that is on. False: it was left before."""
    word = cleaned(word if word.id else word.model_copy(update={"id": uuid4().hex}))
    if any(known.id == word.id for known in _read(workspace)):
        return False
    append(path(workspace), _plain(word))
    return True


def said(workspace: Workspace) -> Said:
    """All that was said so far."""
    return Said.of(_read(workspace))


def known(workspace: Workspace, word: str) -> bool:
    """Whether a word of this id was said."""
    return any(one.id == word for one in _read(workspace))


def begin(workspace: Workspace) -> None:
    """What was said to a run that is over is not for the next, but for the answer to its question."""
    kept = [word for word in _read(workspace) if word.kept]
    if kept:
        write_lines(path(workspace), map(_plain, kept))
    else:
        forget(workspace)


def forget(workspace: Workspace) -> None:
    """The run is over, and has heard all of it."""
    path(workspace).unlink(missing_ok=True)


def _plain(word: Word) -> dict[str, Any]:
    return word.model_dump(mode="json", exclude_defaults=True)


def _read(workspace: Workspace) -> Iterable[Word]:
    for record in read_lines(path(workspace)):
        try:
            yield Word.model_validate(record)
        except ValidationError:
            continue  # of a newer Swathe
