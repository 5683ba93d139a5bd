"""What a person does in the browser, in both UIs that Prefect serves: fills in a form, answers, watches, cancels."""

import time

import pytest
from browser import UIS, opened
from harness import WAIT
from servers import LONG

pytestmark = [pytest.mark.flow, LONG]

SECONDS = 60.0


@pytest.fixture(name="window", params=UIS)
def _window(request, server_url, home):
    with opened(server_url, request.param) as window:
        yield window


def begun(placed):
    """The run that the form has started."""
    over = time.monotonic() + SECONDS
    while not (runs := placed.runs()):
        assert time.monotonic() < over, "the form has started no run"
        time.sleep(0.1)
    return min(runs, key=lambda run: run.created).id


def deployment(placed):
    return placed.client.read_deployment_by_name(placed.deployment).id


def test_a_campaign_is_started_by_its_form_and_watched_as_it_lands(window, make, post):
    placed = post(make(3)).deployed()
    placed.worker()

    window.form(deployment(placed))
    window.fill("Passes", "3")
    window.submit(lambda: bool(placed.runs()))
    run = begun(placed)
    window.run(run)
    state = placed.final(run)

    assert (state.name, state.type.value) == ("Complete", "COMPLETED"), state.message
    assert len(placed.repo.log()) == 3
    assert placed.client.read_flow_run(run).parameters["budget"]["max_passes"] == 3
    window.shows("Complete")


def test_a_run_that_asks_is_answered_on_its_page(window, make, post):
    """The list, to be approved; as the form stands, the answer is to do nothing."""
    repo = make(3)
    find, _, edit = repo.axis.removeprefix("cmd:").partition(" => ")
    asked = {"axis": {"kind": "cmd", "find": find, "edit": edit}, "approve": True}
    placed = post(repo, more={"parameters": asked}).deployed()
    placed.worker()
    run = placed.start()

    window.run(run)
    window.shows("Suspended")
    window.menu("Resume")
    window.shows("m2.py:1")
    window.confirm("Submit|Resume")
    state = placed.final(run)

    assert (state.name, state.type.value) == ("Declined", "COMPLETED"), state.message
    assert repo.log() == []
    window.shows("Declined")


def test_a_run_is_cancelled_in_the_midst_of_its_gate(window, make, post):
    """R6."""
    repo = make(2)
    repo.gate(WAIT)
    placed = post(repo).deployed()
    placed.worker()
    run = placed.start()
    inside = repo.tools / "inside"
    over = time.monotonic() + SECONDS
    while not inside.exists():
        assert time.monotonic() < over, placed.said()
        time.sleep(0.1)

    window.run(run)
    window.shows("Running")
    window.menu("Cancel")
    window.confirm("^Cancel|Yes|Confirm")
    state = placed.final(run)

    assert state.type.value == "CANCELLED", state.message


def test_a_review_is_started_by_its_form_and_watched_to_its_end(window, make, post):
    repo = make(1, {"a.py": "import os\n\nVALUE = 1\n"})
    more = {"entrypoint": "flows.review_loop.review_loop", "parameters": {"only_rules": True}}
    placed = post(repo, more=more)
    placed.flow = "review-loop"
    placed.deployed()
    placed.worker()

    window.form(deployment(placed))
    window.fill("Minutes", "20")
    window.submit(lambda: bool(placed.runs()))
    run = begun(placed)
    window.run(run)
    state = placed.final(run)

    assert state.type.value == "COMPLETED", state.message
    assert len(repo.log()) == 1
    window.shows(state.name)
