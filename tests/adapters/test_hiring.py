"""The money of a pass: which cap ends what, and that the model is told to bring its work home before."""

import json
from types import SimpleNamespace

import pytest
from stub_bill import Rates
from stub_script import Fault, first, turns
from talks import FINISH, bash

from adapters import events, hiring
from adapters.models.account import LEDGER, Account
from adapters.repository.workspaces import run_folder
from adapters.vendors import agents
from domain.axis import Sentence
from domain.budget import UNBOUNDED
from domain.hired import Hired
from domain.ledger import Caps
from domain.survey import Brief
from domain.value import Refused

FAMILIES = ("claude", "gpt")
AXIS = Sentence(text="count from zero")
FLAT = Rates(plain=100, output=0, read=100, written=100)
CALL = 0.6
"""US dollars, of the dearest call at these rates."""
BANK = "Bring home what you have: commit what is green."


@pytest.fixture(name="worked")
def _worked(talk, target, hire):
    """Passes of a model that never ends by itself, and commits in its third answer."""
    commits = "echo zero > a.py; git commit -qam 'Count from zero'"
    one = talk(lambda s: bash(commits if s.answers == 2 else "true"), rates=FLAT)
    campaign = hire(one, target, AXIS, verify=("! grep -q broken a.py",))
    hired = Hired(family="claude", price="100/0/100/100")
    campaign.workspace = campaign.workspace.model_copy(update={"hired": hired})

    def worked(caps, number=1):
        brief = Brief(number=number, tip=campaign.workspace.base, caps=caps)
        chain = hiring.make(campaign.workspace, AXIS, brief)
        ledger = Account(run_folder(campaign.workspace) / LEDGER, Caps()).ledger
        return chain, ledger, [json.dumps(body) for body in one.bodies]

    return worked


@pytest.mark.parametrize(
    ("caps", "halt", "of"),
    [
        (Caps(max_usd=4), "budget", "run"),
        (Caps(max_usd=40, max_usd_per_pass=4), "", "pass"),
        (Caps(max_usd=40, max_usd_per_pass=30, max_usd_per_site=4), "", "site"),
    ],
)
def test_a_cap_on_a_pass_or_a_site_ends_the_pass_and_one_on_the_run_the_run(worked, caps, halt, of):
    """T58: each is held to a call, its work is banked, and the model was told before it came."""
    chain, ledger, bodies = worked(caps)

    assert (chain.halt, len(chain.commits)) == (halt, 1)
    assert f"for this {of} are spent" in chain.why
    sites = {account.reserved.site for account in ledger.accounts.values()}
    under = [cap for site in sites for cap in ledger.caps(caps, 1, site)]
    assert all(cap.spent <= cap.usd + CALL for cap in under)
    assert [cap.of for cap in under if cap.reached] == [of] * (len(sites) if of != "site" else 1)
    warned = [at for at, body in enumerate(bodies) if BANK in body]
    assert 0 < warned[0] < len(bodies)
    assert f"for this {of} are spent. {BANK}" in bodies[-1]
    assert bodies[-1].count(BANK) == 1


def test_a_wait_for_the_provider_is_no_active_time(talk, target, hire, monkeypatch):
    """cases.md, M1: the clock of this test goes on only while somebody waits."""
    one = talk(first([Fault("rate-limit", retry_after=7)], turns([FINISH])))
    campaign = hire(one, target, AXIS, verify=("! grep -q broken a.py",))
    waits = []
    clock = SimpleNamespace(monotonic=lambda: 1000 + sum(waits), sleep=waits.append)
    monkeypatch.setattr(hiring, "time", clock)
    monkeypatch.setattr(events, "time", clock)
    run = run_folder(campaign.workspace)
    before = events.elapsed(run)

    chain = hiring.make(campaign.workspace, AXIS, Brief(number=1, tip=campaign.workspace.base))

    assert waits == [pytest.approx(7, rel=0.3)]
    assert events.elapsed(run) == before
    assert chain.claimed, "it went on"


def test_the_next_pass_has_its_own_money(worked):
    caps = Caps(max_usd=40, max_usd_per_pass=2)
    _, _, before = worked(caps)
    chain, ledger, after = worked(caps, number=2)

    assert chain.halt == ""
    assert ledger.spent_on(2) == pytest.approx(ledger.spent_on(1), rel=0.1)
    assert len(after) >= 2 * len(before) - 1


def test_a_site_has_its_own_money_until_its_commit(worked):
    """Two answers before the commit, and what comes after it begins anew."""
    chain, ledger, _ = worked(Caps(max_usd_per_site=1.5))

    assert len(chain.commits) == 1
    assert ledger.spent_on(1) > 1.5 + CALL


@pytest.mark.parametrize("family", FAMILIES)
def test_a_vendors_agent_that_is_not_installed_is_refused_with_the_command(
    talk, monkeypatch, family
):
    for name, value in talk(turns([])).provider.environment().items():
        monkeypatch.setenv(name, value)
    gone = agents.PROGRAMS[family]._replace(package="not_installed_anywhere")
    monkeypatch.setitem(agents.PROGRAMS, family, gone)
    hired = Hired(family=family, agent="vendor")

    with pytest.raises(Refused) as refused:
        hiring.check(hired, UNBOUNDED, "off")
    assert f"pip install 'swathe[{hired.executor}]'" in str(refused.value)

    hiring.check(Hired(family=family), UNBOUNDED, "off")
    # One that is there is found by its file.
    here = agents.PROGRAMS[family]._replace(package="adapters", path="home.py")
    monkeypatch.setitem(agents.PROGRAMS, family, here)
    hiring.check(hired, UNBOUNDED, "off")
    monkeypatch.setitem(agents.PROGRAMS, family, here._replace(path="bin/codex"))
    with pytest.raises(Refused):
        hiring.check(hired, UNBOUNDED, "off")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_vendors_agent_needs_a_key_and_a_price_like_any(talk, monkeypatch, family):
    hired = Hired(family=family, agent="vendor")
    with pytest.raises(Refused, match="no key"):
        hiring.check(hired, UNBOUNDED, "off")
