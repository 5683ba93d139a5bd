"""The pinned gate: a green commit must be green with the base's own tests, too (design.md §3, step 1).

Who changes a test as well as the code can make any change green. So where a tree differs from the
base in protected files, it has a twin: the same tree, with those as the base has them.
"""

from collections.abc import Iterable

from domain.admission import protected
from domain.commit import Change, Entry


def restored(changes: Iterable[Change]) -> dict[str, Entry]:
    """What makes the twin of a tree, from its changes against the base: old content back, added files gone."""
    return {
        change.path: (change.old_mode, change.old_blob)
        for change in changes
        if protected(change.path)
    }
