"""Words to a run that is on: from the command line, and from the UI or another machine through the server."""

import json
import time

import pytest
from harness import CHECKS, wait_for
from model_scripts import by_phase, changing, finish, sites

from adapters.processes.sandbox import available
from cli import engine
from domain.word import Word, variable

pytestmark = pytest.mark.flow

AXIS = "count from zero in every module"
GATE = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
FILES = dict.fromkeys(("keep.txt", "a.txt", "b.txt", "c.txt"), "one\n")
MODEL = {"axis": AXIS, "hired": {"family": "claude"}, "sandbox": "required"}
needs_a_sandbox = pytest.mark.skipif(not available().works, reason="needs a sandbox")


def test_passes_that_are_added_in_mid_pass_are_made(make):
    repo = make(2)
    repo.edits("m1", "exit 3\n")
    repo.gate(f'[ "$call" != 3 ] || {repo.typing("raise", "--max-passes 2")}\n{CHECKS}')

    report = repo.run(budget={"max_passes": 1})

    assert (report.ending, report.passes) == ("passes", 2)
    assert "has the higher budget" in (repo.tools / "raise").read_text()


@needs_a_sandbox
def test_a_sentence_reaches_the_model_between_two_calls_and_is_in_the_next_brief(make, serve):
    heard = []

    def said(seen):
        engine.say(str(repo.folder), None, Word(tell="leave b.txt as it is"))
        return changing("a.txt", "zero\n", "Count a from zero")

    def listens(seen):
        heard.append(json.dumps(seen.body["messages"][-1]))
        return finish()

    left = [sites({"path": "c.txt", "line": 1, "what": "counts from one"}), sites()]
    work = [[said, listens], [changing("c.txt", "zero\n", "Count c from zero"), finish()]]
    provider = serve(by_phase(work, [lambda _: left.pop(0)]))
    repo = make(0, FILES)
    repo.gate(GATE)

    report = repo.run(**MODEL)

    assert report.ending == "complete", report.why
    assert "The operator says: leave b.txt as it is" in heard[0]
    second = [request.raw.decode() for request in provider.requests if b"Pass 2." in request.raw]
    assert second
    assert all(body.count("leave b.txt as it is") == 1 for body in second), "told once"
    assert not list(repo.home.glob("targets/*/words-*")), "it was said to this run"


@needs_a_sandbox
def test_money_that_is_added_in_mid_pass_can_be_spent(make, serve):
    def raises(seen):
        engine.say(str(repo.folder), None, Word(max_usd=5))
        return changing("a.txt", "zero\n", "Count a from zero")

    tries = [changing("b.txt", f"{'x' * 4000}{n}\n", f"Try {n}") for n in range(12)]
    serve(by_phase([[raises, *tries, finish()]], [sites()]))
    repo = make(0, FILES)
    repo.gate(GATE)

    report = repo.run(**MODEL, budget={"max_usd": 0.25})

    assert report.ending == "complete", report.why
    assert report.spend_usd > 0.25
    assert len(repo.log()) == 13


IN_MID_GATE = f"""
if grep -q DONE m1.py && [ ! -e "$tools/go" ]; then
  touch "$tools/inside"; while [ ! -e "$tools/go" ]; do sleep 0.05; done
fi
{CHECKS}
"""


def test_words_reach_a_run_on_duty_through_the_server(make, post):
    """From the UI, where a variable is made by hand, and with --pool; what was said to an earlier run is not obeyed."""
    from prefect.client.schemas.actions import (  # noqa: PLC0415 -- the server is known by now
        VariableCreate,
        VariableUpdate,
    )

    repo = make(2)
    repo.edits("m2", "exit 3\n")
    repo.gate(IN_MID_GATE)
    placed = post(repo)
    placed.more = {"parameters": {**_axis_of(repo), "budget": {"max_passes": 1}}}
    placed.deployed()
    name = variable(placed.name)
    placed.client.create_variable(VariableCreate(name=name, value={"enough": True}))
    placed.worker()

    run = placed.start()
    wait_for(repo.tools / "inside", 120)
    _until(lambda: placed.client.read_variable_by_name(name) is None)
    placed.client.create_variable(VariableCreate(name=name, value="stop!"))
    _until(lambda: "can't be read: 'stop!'" in _events(repo))
    placed.client.update_variable(VariableUpdate(name=name, value={"max_passes": 2}))
    _until(lambda: "the budget is raised to passes 2" in _events(repo))
    _until(lambda: placed.client.read_variable_by_name(name) is None)
    said = repo.swathe("tell", placed.name, "leave m1.py", "--pool")
    assert said.ok, said.errors
    _until(lambda: "to the model: leave m1.py" in _events(repo))
    assert repo.swathe("enough", str(repo.folder), "--pool").ok
    _until(lambda: "the operator says: enough" in _events(repo))
    (repo.tools / "go").touch()

    state = placed.final(run)
    assert state.name == "Enough", state.message
    told = repo.swathe("enough", placed.name, "--pool")
    assert told.ok
    assert "Nothing runs now" in told.output
    assert placed.client.read_variable_by_name(name) is None


def _axis_of(repo) -> dict[str, object]:
    find, _, edit = repo.axis.removeprefix("cmd:").partition(" => ")
    return {"axis": {"kind": "cmd", "find": find, "edit": edit}}


def _events(repo) -> str:
    paths = repo.home.glob("targets/*/runs/*/events.jsonl")
    return "".join(path.read_text() for path in paths)


def _until(reached, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.1)
