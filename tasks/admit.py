"""admit: the checks a commit must pass before the gate is even run on it."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from adapters.executors.passes import opened_classes
from adapters.redacting import discreet
from adapters.repository.opening import touched_by_branch
from adapters.repository.workspaces import tracked
from adapters.shelf import fetch
from domain.admission import Rules
from domain.admission import admit as judged
from domain.batch import Batch
from domain.commit import ChainOnShelf
from domain.reading import Confirm, to_be_read
from domain.red_rate import RedRate
from domain.target import Workspace


@task(cache_policy=NO_CACHE)
@discreet
def admit(
    workspace: Workspace, chain: ChainOnShelf, rate: RedRate, each: bool, confirm: Confirm = "off"
) -> Batch:
    """The batch of a pass: what is admitted waits for the gate, what is not has its reason."""
    rules = Rules(
        globs=workspace.target.paths,
        touched=touched_by_branch(workspace),
        opened=opened_classes(workspace),
        existing=frozenset(tracked(workspace, chain.base)),
    )
    whole = fetch(workspace, chain.number)
    commits = whole.commits
    withheld = {commit.sha: commit.withheld for commit in commits if commit.withheld}
    admitted, refused = judged([one for one in commits if one.sha not in withheld], rules)
    read = to_be_read(confirm, [commit for commit in commits if commit.sha in admitted])
    return Batch(
        pending=admitted,
        refused={**refused, **withheld},
        rate=rate,
        each=each,
        confirm=confirm,
        to_read=read,
        written=workspace.hired is not None and not chain.rule and not whole.queued,
    )
