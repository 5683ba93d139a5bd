"""A question of a model: the run waits for a person without a process, and goes on with the answer."""

import pytest
from model_scripts import by_phase, changing, finish, sites
from servers import LONG

from adapters.processes.sandbox import available
from domain.value import Refused

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every module"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
FILES = dict.fromkeys(("keep.txt", "a.txt", "b.txt"), "one\n")
QUESTION = "Is b.txt read by people who count from one?"


@pytest.fixture(name="asking")
def _asking(make, serve, post):
    """A run on duty whose model has asked something, and is suspended."""

    def asking(**parameters):
        left = [sites({"path": "b.txt", "line": 1, "what": "counts from one"}), sites()]
        asks = finish(axis_complete=False, needs_human=QUESTION, options=["yes", "no"])
        work = [
            [changing("a.txt", "zero\n", "Count a from zero"), asks],
            [changing("b.txt", "zero\n", "Count b from zero"), finish()],
        ]
        provider = serve(by_phase(work, [lambda _: left.pop()]))
        repo = make(0, FILES)
        repo.sandbox = "required"
        repo.gate(f"echo $engine > $tools/engine\n{CHECKS}")
        hired = {"family": "claude", "agent": "own"}
        asked = {"axis": {"kind": "sentence", "text": AXIS}, "hired": hired, **parameters}
        placed = post(repo, more={"parameters": asked}).deployed()
        placed.worker()
        run = placed.start()
        placed.state(run, lambda state: state.name == "Suspended" or state.is_final())
        return placed, run, provider

    return asking


def second_brief(provider) -> str:
    return next(r.raw.decode() for r in provider.requests if b"Pass 2." in r.raw)


def test_a_question_frees_the_process_and_its_answer_is_in_the_next_brief(asking):
    placed, run, provider = asking()
    state = placed.client.read_flow_run(run).state
    assert state.name == "Suspended", state.message
    assert len(placed.repo.log()) == 1, "what was green by then has landed"
    paid = len(provider.requests)
    assert any("asks something" in wait for wait in placed.duty()["waits"])

    said = placed.repo.swathe("answer", str(placed.repo.folder), "no, only the tests read it")

    assert said.ok, said.errors
    assert placed.final(run).name == "Complete", placed.client.read_flow_run(run).state.message
    assert placed.repo.log("%s") == ["Count a from zero", "Count b from zero"]
    assert f"to your question '{QUESTION}': no, only the tests read it" in second_brief(provider)
    first = [r for r in provider.requests[paid:] if b"Pass 1." in r.raw]
    assert not first, "the first pass is not paid again"
    assert not [one for one in placed.client.read_automations() if "no answer to" in one.name]


def test_a_run_that_waits_keeps_its_work_and_its_question(asking, monkeypatch):
    """A second slot does not pay for the same; and who is taken for crashed while it waits has not been answered."""
    from prefect.states import AwaitingRetry, Crashed  # noqa: PLC0415 -- the server is known by now

    from tasks import slots  # noqa: PLC0415

    placed, run, provider = asking()
    paid = len(provider.requests)

    state = placed.final(placed.start())
    placed.client.set_flow_run_state(run, Crashed())
    placed.client.set_flow_run_state(run, AwaitingRetry())
    placed.state(run, lambda state: state.name in ("Pending", "Running"))
    again = placed.state(run, lambda state: state.name == "Suspended" or state.is_final())

    assert state.name == "Busy"
    assert "waits for an answer" in state.message
    assert again.name == "Suspended", again.message
    assert len(provider.requests) == paid
    assert placed.repo.swathe("answer", placed.name, "yes").ok
    assert placed.final(run).name == "Complete"
    assert ": yes" in second_brief(provider)
    known = placed.client.read_deployment_by_name(placed.deployment)
    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", str(known.id))
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", str(run))
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__RUN_COUNT", "5")
    slots.refuse_many_starts()
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__RUN_COUNT", "6")
    with pytest.raises(Refused, match="started 5 times"):
        slots.refuse_many_starts()


@LONG
def test_a_question_that_nobody_answers_is_left_to_the_model(asking):
    placed, run, provider = asking(ask_minutes=0.2)

    assert placed.final(run).name == "Complete"
    assert "use your own judgement, and leave to the operator" in second_brief(provider)
