"""More than one machine: each has a `$SWATHE_HOME` of its own, and what they share is a remote and a Prefect server."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import CHECKS, Repo, ended, sh, wait_for

pytestmark = pytest.mark.flow

IN_MID_GATE = f"""
if grep -q DONE m2.py && [ ! -e "$tools/go" ]; then
  cut -d" " -f1 "$tools"/machine-a/targets/*/lock > "$tools/engine"; touch "$tools/inside"
  while [ ! -e "$tools/go" ]; do sleep 0.05; done
fi
{CHECKS}
"""
"""A gate that waits at the second commit, when the first has landed."""


@dataclass
class Remote:
    """A bare repository, which all machines reach."""

    folder: Path
    repo: Repo

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *words: str) -> list[str]:
        done = sh(["git", "--git-dir", str(self.folder), *words], self.folder)
        assert done.ok, done.errors
        return done.output.split()

    @property
    def refs(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname)")

    @property
    def landed(self) -> list[str]:
        branches = [ref for ref in self.refs if ref.startswith("refs/heads/swathe/")]
        return self.git("rev-list", "--reverse", *branches, "^main") if branches else []


@pytest.fixture(name="remote")
def _remote(make, tmp_path):
    made = Remote(tmp_path / "remote.git", make(2))
    made.repo.git("clone", "-q", "--bare", str(made.repo.folder), str(made.folder))
    return made


@pytest.fixture(name="on_duty")
def _on_duty(remote, post):
    """The remote as a work pool, whose runs stand in their gate after a first commit has landed."""
    repo = remote.repo
    repo.gate(IN_MID_GATE)
    find, _, edit = repo.axis.removeprefix("cmd:").partition(" => ")
    axis = {"kind": "cmd", "find": find, "edit": edit}
    more = {"parameters": {"axis": axis, "verify_each": True}}
    return post(repo, job_variables={"repo": remote.url}, more=more).deployed()


def test_a_run_that_one_machine_began_is_finished_by_another_with_an_empty_disk(remote, on_duty):
    """T65, T68, T104. The first machine is gone for good, in the midst of a gate."""
    from prefect.states import AwaitingRetry  # noqa: PLC0415 -- the server is known by now

    tools = remote.repo.tools
    first = on_duty.worker(home=tools / "machine-a")
    run = on_duty.start()
    wait_for(tools / "inside", 120)
    landed = remote.landed
    assert len(landed) == 1
    engine = int((tools / "engine").read_text())

    for pid in (first, engine):
        os.kill(pid, signal.SIGKILL)
    assert ended(engine)
    (tools / "machine-a").rename(tools / "lost")
    (tools / "go").touch()
    # What the automations do, once no heartbeat has come for 90 s.
    on_duty.client.set_flow_run_state(run, AwaitingRetry(), force=True)
    on_duty.worker(home=tools / "machine-b")

    state = on_duty.final_after_crash(run)
    assert state.name == "Complete", state.message
    assert remote.landed[:1] == landed
    assert len(remote.landed) == 2
    assert not any(ref.startswith("refs/swathe-lease") for ref in remote.refs)
    assert not (tools / "machine-a").exists()
