"""A Prefect server of the tests' own, and this process as its client."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.service import server
from adapters.service.environment import client_environment

LONG = pytest.mark.skipif(
    "SWATHE_LONG_TESTS" not in os.environ,
    reason="waits for what takes minutes, as heartbeats that do not come: `just long`",
)


@contextmanager
def served(home: Path, meanwhile: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Its address. The engine takes it for the operator's: none is started for a test.

    `meanwhile` is called with the environment of its client.
    """
    server.start(home)
    url = server.ready(home, timeout=180)
    assert url, server.log_file(home).read_text()
    ours = {
        name: value
        for name, value in client_environment(url, home).items()
        if name.startswith("PREFECT_")
    }
    before = dict(os.environ)
    os.environ.update(ours)
    from prefect.settings import (  # noqa: PLC0415 -- it reads the environment when it is imported
        PREFECT_API_URL,
        PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW,
        temporary_settings,
    )

    with temporary_settings(
        {
            PREFECT_API_URL: url,
            PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
            PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED: False,
            PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW: "ignore",
        }
    ):
        meanwhile()
        os.environ.clear()
        os.environ.update(before)
        yield url
        from prefect.logging.handlers import APILogHandler  # noqa: PLC0415

        APILogHandler().flush()
    server.stop(home)
