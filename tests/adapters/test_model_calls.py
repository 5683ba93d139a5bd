"""Faults of a provider, what they cost, and what a kill costs: cases.md M1, M2, M5, M6."""

import json
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest
from stub_bill import Rates
from stub_script import Call, Fault, Turn, first, turns
from talks import FINISH, WORK, Talk, bash, log

from adapters.models.account import Account
from adapters.processes import shell
from domain.ledger import Caps, Reserved
from domain.model_faults import Patience
from domain.outcome import Outcome
from domain.prices import Tokens

FAMILIES = ("claude", "gpt")
HERE = Path(__file__).parent
FLAT = Rates(plain=100, output=0, read=100, written=100)
"""About 0.30 a call: what stands before every conversation is some 3,000 tokens."""


# -- M1


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rate_limit_and_an_overload_are_waited_out(talk, clone, family):
    faults = [Fault("rate-limit", retry_after=1), Fault("overloaded")]
    one = talk(first(faults, turns(WORK), at=1), family)

    outcome = one.run()

    assert outcome.ended == "answered"
    assert log(clone) == ["Say hello", "base"]
    assert one.waits == [1.0]
    assert "rate-limit, trying again in 1 s" in one.told[0]
    assert (outcome.calls, outcome.lost) == (6, 0)
    assert outcome.usd == pytest.approx(one.provider.bill.usd)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_long_wait_pauses_the_run_with_its_time_and_is_gone_on_with(talk, clone, family):
    one = talk(first([Fault("rate-limit", retry_after=3600)], turns(WORK), at=2), family)

    paused = one.run()
    assert (paused.ended, paused.back_seconds, one.waits) == ("paused", 3600.0, [])
    assert len(one.provider.requests) == 3

    assert one.run().ended == "answered"
    assert log(clone) == ["Say hello", "base"]
    assert len(one.provider.requests) == 5


@pytest.mark.parametrize("family", FAMILIES)
def test_a_used_up_account_pauses_at_once(talk, family):
    one = talk(lambda _: Fault("quota"), family)
    outcome = one.run()

    assert (outcome.ended, len(one.provider.requests)) == ("paused", 1)
    assert "quota" in outcome.why
    assert outcome.usd == 0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("kind", "said"),
    [("auth", "key"), ("not-found", "does not know the model"), ("bad-request", "rejects")],
)
def test_what_somebody_has_to_change_is_not_tried_twice(talk, family, kind, said):
    """T63: a deterministic failure was resumed 7 times in 10 minutes."""
    one = talk(lambda _: Fault(kind), family)
    outcome = one.run()

    assert (outcome.ended, len(one.provider.requests), outcome.usd) == ("fatal", 1, 0)
    assert said in outcome.why


def test_nine_failures_on_the_way_need_nobody(talk, clone):
    """T62: eleven manual resumes on transient errors."""
    kinds = ["overloaded", "server", "drop"]

    def script(seen):
        if seen.attempt < 3 and seen.answers < 3:
            return Fault(kinds[seen.attempt])
        return turns(WORK)(seen)

    one = talk(script)
    assert one.run().ended == "answered"
    assert len(one.provider.requests) == 9 + 4
    assert log(clone) == ["Say hello", "base"]


def test_a_provider_that_stays_away_pauses_after_five_attempts(talk):
    one = talk(lambda _: Fault("overloaded"), patience=Patience())
    outcome = one.run()

    assert (outcome.ended, len(one.provider.requests)) == ("paused", 5)
    assert len(one.waits) == 4
    assert one.waits == sorted(one.waits)


# -- M2: what is no whole answer is applied to nothing, and charged

EVIL = Turn(calls=(Call("edit", {"path": "b.py", "old": "1", "new": "666"}),))


def broken(**more):
    return Turn(calls=EVIL.calls, **more)


BROKEN = {
    "cut": (broken(ending="cut", after=4), broken(ending="cut", after=6)),
    "reset": (broken(ending="reset", after=4), broken(ending="reset", after=6)),
    "early": (broken(ending="early", after=4), broken(ending="early", after=6)),
    "garbage": (broken(ending="garbage", after=4), broken(ending="garbage", after=6)),
    "error": (broken(ending="error", after=4), broken(ending="error", after=6)),
    "stall": (broken(ending="stall", after=4), broken(ending="stall", after=6)),
    "length": (broken(stop="max_tokens"),) * 2,
    "refusal": (Turn("", refusal=True),) * 2,
    "refusal with words": (Turn("I would rather not.", refusal=True),) * 2,
    "empty": (Turn(""),) * 2,
    "html": (Fault("html"),) * 2,
    "bad gateway": (Fault("bad-gateway"),) * 2,
    "drop": (Fault("drop", billed=True),) * 2,
    "hang": (Fault("hang", billed=True),) * 2,
}
"""For each family; a broken stream ends after the call is whole, and before the answer is."""


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("how", BROKEN)
def test_half_an_answer_is_never_applied_and_never_free(talk, clone, family, how):
    said = BROKEN[how][FAMILIES.index(family)]
    # A bound on silence only where there is some: a loaded machine is silent too.
    more = {"silent_seconds": 1.0} if how in {"hang", "stall"} else {}
    one = talk(first([said], turns(WORK), at=1), family, more=more)

    outcome = one.run()

    assert outcome.ended == "answered"
    assert (clone.folder / "b.py").read_text() == "x = 1\n"
    assert log(clone) == ["Say hello", "base"]
    assert len(one.provider.requests) == 5
    assert outcome.usd >= one.provider.bill.usd - 1e-9
    # What was retried is the very same request: nothing of the half answer is in it.
    _, broken_one, again, *_ = one.provider.requests
    if how != "length":
        assert broken_one.raw == again.raw


@pytest.mark.parametrize("family", FAMILIES)
def test_an_answer_without_a_count_of_tokens_is_charged_at_its_reservation(talk, family):
    free = Turn(calls=FINISH.calls, usage=False)
    one = talk(first([free], turns(WORK), at=3), family)
    outcome = one.run()

    # Claude's answer is none to the library behind us, and asked for again.
    assert len(one.provider.requests) == {"claude": 5, "gpt": 4}[family]

    assert (outcome.ended, outcome.lost) == ("answered", 1)
    assert outcome.usd > one.provider.bill.usd
    assert one.account().ledger.spent_usd == pytest.approx(outcome.usd)


@pytest.mark.parametrize(
    ("said", "times"), [(Turn("", refusal=True), 2), (broken(stop="max_tokens"), 2)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_some_answers_are_asked_for_twice_and_no_more(talk, family, said, times):
    one = talk(lambda _: said, family)
    outcome = one.run()

    assert (outcome.ended, len(one.provider.requests)) == ("failed", times)
    assert outcome.usd == pytest.approx(one.provider.bill.usd)


def test_an_answer_that_was_too_long_gets_more_room(talk):
    one = talk(first([broken(stop="max_tokens")], turns(WORK)))
    one.run()
    assert [body["max_tokens"] for body in one.bodies[:3]] == [32_000, 64_000, 32_000]


def test_a_call_that_trickles_for_ever_meets_its_deadline(talk):
    slow = Turn("x" * 4000, chunk=1, pause=0.05)
    one = talk(first([slow], turns([FINISH])), more={"attempt_seconds": 1.5})
    outcome = one.run()

    assert (outcome.ended, outcome.lost) == ("answered", 1)


def test_a_provider_that_cannot_be_reached_costs_nothing(talk):
    one = talk(turns(WORK), more={"address": "http://127.0.0.1:9"})
    outcome = one.run()

    assert (outcome.ended, outcome.calls, outcome.usd) == ("paused", 5, 0.0)


# -- M5: money


@pytest.mark.parametrize("seed", range(4))
def test_a_budget_holds_to_one_call_whatever_is_lost(talk, seed):
    draws = random.Random(seed)
    plan = {
        (answers, attempt): draws.choice(
            [
                bash("true"),
                bash("true"),
                Fault("hang", billed=True),
                Turn("words " * 50, ending="cut", after=4),
                Turn("words " * 50, ending="early", after=4),
                Fault("overloaded"),
            ]
        )
        for answers in range(12)
        for attempt in range(9)
    }
    one = talk(
        lambda seen: plan.get((seen.answers, seen.attempt), bash("true")),
        FAMILIES[seed % 2],
        rates=FLAT,
        price="100/0/100/100",
        caps=Caps(max_usd=1.0),
        more={"silent_seconds": 0.5},
    )

    for _ in range(9):
        # A pause is taken up again, as a schedule would.
        outcome = one.run()
        if outcome.ended != "paused":
            break

    bill = [row["usd"] for row in one.provider.bill.rows]
    assert outcome.ended == "budget"
    assert "$1.00" in outcome.why
    assert sum(bill) <= 1.0 + max(bill)
    assert one.account().ledger.spent_usd >= sum(bill) - 1e-9
    assert 0.2 < bill[0] < 0.5


def test_a_raised_budget_goes_on_where_it_stopped(talk, clone):
    """T60: a resume after an overrun paid twice."""
    one = talk(turns(WORK), rates=FLAT, price="100/0/100/100", caps=Caps(max_usd=0.4))
    assert one.run().ended == "budget"
    paid = len(one.provider.requests)

    one.caps = Caps(max_usd=9)
    assert one.run().ended == "answered"
    assert len(one.provider.requests) == 4
    assert paid in {1, 2}
    assert log(clone) == ["Say hello", "base"]


def test_the_agent_is_told_to_bring_work_home_before_the_money_is_gone(talk):
    """T58: a session overshot by 92 %, checked only between sessions."""
    one = talk(lambda _: bash("true"), rates=FLAT, price="100/0/100/100", caps=Caps(max_usd=3))
    outcome = one.run()

    warned = [
        at for at, body in enumerate(one.bodies) if "Bring home what you have" in json.dumps(body)
    ]
    assert outcome.ended == "budget"
    assert 1 <= len(one.bodies) - warned[0] <= 5
    assert json.dumps(one.bodies[-1]).count("Bring home what you have") == 1


@pytest.mark.parametrize("caps", [Caps(max_usd_per_pass=0.4), Caps(max_usd_per_site=0.4)])
def test_a_pass_and_a_site_have_caps_of_their_own(talk, caps):
    one = talk(lambda _: bash("true"), rates=FLAT, price="100/0/100/100", caps=caps)
    outcome = one.run()
    assert outcome.ended == "budget"
    assert "for this pass" in outcome.why or "for this site" in outcome.why
    assert len(one.provider.requests) <= 2


def test_money_of_earlier_runs_counts(talk):
    one = talk(turns(WORK), caps=Caps(max_usd=5), before=5.0)
    assert (one.run().ended, one.provider.requests) == ("budget", [])


def test_a_torn_ledger_counts_what_it_can_read(tmp_path):
    path = tmp_path / "ledger.jsonl"
    account = Account(path, Caps())
    account.record(Reserved(call="a:1", usd=0.5))
    with path.open("a") as file:
        file.write('{"kind":"settled","call":"a:1","us')
    again = Account(path, Caps())
    again.record(Reserved(call="a:2", usd=0.25))

    assert Account(path, Caps()).ledger.spent_usd == 0.75


def test_a_call_that_was_open_when_the_process_died_is_settled_by_its_answer_or_lost(tmp_path):
    account = Account(tmp_path / "ledger.jsonl", Caps())
    for call in ("a:1", "a:2", "b:1"):
        account.record(Reserved(call=call, usd=1.0))
    account.recover({"a:1": (0.25, Tokens(plain=1, output=1))}, ["a:1", "a:2"])

    assert account.ledger.spent_usd == 2.25
    assert (account.ledger.lost, account.ledger.open) == (("a:2",), ("b:1",))


# -- M6: kill -9


def process(one: Talk, family: str) -> shell.Finished:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent / "stub")])}
    words = [
        sys.executable,
        str(HERE / "talk_process.py"),
        str(one.folder),
        one.provider.url,
        family,
    ]
    return shell.run(
        words, cwd=HERE.parent.parent, env=env, timeout_seconds=60, contain=False, apart=True
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_after_a_kill_no_answered_call_is_paid_again_and_no_tool_is_run_again(talk, clone, family):
    """Killed once while a call is under way, and once between the calls of one answer."""
    note = Call("bash", {"command": "echo once >> ran.txt"})

    def killing(seen):
        if seen.attempt == 0:
            os.kill(int((one.folder / "pid").read_text()), signal.SIGKILL)
        return bash("echo twice >> ran.txt")

    script = turns(
        [
            Turn(calls=(note,), thinking="Hm."),
            Turn(calls=(note, Call("run_gate"), note)),
            Turn(calls=(note,)),
            killing,
            FINISH,
        ]
    )
    one = talk(script, family)

    ends = [process(one, family) for _ in range(3)]

    assert [done.exit_code for done in ends[:2]] == [-signal.SIGKILL] * 2
    outcome = Outcome.from_json(ends[2].output)
    assert outcome.ended == "answered"
    assert (clone.folder / "ran.txt").read_text() == "once\n" * 4 + "twice\n"
    asked = Counter(row["answers"] for row in one.provider.bill.rows)
    assert asked == {0: 1, 1: 1, 2: 1, 3: 2, 4: 1}
    # The unanswered request went out again byte for byte, so that the cache still holds what is before it.
    third = [
        r.raw
        for r in one.provider.requests
        if json.dumps(r.body).count("once") and _answers(r) == 3
    ]
    assert len(third) == 2
    assert third[0] == third[1]
    assert outcome.usd >= one.provider.bill.usd - 1e-9
    assert (outcome.calls, outcome.lost, outcome.steps) == (6, 1, 5)
    if family == "claude":
        assert all(request.count.plain == 0 for request in one.provider.requests)


def _answers(request):
    from stub_http import DIALECTS  # noqa: PLC0415

    return DIALECTS[request.family].answers(request.body)


def test_a_conversation_that_cannot_be_gone_on_with_is_begun_anew_and_said(talk):
    """T85: a session file that died wedged its node for ever."""
    one = talk(turns(WORK))
    one.run()
    lines = one.journal.read_text().splitlines()
    one.journal.write_text("\n".join([*lines[:3], *lines[4:]]) + "\n")

    outcome = one.run()

    assert outcome.ended in {"answered", "confused"}
    assert "line 3 is missing" in outcome.notes[0]
    assert (one.folder / "talk.jsonl.unusable-1").exists()


def test_a_torn_last_line_of_a_conversation_costs_one_call_at_the_most(talk):
    one = talk(turns(WORK))
    one.run()
    lines = one.journal.read_text().splitlines(keepends=True)
    answers = [at for at, line in enumerate(lines) if '"r":"answer"' in line]
    one.journal.write_text("".join(lines[: answers[-1]]) + lines[answers[-1]][:50])

    assert one.run().ended == "answered"
    assert len(one.provider.requests) == 5


def test_another_model_does_not_go_on_with_a_conversation(talk):
    one = talk(turns(WORK))
    one.run()
    one.more = {"model": "claude-sonnet-5-5"}

    assert "another model" in one.run().notes[0]


def test_a_model_without_a_price_is_used_without_a_cap_and_says_so(talk):
    one = talk(turns(WORK))
    one.hired = {"model": "own-model"}
    outcome = one.run()

    assert (outcome.ended, outcome.usd) == ("answered", 0.0)
    assert outcome.tokens.output > 0
    assert "what own-model costs is not known" in outcome.notes[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_interrupt_while_a_call_is_under_way_ends_at_once_and_is_charged(talk, clone, family):
    """As Ctrl-C: in the thread that waits for the answer."""

    def interrupting(seen):
        if seen.attempt == 0:
            os.kill(os.getpid(), signal.SIGINT)
            return Fault("hang", billed=True)
        return turns(WORK)(seen)

    one = talk(lambda seen: interrupting(seen) if seen.answers == 2 else turns(WORK)(seen), family)

    with pytest.raises(KeyboardInterrupt):
        one.run()
    assert one.account().ledger.spent_usd >= one.provider.bill.usd
    outcome = one.run()

    assert (outcome.ended, outcome.lost) == ("answered", 1)
    assert outcome.usd >= one.provider.bill.usd - 1e-9
    assert log(clone) == ["Say hello", "base"]
