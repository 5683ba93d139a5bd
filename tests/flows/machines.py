"""A remote that machines share, each with a `$SWATHE_HOME` of its own, and runs that stand in their gate."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from harness import CHECKS, Repo, ended, sh, wait_for
from posts import Post

IN_MID_GATE = f"""
if grep -q DONE m2.py && [ ! -e "$tools/go" ]; then
  cut -d" " -f1 "$tools"/machines/*/targets/*/lock > "$tools/engine"; touch "$tools/inside"
  while [ ! -e "$tools/go" ]; do sleep 0.05; done
fi
{CHECKS}
"""
"""A gate that waits at the second commit, when the first has landed, and says who runs it."""


@dataclass
class Machines:
    """A target that all of them know by the URL of a bare remote, as a work pool."""

    repo: Repo
    remote: Path
    placed: Post

    @classmethod
    def on_duty(cls, repo: Repo, post: Callable[..., Post]) -> "Machines":
        remote = repo.folder.with_suffix(".git")
        repo.git("clone", "-q", "--bare", str(repo.folder), str(remote))
        repo.gate(IN_MID_GATE)
        find, _, edit = repo.axis.removeprefix("cmd:").partition(" => ")
        axis = {"kind": "cmd", "find": find, "edit": edit}
        more = {"parameters": {"axis": axis, "verify_each": True}}
        placed = post(repo, job_variables={"repo": f"file://{remote}"}, more=more).deployed()
        return cls(repo, remote, placed)

    def worker(self, name: str) -> int:
        """Of a machine of this name."""
        return self.placed.worker(home=self.home(name))

    def home(self, name: str) -> Path:
        return self.repo.tools / "machines" / name

    def in_mid_gate(self) -> int:
        """The process of the run that stands in its gate."""
        wait_for(self.repo.tools / "inside", 120)
        return int((self.repo.tools / "engine").read_text())

    def lose(self, name: str, *pids: int) -> None:
        """The machine is gone for good, with its processes and its disk."""
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            assert ended(pid)
        self.home(name).rename(self.repo.tools / "lost")

    def go(self) -> None:
        (self.repo.tools / "go").touch()

    def go_on(self, run: UUID) -> None:
        """What the automations do, once no heartbeat has come for 90 s."""
        from prefect.states import AwaitingRetry  # noqa: PLC0415 -- the server is known by now

        client: Any = self.placed.client
        client.set_flow_run_state(run, AwaitingRetry(), force=True)

    def _git(self, *words: str) -> list[str]:
        done = sh(["git", "--git-dir", str(self.remote), *words], self.remote)
        assert done.ok, done.errors
        return done.output.split()

    @property
    def refs(self) -> list[str]:
        return self._git("for-each-ref", "--format=%(refname)")

    @property
    def landed(self) -> list[str]:
        branches = [ref for ref in self.refs if ref.startswith("refs/heads/swathe/")]
        return self._git("rev-list", "--reverse", *branches, "^main") if branches else []
