"""A real repository for every test of the repository's doors; `world` (tests/conftest.py) guards them."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from repos import Campaign, Repo
from stub_provider import Provider
from stub_script import Script
from talks import Talk, laid

from adapters import beginning
from domain.axis import Axis
from domain.hired import Family, Hired


@pytest.fixture(name="home", autouse=True)
def _home(tmp_path: Path, world: None) -> Path:
    """Working files of this test alone; `world` puts the environment back."""
    home = tmp_path / "swathe home"
    os.environ["SWATHE_HOME"] = str(home)
    return home


@pytest.fixture(name="target")
def _target(tmp_path: Path) -> Repo:
    """A repository with one commit, made by git itself."""
    repo = Repo(tmp_path / "target")
    repo.commit(
        {
            "a.py": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
            "pkg/b.py": "b = 1\n",
            "tests/test_a.py": "import a\n",
        }
    )
    return repo


@pytest.fixture(name="open_campaign")
def _open_campaign() -> Iterator[Callable[..., Campaign]]:
    """Open campaigns, and let go of their locks when the test is over."""
    opened: list[Campaign] = []

    def open_one(repo: Repo | Path | str, **more: object) -> Campaign:
        place = repo.folder if isinstance(repo, Repo) else repo
        opened.append(Campaign(place, **more))
        return opened[-1]

    yield open_one
    for one in opened:
        one.end()


@pytest.fixture(name="campaign")
def _campaign(target: Repo, open_campaign: Callable[..., Campaign]) -> Campaign:
    return open_campaign(target)


@pytest.fixture(name="hire")
def _hire(
    open_campaign: Callable[..., Campaign], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Campaign]:
    """A run that has set out with a model of claude's, or of another family, at work in it."""

    def begin(
        one: Talk, repo: Repo, axis: Axis, *, family: Family = "claude", **more: object
    ) -> Campaign:
        for name, value in one.provider.environment().items():
            monkeypatch.setenv(name, value)
        campaign = open_campaign(repo, **{"environment": sys.prefix, **more})
        hired = {"hired": Hired(family=family)}
        campaign.workspace = campaign.workspace.model_copy(update=hired)
        beginning.set_out(campaign.workspace, axis)
        return campaign

    return begin


@pytest.fixture(name="clone")
def _clone(tmp_path: Path) -> Repo:
    """What an agent works in."""
    return laid(tmp_path, {"a.py": "print('bye')\n", "b.py": "x = 1\n"})


@pytest.fixture(name="talk")
def _talk(tmp_path: Path, clone: Repo) -> Iterator[Callable[..., Talk]]:
    """Talks with a scripted provider, which is closed with the test."""
    opened: list[Provider] = []

    def make(script: Script, family: str = "claude", **more: Any) -> Talk:
        provider = Provider(script, tmp_path, rates=more.pop("rates", None))
        opened.append(provider)
        return Talk(tmp_path, provider.__enter__(), family, **more)

    yield make
    for provider in opened:
        provider.__exit__()
