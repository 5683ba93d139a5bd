"""What came of a campaign lately: out of git, whoever ran it and however it ended."""

from adapters.repository import states
from adapters.repository.git import Place, ask
from domain.value import Value


class Lately(Value):
    """Since some moment."""

    landed: int = 0
    spend_usd: float = 0.0


def lately(place: Place, state_ref: str, branch: str, since: int) -> Lately:
    """Commits that landed, and dollars that were settled, since a second of the clock.

    Dollars are told by the state's own history: a run that was killed has settled what it paid, too.
    """
    state, _ = states.load(place, state_ref)
    if state is None:
        return Lately()
    before = _as_of(place, state_ref, since)
    earlier, _ = states.load(place, before) if before else (None, None)
    paid = state.spend_usd - (earlier.spend_usd if earlier else 0.0)
    return Lately(landed=_landed(place, state.base, branch, since), spend_usd=max(paid, 0.0))


def _as_of(place: Place, ref: str, since: int) -> str | None:
    """The last state before `since`. What a repeated step writes has no date (0), and is passed over."""
    _, out, _ = ask(place, "log", "--format=%H %ct", ref)
    for row in out.decode().splitlines():
        commit, _, at = row.partition(" ")
        if 0 < int(at) < since:
            return commit
    return None


def _landed(place: Place, base: str, branch: str, since: int) -> int:
    status, out, _ = ask(place, "log", "--format=%ct", branch, *([f"^{base}"] if base else []))
    return 0 if status else sum(int(at) >= since for at in out.split())
