"""Where a run stands: what it set out with, what is left between two passes, and what the executor is told of it."""

from collections.abc import Iterable

from domain.brief import Allowance
from domain.gate import Baseline, GatePlan
from domain.hired import Hired
from domain.ledger import Caps
from domain.recognition import barred
from domain.report import Remaining
from domain.role import Finding
from domain.sandbox import Backend
from domain.site import Listing, Site
from domain.state import State
from domain.value import Value
from domain.word import Raise


class Brief(Value):
    """What the executor of a pass is told."""

    number: int
    tip: str
    settled: tuple[str, ...] = ()
    """Ids of sites to leave alone: parked or declined."""
    grain: str = "finding"
    paths: tuple[str, ...] = ()
    """Files that hold an open site on the tip; empty: look everywhere."""
    only: tuple[str, ...] = ()
    """Keys of the sites to be worked on, for a model the id of its item; empty: all that are open."""
    item: str = ""
    """Of a work-list, in words: nothing else is to be done in the pass."""
    sites: tuple[Finding, ...] = ()
    """For a model: open sites that a probe or a fresh look named."""
    left: Allowance = Allowance()
    """Of the budget."""
    caps: Caps = Caps()
    """In dollars."""
    kept_back: float = 0.0
    """The share of the dollars of a run that is not in `caps`, since it is for a reader."""
    doubted: tuple[str, ...] = ()
    """Commits of the last pass that a reader spoke against: told once."""
    teach: int = 0
    """Sites that the model is to do in this pass, for a rule to be made from them."""
    rule: str = ""
    """The taught rule that works through this pass, in place of the model."""
    swept: int = 0
    """Commits that it landed before."""


class Survey(Value):
    """Where the campaign stands between two passes: the durable state, and the sites that remain."""

    state: State
    listing: Listing
    tip: str
    elapsed: float = 0.0
    """Active seconds of the run so far."""
    known: bool = True
    """The listing is an answer: of a probe, or of a fresh look. Without one a model has yet to search."""
    enough: bool = False
    """The operator said so."""
    raised: Raise = Raise()
    """What they said of the budget."""
    by_rule: Listing = Listing()
    """What the taught rule finds, if there is one."""
    spend_usd: float = 0.0
    """By this run so far."""
    landed: int = 0
    """Commits on the branch by this run."""
    first_commit_seconds: float | None = None


def open_sites(survey: Survey) -> tuple[Site, ...]:
    """Sites that remain and may be worked on: neither parked nor declined nor disputed."""
    return free(survey, survey.listing.sites)


def free(survey: Survey, sites: tuple[Site, ...]) -> tuple[Site, ...]:
    out, disputed = barred(sites, survey.state.settled), survey.state.disputed
    return tuple(site for site in sites if site.id not in out and site.path not in disputed)


class Start(Value):
    """What a run sets out with."""

    run: str
    axis: str
    target: str
    base: str
    branch: str
    plan: GatePlan
    baseline: Baseline
    survey: Survey
    notes: tuple[str, ...] = ()
    gate_runs: int = 0
    gate_seconds: float = 0.0
    sandbox: Backend = "none"
    hired: Hired | None = None


def remaining(
    sites: Iterable[Site], state: State, otherwise: str = "not reached"
) -> tuple[Remaining, ...]:
    """The sites that are left, each with why it is; `otherwise` for those that nothing was decided of."""
    sites = tuple(sites)
    parked = barred(sites, {site for commit in state.parked for site in commit.sites})
    declined = barred(sites, frozenset(state.declined))

    def why(site: Site) -> str:
        if site.id in declined or site.id in parked:
            return "declined" if site.id in declined else "parked"
        return "disputed" if site.path in state.disputed else otherwise

    return tuple(
        Remaining(
            site=site.place,
            key=site.key,
            rule=site.rule,
            message=site.message,
            why=why(site),
        )
        for site in sites
    )
