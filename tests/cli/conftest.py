"""The front door with an engine that only writes down what it was asked."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

import cli
from cli import interruption, main
from domain.doctor import Check, Doctor, Plan, PlannedSite
from domain.gate import GatePlan
from domain.options import RunOptions
from domain.report import Landed, Report
from domain.status import Asked, CampaignStatus, RepoStatus, Taken
from domain.target import Target
from domain.word import Word

TAKE = "git -C /src/x merge --ff-only swathe/ruff-up"


class Ran(BaseModel):
    """What a person sees of one command."""

    code: int
    out: str
    err: str


class Engine(ModuleType):
    """Stands in for `cli.engine`."""

    def __init__(self) -> None:
        super().__init__("cli.engine")
        self.asked: list[object] = []
        self.campaigns = (
            CampaignStatus(axis="ruff:UP", branch="swathe/ruff-up", landed=3, take=TAKE),
        )
        self.well = True
        self.failure: BaseException | None = None
        self.report = Report(
            run="r1",
            ending="complete",
            why="No site is left.",
            axis="ruff:UP",
            target="/src/x",
            branch="swathe/ruff-up",
            tip="f" * 40,
            landed=(Landed(sha="f" * 40, site="a.py:1", subject="Use str", verified="alone"),),
            take=TAKE,
        )

    def _heard(self, *asked: object) -> None:
        self.asked.extend(asked)
        if self.failure:
            raise self.failure

    def run_campaign(self, options: RunOptions) -> Report:
        self._heard(options)
        return self.report

    def demo(self, folder: Path, axis: str, sandbox: str) -> Report:
        self._heard(folder, axis, sandbox)
        return self.report

    def plan(self, options: RunOptions) -> Plan:
        self._heard(options)
        return Plan(
            axis=options.axis,
            target=options.target.repo,
            branch="swathe/ruff-up",
            sites=tuple(
                PlannedSite(place=f"a.py:{line}", rule="UP006", message="Use list")
                for line in range(50)
            ),
            commits=50,
            gate=GatePlan(verify=("pytest -q",), source="detected: pytest"),
            skipped={"generated": 1},
            notes=("12 of F841 have no safe fix",),
        )

    def doctor(self, target: Target) -> Doctor:
        self._heard(target)
        checks = (
            Check(name="git", ok=True, found="2.39.5"),
            Check(name="gate", ok=self.well, found="none", advice="Name a command with --verify."),
        )
        return Doctor(repo=target.repo, checks=checks)

    def status(self, repo: str, axis: str | None) -> RepoStatus:
        self._heard(repo, axis)
        return RepoStatus(repo=repo, campaigns=self.campaigns)

    def say(self, repo: str, axis: str | None, word: Word) -> Asked:
        self._heard(repo, axis, word)
        return Asked(repo=repo, axes=tuple(one.axis for one in self.campaigns), running=self.well)

    def take(self, repo: str, axis: str, *, run: bool) -> Taken:
        self._heard(repo, axis, run)
        return Taken(
            axis=axis,
            branch="swathe/ruff-up",
            tip="f" * 40,
            commits=3,
            command=TAKE,
            ran=run,
            output="Fast-forward",
        )


@pytest.fixture(name="home", autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("SWATHE_HOME", str(home))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return home


@pytest.fixture(name="engine", autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setitem(sys.modules, "cli.engine", engine)
    monkeypatch.setattr(cli, "engine", engine, raising=False)
    return engine


@pytest.fixture(name="swathe")
def _swathe(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Type a command; the answer is its exit code and what it printed."""

    def typed(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["swathe", *arguments])
        listening = {number: signal.getsignal(number) for number in interruption.SIGNALS}
        with pytest.raises(SystemExit) as left:
            main.main()
        for number, handler in listening.items():
            signal.signal(number, handler)
        out, err = capfd.readouterr()
        code = left.value.code
        return Ran(code=code if isinstance(code, int) else 0, out=out, err=err)

    return typed
