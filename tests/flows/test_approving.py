"""Approve first: nothing is done about a list before a person has looked at it."""

import io
import json

import pytest
from harness import CHECKS
from servers import LONG

pytestmark = pytest.mark.flow


@pytest.fixture(name="listed")
def _listed(make, post):
    """A run on duty that has shown its list, and waits; on its repository of three sites."""

    def listed():
        repo = make(3)
        repo.gate(CHECKS)
        find, _, edit = repo.axis.removeprefix("cmd:").partition(" => ")
        asked = {"axis": {"kind": "cmd", "find": find, "edit": edit}, "approve": True}
        placed = post(repo, more={"parameters": asked}).deployed()
        placed.worker()
        run = placed.start()
        state = placed.state(run, lambda state: state.name == "Suspended" or state.is_final())
        assert state.name == "Suspended", state.message
        return repo, placed, run

    return listed


def test_a_list_is_approved_and_shortened_before_the_gate_is_run(listed):
    repo, placed, run = listed()
    assert (repo.counted("calls"), repo.counted("edited")) == (0, 0)
    (table,) = [one for one in _artifacts(placed, run) if one.type == "table"]
    assert [row["site"] for row in json.loads(table.data)] == ["m1.py:1", "m2.py:1", "m3.py:1"]

    said = repo.swathe("answer", placed.name, "go m2.py:1")

    assert said.ok, said.errors
    state = placed.final(run)
    assert state.name == "Exhausted", state.message
    assert len(repo.log()) == 2
    assert "SITE" in repo.landed("m2.py")
    assert [left.why for left in repo.state().remaining] == ["declined"]
    (ref,) = [ref for ref in repo.refs if ref.endswith("/state")]
    assert "strike 1 site" in repo.git("log", "--format=%B", ref)


@LONG
def test_a_list_that_is_not_approved_ends_the_run_with_nothing_done(listed):
    repo, placed, run = listed()

    assert repo.swathe("answer", placed.name, "no").ok

    state = placed.final(run)
    assert (state.name, state.type.value) == ("Declined", "COMPLETED")
    assert "nothing was done" in state.message
    assert (repo.counted("calls"), repo.counted("edited")) == (0, 0)
    assert repo.refs.keys() == {"refs/heads/main"}


@pytest.mark.parametrize(
    "case",
    [
        ("m2.py\ny\n", "exhausted", ["m1.py:1", "m3.py:1"]),
        ("\ny\n", "complete", ["m1.py:1", "m2.py:1", "m3.py:1"]),
        ("\nn\n", "declined", []),
        ("m9.py\ny\n", "declined", []),
    ],
)
def test_at_a_terminal_the_list_is_shown_and_asked_about(make, monkeypatch, capfd, case):
    typed, ending, landed = case
    repo = make(3)
    repo.gate(CHECKS)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    report = repo.run(approve=True)

    assert (report.ending, [commit.site for commit in report.landed]) == (ending, landed)
    assert "m2.py:1" in capfd.readouterr().err
    assert bool(repo.counted("calls")) == bool(landed)


def _artifacts(placed, run):
    from prefect.client.schemas.filters import (  # noqa: PLC0415 -- the server is known by now
        ArtifactFilter,
        ArtifactFilterFlowRunId,
    )

    mine = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run]))
    return placed.client.read_artifacts(artifact_filter=mine)
