"""The state of a campaign in git: the only file in the tree of a commit at `refs/swathe/<axis>/state`."""

from adapters.redacting import cleaned
from adapters.repository.git import Place, ask, object_id, refs
from adapters.repository.writing import Draft
from domain.state import State, read, way_out, written
from domain.value import Refused

FILE = "state.json"


def load(place: Place, ref: str) -> tuple[State | None, str | None]:
    """The state and the commit that holds it; None for a campaign that never ran."""
    commit = object_id(place, ref)
    if commit is None:
        if ref in refs(place, ref):
            raise Refused(f"{ref} names no commit, so it is no state of ours. {way_out(ref)}")
        return None, None
    status, text, _ = ask(place, "cat-file", "blob", f"{commit}:{FILE}")
    if status:
        raise Refused(
            f"the commit at {ref} has no {FILE}, so it is no state of ours. {way_out(ref)}"
        )
    return read(text, ref), commit


def draft(state: State, previous: str | None, why: str) -> Draft:
    """The next state commit, to be written and landed with what it describes."""
    return Draft(
        message=f"{why}\n",
        entries={FILE: written(cleaned(state)).encode()},
        parent=previous,
        root=previous is None,
    )
