"""The log of a defect of ours: what a bug report needs."""

import platform
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from adapters.home import swathe_home
from adapters.redacting import clean
from domain.value import Refused
from domain.words import without_credentials

PARTS = ("swathe", "prefect", "gitpython", "pydantic", "typer", "rich", "ruff")


def write_log(defect: BaseException) -> Path:
    """Write what happened to a file of its own, and return its path."""
    now = datetime.now(UTC)
    lines = [
        f"at: {now.isoformat(timespec='seconds')}",
        f"command: {sys.argv[1:]!r}",
        f"python: {platform.python_version()} on {platform.platform()}",
        f"versions: {', '.join(f'{part} {_version(part)}' for part in PARTS)}",
        "",
        "".join(traceback.format_exception(defect)),
    ]
    log = _folder() / f"{now:%Y%m%d-%H%M%S-%f}.log"
    log.write_text(
        clean(without_credentials("\n".join(lines))), encoding="utf-8", errors="backslashreplace"
    )
    return log


def _folder() -> Path:
    """`$SWATHE_HOME/crashes`; where that cannot be written, a temporary folder."""
    try:
        folder = swathe_home() / "crashes"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, Refused):
        return Path(tempfile.mkdtemp(prefix="swathe-crash-"))
    return folder


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "missing"
