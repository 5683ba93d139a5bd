"""The guard around every test: nothing of the developer's own world is read, and nothing is left in it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

UV_CACHE = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
"""The one thing of the developer's that is used: what was downloaded is not downloaded again."""

OURS = ("GIT_", "ANTHROPIC_", "OPENAI_", "PREFECT_", "SWATHE_", "PYTEST_ADDOPTS", "XDG_")


def pytest_configure() -> None:
    """A shell that starts the tests in the background has them ignore SIGINT, and so would all that they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, name="world")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A HOME of the test's own, an identity for git, no key and no setting of the developer; all put back after it."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(OURS):
            del os.environ[name]
    home = tmp_path_factory.mktemp("home")
    os.environ |= {
        "UV_CACHE_DIR": UV_CACHE,
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Tester",
        "GIT_AUTHOR_EMAIL": "tester@example.com",
        "GIT_COMMITTER_NAME": "Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.com",
    }
    yield
    os.environ.clear()
    os.environ.update(before)
