"""The state of a campaign in git: the only file in the tree of a commit at `refs/swathe/<axis>/state`."""

from adapters.repository.git import Place, git, object_id
from adapters.repository.writing import Draft
from domain.state import State, read

FILE = "state.json"


def load(place: Place, ref: str) -> tuple[State | None, str | None]:
    """The state and the commit that holds it; None for a campaign that never ran."""
    commit = object_id(place, ref)
    if commit is None:
        return None, None
    return read(git(place, "cat-file", "blob", f"{commit}:{FILE}"), ref), commit


def draft(state: State, previous: str | None, why: str) -> Draft:
    """The next state commit, to be written and landed with what it describes."""
    return Draft(
        message=f"{why}\n",
        entries={FILE: (state.to_json(indent=1) + "\n").encode()},
        parent=previous,
        root=previous is None,
    )
