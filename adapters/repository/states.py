"""The state of a campaign in git: the only file in the tree of a commit at `refs/swathe/<axis>/state`."""

import io

from adapters.redacting import cleaned
from adapters.repository.git import Place, git, refs
from adapters.repository.writing import Draft
from domain.state import State, read, way_out, written
from domain.value import Refused

FILE = "state.json"


def load(place: Place, ref: str) -> tuple[State | None, str | None]:
    """The state and the commit that holds it; None for a campaign that never ran."""
    asked = f"{ref}^{{commit}}"
    told = io.BytesIO(
        git(place, "cat-file", "--batch", stdin=f"{asked}\n{asked}:{FILE}\n".encode())
    )
    commit, _ = _object(told)
    if commit is None:
        if ref in refs(place, ref):
            raise Refused(f"{ref} names no commit, so it is no state of ours. {way_out(ref)}")
        return None, None
    blob, text = _object(told)
    if blob is None:
        raise Refused(
            f"the commit at {ref} has no {FILE}, so it is no state of ours. {way_out(ref)}"
        )
    return read(text, ref), commit


def _object(told: io.BytesIO) -> tuple[str | None, bytes]:
    """The next answer of `cat-file --batch`: an object's id and its content."""
    row = told.readline().split()
    if len(row) != 3 or not row[2].isdigit():  # noqa: PLR2004 -- id, kind, size; else `missing`
        return None, b""
    content = told.read(int(row[2]))
    told.read(1)
    return row[0].decode(), content


def draft(state: State, previous: str | None, why: str) -> Draft:
    """The next state commit, to be written and landed with what it describes."""
    return Draft(
        message=f"{why}\n",
        entries={FILE: written(cleaned(state)).encode()},
        parent=previous,
        root=previous is None,
    )
