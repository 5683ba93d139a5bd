"""A repository on duty for one test: its file, its work pool, and a worker that is a process of its own."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from harness import Repo, ended

from adapters.processes import daemon, shell

SECONDS = 90.0


@dataclass
class Post:
    """A target as a work pool. What a person types is typed: `swathe deploy`, `swathe worker`, `swathe duty`."""

    repo: Repo
    name: str
    client: Any
    job_variables: dict[str, Any] = field(default_factory=dict[str, Any])
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the deployment."""
    flow: str = "campaign"
    workers: list[int] = field(default_factory=list[int])

    @property
    def file(self) -> Path:
        return self.repo.tools / f"{self.name}.yaml"

    @property
    def deployment(self) -> str:
        return f"{self.flow}/sites@{self.name}"

    def write(self, **changed: Any) -> Path:
        find, _, edit = self.repo.axis.removeprefix("cmd:").partition(" => ")
        variables = {
            "repo": str(self.repo.folder),
            "verify": "\n".join(self.repo.verify),
            "environment": self.repo.environment,
            "sandbox": self.repo.sandbox,
            **self.job_variables,
        }
        one = {
            "name": f"sites@{self.name}",
            "entrypoint": "flows.campaign.campaign",
            "work_pool": {"name": self.name},
            "concurrency_limit": {"limit": 1, "collision_strategy": "ENQUEUE"},
            "parameters": {"axis": {"kind": "cmd", "find": find, "edit": edit}},
            **self.more,
            **changed,
        }
        pools = {self.name: {"type": "process", "job_variables": variables}}
        content = {"pull": [], "definitions": {"work_pools": pools}, "deployments": [one]}
        self.file.write_text(yaml.safe_dump(content, sort_keys=False))
        return self.file

    def deploy(self, *words: str) -> shell.Finished:
        return self.repo.swathe("deploy", str(self.file), *words)

    def deployed(self) -> "Post":
        self.write()
        done = self.deploy()
        assert done.ok, done.errors
        return self

    def worker(self, home: Path | None = None) -> int:
        """Of this machine, or of one whose `$SWATHE_HOME` is `home`."""
        program = str(Path(sys.executable).with_name("swathe"))
        log = self.repo.tools / "worker.log"
        env = {**os.environ, "PREFECT_WORKER_QUERY_SECONDS": "1"}
        env |= {"SWATHE_HOME": str(home)} if home else {}
        pid = daemon.start([program, "worker", self.name], env=env, cwd=self.repo.tools, log=log)
        self.workers.append(pid)
        return pid

    def dismiss(self) -> None:
        from prefect.exceptions import ObjectNotFound  # noqa: PLC0415

        with suppress(ObjectNotFound):
            self.client.delete_deployment(self.client.read_deployment_by_name(self.deployment).id)
        for pid in self.workers:
            if not ended(pid, 0):
                os.kill(pid, signal.SIGTERM)
            assert ended(pid, 30)

    def start(self, **asked: Any) -> UUID:
        """A run by hand, as the UI starts one."""
        known = self.client.read_deployment_by_name(self.deployment)
        return self.client.create_flow_run_from_deployment(known.id, **asked).id

    def runs(self) -> list[Any]:
        from prefect.client.schemas.filters import (  # noqa: PLC0415 -- the server is known by now
            WorkPoolFilter,
            WorkPoolFilterName,
        )

        return self.client.read_flow_runs(
            work_pool_filter=WorkPoolFilter(name=WorkPoolFilterName(any_=[self.name]))
        )

    def state(self, run: UUID, wanted: Callable[[Any], bool], seconds: float = SECONDS) -> Any:
        """The state of a run, once it is as `wanted`."""
        deadline = time.monotonic() + seconds
        while not wanted(state := self.client.read_flow_run(run).state):
            assert time.monotonic() < deadline, f"{state}\n{self.said()}"
            time.sleep(0.2)
        return state

    def final(self, run: UUID) -> Any:
        return self.state(run, lambda state: state.is_final())

    def final_after_crash(self, run: UUID) -> Any:
        """The last state of a run that crashed once and goes on."""

        def over(state: Any) -> bool:
            return state.is_final() and self.client.read_flow_run(run).run_count > 1

        return self.state(run, over)

    def is_final(self, run: UUID) -> bool:
        return self.client.read_flow_run(run).state.is_final()

    def said(self) -> str:
        log = self.repo.tools / "worker.log"
        return log.read_text() if log.exists() else ""

    def duty(self) -> dict[str, Any]:
        done = self.repo.swathe("duty", self.name, "--json")
        assert done.ok, done.errors
        (found,) = json.loads(done.output.rstrip("\n").rsplit("\n", 1)[-1])["pools"]
        return found
