"""The guard around every test: nothing of the developer's own world is read, and nothing is left in it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

OURS = ("GIT_", "ANTHROPIC_", "OPENAI_", "PREFECT_", "SWATHE_", "PYTEST_ADDOPTS", "XDG_")


@pytest.fixture(autouse=True, name="world")
def _world(tmp_path: Path) -> Iterator[None]:
    """A HOME of the test's own, an identity for git, no key and no setting of the developer; all put back after it."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(OURS):
            del os.environ[name]
    home = tmp_path / ".home"
    home.mkdir()
    os.environ |= {
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
