"""One Prefect server for the session, and a target of its own for every test."""

import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import CHECKS, PYTEST, Repo, modules, values
from posts import Post
from servers import served
from stub_provider import Provider
from stub_script import Script

from adapters.service.environment import client_environment


@pytest.fixture(scope="session", name="server_url")
def _server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Our own server; and what children are forked from, which has loaded the engine."""

    def fork_from() -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["flows.campaign", "cli.engine"])
        forkserver = multiprocessing.forkserver  # pyright: ignore -- starts with our environment
        forkserver.ensure_running()

    with served(tmp_path_factory.mktemp("server"), fork_from) as url:
        yield url


@pytest.fixture(autouse=True, name="home")
def _home(server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: None) -> Path:
    """Working files of this test alone, on the session's server."""
    home = tmp_path / "swathe home"
    monkeypatch.setenv("SWATHE_HOME", str(home))
    for name, value in client_environment(server_url, home).items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture(name="make")
def _make(tmp_path: Path, home: Path) -> Callable[..., Repo]:
    """Make a target: `count` modules with a site each, proved by a quick gate, or by pytest."""

    def made(
        count: int = 0,
        files: dict[str, str] | None = None,
        *,
        pytest: bool = False,
        name: str = "target",
        **wanted: int,
    ) -> Repo:
        repo = Repo(
            tmp_path / name, tmp_path / f"{name}-tools", verify=(PYTEST if pytest else CHECKS,)
        )
        repo.write(modules(count) if pytest else values(count, **wanted)).write(files or {})
        repo.commit()
        return repo

    return made


@pytest.fixture(name="serve")
def _serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Script], Provider]]:
    """Open a provider that plays a script, with a bill of its own; the environment says where the last one is."""
    opened: list[Provider] = []

    def serve(script: Script) -> Provider:
        folder = tmp_path / f"provider-{len(opened)}"
        folder.mkdir()
        provider = Provider(script, folder)
        opened.append(provider)
        for name, value in provider.__enter__().environment().items():
            monkeypatch.setenv(name, value)
        return provider

    yield serve
    for provider in opened:
        provider.__exit__()


@pytest.fixture(name="client")
def _client(home: Path) -> Iterator[object]:
    from prefect.client.orchestration import get_client  # noqa: PLC0415 -- the server is known by now

    with get_client(sync_client=True) as client:
        yield client


@pytest.fixture(name="post")
def _post(
    make: Callable[..., Repo], client: object, tmp_path: Path
) -> Iterator[Callable[..., Post]]:
    """Put a target on duty; its workers are dismissed at the end."""
    posts: list[Post] = []

    def placed(repo: Repo | None = None, **more: dict[str, object]) -> Post:
        name = f"{tmp_path.name}-{len(posts)}".replace("_", "-")
        posts.append(Post(repo or make(2), name, client, **more))
        return posts[-1]

    yield placed
    for post in posts:
        post.dismiss()
