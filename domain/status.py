"""Where the campaigns of a repository stand, and what was asked of them."""

from domain.report import Ending, Parked
from domain.value import Value

MINUTES_UNTIL_QUIET = 10
"""A run that lands nothing for this long is pointed out: it looks alive and may not be."""


class CampaignStatus(Value):
    """One axis on one repository."""

    axis: str
    branch: str
    """`swathe/<axis>`."""
    base: str = ""
    tip: str = ""
    landed: int = 0
    """Commits on the branch since the base, by all runs."""
    parked: tuple[Parked, ...] = ()
    declined: tuple[str, ...] = ()
    remaining: int | None = None
    """Sites left at the last listing; None when none was made."""
    spend_usd: float = 0.0
    run: str = ""
    """The last run, or the one that works now."""
    ending: Ending | None = None
    """How the last run ended; None when none has."""
    why: str = ""
    running: bool = False
    minutes_since_last_commit: float | None = None
    """Of a run that works now; since its start when it has landed nothing."""
    next: str = ""
    """What to do next, in one sentence."""
    take: str = ""
    undelivered: str = ""
    """What the remote has not that the repository is shared with, and the command that brings it there."""

    @property
    def quiet(self) -> bool:
        waited = self.minutes_since_last_commit
        return self.running and waited is not None and waited > MINUTES_UNTIL_QUIET


class RepoStatus(Value):
    """All campaigns of a repository."""

    repo: str
    campaigns: tuple[CampaignStatus, ...] = ()


class Asked(Value):
    """Whom a word of the operator was left for."""

    repo: str
    axes: tuple[str, ...] = ()
    """Campaigns that it is for."""
    running: bool = False
    """A run works on one of them now, and will see it."""


class Taken(Value):
    """How the landed work comes home."""

    axis: str
    branch: str
    tip: str
    commits: int = 0
    command: str
    """The git command, as a person would type it."""
    ran: bool = False
    output: str = ""
    """What git said, when it ran."""
