"""A secret of the operator's that a gate gets hold of is nowhere in what a run leaves behind (cases.md, S1, S7)."""

import base64
import sqlite3
import time

import pytest
from harness import CHECKS, breaks

from adapters import redacting
from domain.redaction import MARK

pytestmark = pytest.mark.flow

CANARY = "cAnary-9f8e7d6c5b4a3z2y"
FORMS = (CANARY, base64.b64encode(CANARY.encode()).decode(), CANARY.encode().hex())
TELLING = f"""
cat "$tools/canary"; base64 < "$tools/canary"; od -An -tx1 -v < "$tools/canary" | tr -d ' \\n'
{CHECKS}; ended=$?
sed -i "s/ has / has $(cat "$tools/canary") /" "$SWATHE_JUNIT/checks.xml"
exit $ended
"""
"""A gate that has found the secret, and says it wherever it can: in its log and in the message of a failing test."""


@pytest.fixture(name="database")
def _database(server_url, tmp_path_factory):
    """All that the server has kept, as text."""
    (path,) = tmp_path_factory.getbasetemp().glob("server[0-9]*/prefect/prefect.db")

    def read() -> str:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            return "\n".join(database.iterdump())

    return read


@pytest.fixture(name="canary")
def _canary(monkeypatch):
    monkeypatch.setenv("MY_API_TOKEN", CANARY)


def kept(folder) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def holding(files: dict[str, bytes]) -> list[str]:
    return [name for name, data in files.items() if any(form.encode() in data for form in FORMS)]


def test_a_run_leaves_no_trace_of_a_secret_that_its_gate_prints(make, canary, database):
    """S1: terminal, logs, reports, artifacts, Prefect's database, refs and commits."""
    repo = make(3)
    repo.edits("m2", breaks(2))
    repo.edits("m3", f'echo "VALUE = 3  # {FORMS[1]}" > m3.py')
    (repo.tools / "canary").write_text(CANARY)
    repo.gate(TELLING)

    done, report = repo.typed()

    assert {p.site: p.reason for p in report.parked} == {
        "m2.py:1": "red",
        "m3.py:1": "new secret (your MY_API_TOKEN): m3.py:1",
    }
    assert [f.message for p in report.parked for f in p.failures] == [f"m2.py has {MARK} -2"]
    logs = [data for name, data in kept(repo.home).items() if "/runs/" in name and "gate-" in name]
    assert all(data.count(MARK.encode()) == len(FORMS) for data in logs)
    assert len(logs) == report.gate_runs
    assert holding({"stdout": done.output.encode(), "stderr": done.errors.encode()}) == []
    assert holding(kept(repo.home)) == []
    names = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert holding({name: repo.git("cat-file", "-p", name).encode() for name in names}) == []
    everything = database()
    assert report.run in everything
    assert holding({"database": everything.encode()}) == []


def test_a_secret_that_was_typed_is_refused_before_anything_is_kept(make, canary):
    """No key is a flow parameter; and what the command line answers does not say it either."""
    repo = make(1)

    done = repo.swathe("run", *repo.words(), "--verify", f"echo {CANARY}", "--json")

    assert done.exit_code == 2
    assert "$MY_API_TOKEN" in done.output + done.errors
    assert holding({"terminal": (done.output + done.errors).encode(), **kept(repo.home)}) == []
    assert repo.branches == []


def test_a_refusal_that_quotes_the_gates_log_is_clean(make, canary):
    repo = make(1)
    (repo.tools / "canary").write_text(CANARY)
    repo.gate('cat "$tools/canary"; exit 1')

    done = repo.swathe("run", *repo.words())

    assert done.exit_code == 2
    assert "red on the base commit" in done.errors
    assert MARK in done.errors
    assert holding({"terminal": (done.output + done.errors).encode(), **kept(repo.home)}) == []


def test_what_a_step_logs_and_raises_reaches_the_database_clean(home, canary, database):
    """The control, a step that is not discreet, shows that the look would find it."""
    from prefect import flow, task  # noqa: PLC0415 -- the server is known by now
    from prefect.logging import get_run_logger  # noqa: PLC0415
    from prefect.logging.handlers import APILogHandler  # noqa: PLC0415

    control = "control-1a2b3c4d5e6f"

    def step(said: str) -> None:
        get_run_logger().warning("logged %s", said)
        message = f"raised {said}"
        raise ValueError(message)

    @flow
    def both() -> None:
        task(name="discreet")(redacting.discreet(step))(CANARY, return_state=True)
        task(name="loud")(step)(control, return_state=True)

    both()
    APILogHandler().flush()
    deadline = time.monotonic() + 60
    everything = database()
    while everything.count(control) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
        everything = database()

    assert f"logged {control}" in everything
    assert f"raised {control}" in everything
    assert f"logged {MARK}" in everything
    assert f"Withheld: ValueError: raised {MARK}" in everything
    assert holding({"database": everything.encode()}) == []
