"""Where the verbs meet the engine. Each loads what it needs once it is asked: a plan waits for no flow."""

from pathlib import Path

from domain.choice import Policy
from domain.doctor import Doctor, Plan
from domain.options import RunOptions
from domain.report import Report
from domain.review_options import ReviewOptions
from domain.status import Asked, RepoStatus, Taken
from domain.target import Target
from domain.word import Word


def run_campaign(options: RunOptions) -> Report:
    """Carry the axis through the target, and report. What is wrong is said before anything is started."""
    from cli import carrying

    return carrying.run_campaign(options)


def run_review(options: ReviewOptions) -> Report:
    """Review the target, and report. What is wrong is said before anything is started."""
    from cli import review_carrying

    return review_carrying.run_review(options)


def demo(folder: Path, axis: str, sandbox: Policy) -> Report:
    """Make the sample a git repository, and run a campaign on it."""
    from cli import carrying

    return carrying.demo(folder, axis, sandbox)


def plan(options: RunOptions) -> Plan:
    """What a run would do. Nothing in the target is changed."""
    from cli import planning

    return planning.plan(options)


def doctor(target: Target) -> Doctor:
    """What works for the target, and what does not."""
    from cli import checkup

    return checkup.doctor(target)


def status(repo: str, axis: str | None) -> RepoStatus:
    """Where the campaigns of a repository stand."""
    from cli import standing

    return standing.status(repo, axis)


def say(repo: str, axis: str | None, word: Word) -> Asked:
    """Leave word for the run that works now."""
    from cli import standing

    return standing.say(repo, axis, word)


def take(repo: str, axis: str, *, run: bool) -> Taken:
    """The command that brings the landed branch home; done, if asked to."""
    from cli import standing

    return standing.take(repo, axis, run=run)
