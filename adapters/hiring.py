"""A model at work in a campaign: its brief from what is known, its ears in the engine, its money in the state."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adapters import beginning, events, proving, takeover, words
from adapters.executors import model
from adapters.executors.consult import Consultant
from adapters.executors.model import Ears, Passed
from adapters.models.account import LEDGER, Account
from adapters.models.families import connect, with_key
from adapters.repository import states
from adapters.repository.workspaces import run_folder, target_place
from adapters.vendors.agents import require
from domain.axis import Axis, title
from domain.brief import PassBrief
from domain.budget import Budget
from domain.commit import Chain, Halt
from domain.gate import Verdict
from domain.hired import Family, Hired
from domain.judgement import judge
from domain.ledger import Caps
from domain.outcome import Outcome
from domain.question import Question
from domain.reading import Confirm
from domain.recognition import numbered, site_key
from domain.role import Finding, PassReport, SiteList
from domain.site import Listing, Site
from domain.state import State
from domain.survey import Brief
from domain.target import Workspace
from domain.value import Refused
from domain.words import MINUTE, counted, printable

MOST_LEFT = 5
"""Sites that a model says are left, told in the report."""
MOST_NAMED = 500
"""Sites that one look names: those behind them are found by the next."""
MOST_WORDS = 400
"""Characters of what a model says of one thing. Whole, it is in the conversation that is kept."""
MOST_PATH = 4096
NO_HALT: Halt = ""
HALTS: dict[str, Halt] = {"budget": "budget", "paused": "paused", "fatal": "refused"}


def check(hired: Hired, budget: Budget, confirm: Confirm) -> None:
    """Refuse a model that could not be asked: no key, or no price under a cap in dollars; a reader of each, too."""
    connect(hired, os.environ, budget.caps)
    if hired.agent == "vendor":
        require(hired)
    reader = other(hired)
    if hired.reader_model and reader is None:
        raise Refused(
            f"--reader-model {hired.reader_model}: it is of the family that does not work, and no family but "
            f"{hired.family} has a key. Set the other one's key, or leave the reader out."
        )
    if confirm == "off" and not hired.reader_model:
        return
    if reader:
        connect(reader, os.environ, budget.caps, price_option="--reader-price")
    elif confirm == "each":
        raise Refused(
            f"--confirm each: every commit is to be read by a family that did not write it, and no family but "
            f"{hired.family} has a key. Set the other one's key, or ask for less: --confirm sample lands what nobody "
            f"could read, and says so in each commit."
        )


def make(workspace: Workspace, axis: Axis, brief: Brief) -> Chain:
    """Let the model that was hired work through a pass, and bring its commits across."""
    assert workspace.hired  # noqa: S101 -- the caller asked
    told = _told(workspace, axis, brief)
    tip = brief.tip
    if brief.item:
        tip = takeover.begin(
            workspace, told, tip
        ).tip  # what was begun on an earlier one is gone on with
    elif chain := takeover.finished(workspace, told, tip):
        return chain
    prepared, _ = beginning.proved_by(workspace)
    run = run_folder(workspace)
    passed = _maker(workspace.hired)(
        workspace,
        tip,
        told,
        workspace.hired,
        caps=brief.caps,
        ears=_ears(workspace, brief),
        environment=prepared.environment,
    )
    report, outcome = passed.outcome.answer, passed.outcome
    if workspace.hired.agent == "vendor":
        events.uncounted(run, outcome.waited_seconds)  # our own agent's waits are told as they are
    halt = HALTS.get(outcome.ended, "")
    if halt == "budget" and not all_spent(workspace, brief.number, brief.caps):
        halt = ""  # of this pass, or of one site in it: the next pass begins anew
    return passed.chain.model_copy(
        update={
            "claimed": isinstance(report, PassReport) and report.axis_complete,
            "question": _question(workspace, brief.number, report),
            "usd": outcome.usd,
            "halt": halt,
            "why": f"{outcome.why}{_worth(outcome)}",
            "notes": (*passed.chain.notes, *_said(outcome)),
        }
    )


def _question(workspace: Workspace, number: int, report: object) -> Question | None:
    if not isinstance(report, PassReport):
        return None
    asked_in = f"{workspace.run} {number}"
    question = Question.of(report.needs_human, report.options, asked_in)
    if question:
        events.emit(run_folder(workspace), "step", what=f"it asks: {question.text}")
    return question


def _maker(hired: Hired) -> Callable[..., Passed]:
    """Our own agent, or a vendor's."""
    if hired.agent == "own":
        return model.make
    from adapters.executors import vendor  # noqa: PLC0415 -- a server of its own, for these alone

    return vendor.make


def all_spent(workspace: Workspace, number: int, caps: Caps) -> bool:
    """Whether it is the cap of the whole run that leaves no money."""
    account = Account(
        run_folder(workspace) / LEDGER, caps, raised=words.said(workspace).raised.caps
    )
    cap = account.cap_reached(number, "")
    return cap is not None and cap.of == "run"


def _worth(outcome: Outcome) -> str:
    if not outcome.back_seconds:
        return ""
    return f"; worth coming back in {outcome.back_seconds / MINUTE:.0f} minutes"


def look_afresh(
    workspace: Workspace, axis: Axis, tip: str, number: int, max_usd: float | None
) -> Listing | None:
    """The sites that a model with no knowledge of the work still finds, of another family where one has a key.

    None: it gave no answer, so that nothing is known.
    """
    assert workspace.hired  # noqa: S101 -- the caller asked
    prepared, _ = beginning.proved_by(workspace)
    reader = other(workspace.hired) or workspace.hired
    asked = Consultant(
        reader, Caps(max_usd=max_usd), reading_ears(workspace), prepared.environment, number
    )
    outcome = asked.rescan(workspace, tip, title(axis))
    if not isinstance(outcome.answer, SiteList):
        return None
    alone = ": no other family has a key" if reader.family == workspace.hired.family else ""
    note = f"looked at afresh by {reader.family}{alone}"
    named = outcome.answer.sites
    more = (f"it named {len(named):,} sites; the first {MOST_NAMED} are kept",)
    notes = (note, *more) if len(named) > MOST_NAMED else (note,)
    return Listing(sites=_sites(named[:MOST_NAMED]), notes=notes)


def other(hired: Hired) -> Hired | None:
    """A family that does not write, and has a key."""
    others: list[Family] = [name for name in with_key(os.environ) if name != hired.family]
    return hired.reader(others[0]) if others else None


def _sites(found: Sequence[Finding]) -> tuple[Site, ...]:
    return numbered(
        Site(
            key=site_key("", finding.path, (finding.what,)),
            path=finding.path[:MOST_PATH],
            line=finding.line,
            end_line=finding.line,
            message=_short(finding.what),
        )
        for finding in found
    )


def _told(workspace: Workspace, axis: Axis, brief: Brief) -> PassBrief:
    target = workspace.target
    prepared, baseline = beginning.proved_by(workspace)
    state, _ = states.load(target_place(workspace), workspace.state_ref)
    state = state or State(axis=title(axis))
    if brief.item:
        # What others landed and parked is not this item's business.
        mine = tuple(one for one in state.parked if one.item in brief.only)
        state = state.model_copy(update={"landed": (), "parked": mine})
    told = words.said(workspace).told
    return PassBrief(
        axis=title(axis),
        number=brief.number,
        paths=target.paths,
        branch=target.branch or "",
        allow=target.allow,
        gate=prepared.plan.verify,
        known_failures=baseline.failed,
        landed=state.landed,
        parked=tuple(one for one in state.parked if one.made_from not in brief.doubted),
        doubted=tuple(one for one in state.parked if one.made_from in brief.doubted),
        disputed=tuple(sorted(state.disputed)),
        sites=brief.sites,
        declined=state.declined,
        said=tuple(told.values()),
        heard=tuple(told),
        item=brief.item,
        teach=brief.teach,
        swept=brief.swept,
        left=brief.left,
    )


def _ears(workspace: Workspace, brief: Brief) -> Ears:
    run = run_folder(workspace)

    def hurry() -> str:
        said = words.said(workspace)
        if said.enough:
            return "the operator said enough"
        if brief.teach and _committed(run, brief.number) >= brief.teach:
            return f"the {counted(brief.teach, 'site')} of this pass are done"
        minutes = brief.left.minutes
        if minutes is not None and said.raised.max_minutes is not None:
            minutes = max(minutes, said.raised.max_minutes)
        late = minutes is not None and events.elapsed(run) >= MINUTE * minutes
        return "the time is spent" if late else ""

    return Ears(
        gate=_gate(workspace),
        hurry=hurry,
        news=lambda: words.said(workspace).told,
        raised=lambda caps: words.said(workspace).raised.caps(caps, brief.kept_back),
        tell=lambda what: events.emit(run, "step", what=what),
        wait=waiting(run),
    )


def _committed(run: Path, number: int) -> int:
    """How often the model has committed in a pass: the ledger names what the clone stood on at each call."""
    calls = Account(run / LEDGER, Caps()).ledger.accounts.values()
    stood_on = {one.reserved.site for one in calls if one.reserved.number == number}
    return len(stood_on - {""}) - 1


def reading_ears(
    workspace: Workspace,
    hurry: Callable[[], str] = str,
    news: Callable[[], Mapping[str, str]] = dict,
) -> Ears:
    """Of a model that only reads: it is asked one thing, and most often not hurried."""
    run = run_folder(workspace)
    return Ears(
        gate=_gate(workspace),
        hurry=hurry,
        news=news,
        raised=lambda caps: words.said(workspace).raised.caps(caps),  # noqa: PLW0108 -- as it is at each call
        tell=lambda what: events.emit(run, "step", what=what),
        wait=waiting(run),
    )


def waiting(run: Path) -> Callable[[float], None]:
    """Waits for a provider, at no cost in active time (cases.md, M1)."""

    def wait(seconds: float) -> None:
        began = time.monotonic()
        time.sleep(seconds)
        events.uncounted(run, time.monotonic() - began)

    return wait


def _gate(workspace: Workspace) -> Callable[[str], str]:
    """The real gate on a tree, in words; a tree that was seen costs nothing."""

    def gate(commit: str) -> str:
        prepared, baseline = beginning.proved_by(workspace)
        done, _ = proving.run(
            workspace, prepared, commit, expect_reports=baseline.run.tests is not None
        )
        return _in_words(judge(done, baseline), done.tail)

    return gate


def _in_words(verdict: Verdict, tail: str) -> str:
    if verdict.green:
        return "green"
    failures = [f"{failure.test}: {failure.message}".strip() for failure in verdict.failures]
    return "\n".join([verdict.kind, *failures, "", "The end of its log:", tail])


def _said(outcome: Outcome) -> tuple[str, ...]:
    report = outcome.answer
    asked = tuple(
        f"it asked {_short(one.question)!r}, and went on with {_short(one.assumption)!r}"
        for one in outcome.asked
    )
    if not isinstance(report, PassReport):
        return (f"the pass ended without a report: {outcome.ended}. {outcome.why}".strip(), *asked)
    needs = (f"it needs a human: {_short(report.needs_human)}",) if report.needs_human else ()
    left = [*map(_short, report.sites_remaining[:MOST_LEFT])]
    more = len(report.sites_remaining) - len(left)
    left += [f"and {more} more"] if more > 0 else []
    return (*asked, *needs, *([f"it says is left: {'; '.join(left)}"] if left else []))


def _short(words: str) -> str:
    return printable(words, MOST_WORDS)
