"""Words of the operator, beside the clones of their target: whoever works there reads them between two steps.

One line for each, in one file for each axis. A run that sets out begins without them; one that is resumed has them.
"""

from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from adapters.models.lines import append, read_lines
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
    append(path(workspace), word.model_dump(mode="json", exclude_defaults=True))
    return True


def said(workspace: Workspace) -> Said:
    """All that was said so far."""
    return Said.of(_read(workspace))


def forget(workspace: Workspace) -> None:
    """What was said to a run that is over is not for the next."""
    path(workspace).unlink(missing_ok=True)


def _read(workspace: Workspace) -> Iterable[Word]:
    for record in read_lines(path(workspace)):
        try:
            yield Word.model_validate(record)
        except ValidationError:
            continue  # of a newer Swathe
