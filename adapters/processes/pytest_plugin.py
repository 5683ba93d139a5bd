"""For the target's own pytest: every process writes a report of its own, where the gate asks for one.

Run there and not here, from a copy, under pytest 6 or newer. It imports nothing of ours.
"""

import os
import uuid

import pytest

ASKED = "SWATHE_PYTEST_REPORT"
"""The one path that every pytest of a command is given."""

INSIDE = "SWATHE_PYTEST_RUNS"
"""Set for what a pytest starts. A pytest that a test starts is its subject, and its failures may be meant."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: "pytest.Config") -> None:
    """Choose the path before the report's own plugin reads it."""
    asked = os.environ.get(ASKED, "")
    if not asked or getattr(config.option, "xmlpath", None) != asked:
        return
    if INSIDE in os.environ:
        config.option.xmlpath = None
        return
    config.option.xmlpath = f"{asked[: -len('.xml')]}-{uuid.uuid4().hex}.xml"
    os.environ[INSIDE] = "1"
    config.add_cleanup(_leave)


def _leave() -> None:
    os.environ.pop(INSIDE, None)
