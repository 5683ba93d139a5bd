"""Where Swathe keeps its working files: `$SWATHE_HOME`."""

import os
import uuid
from contextlib import suppress
from pathlib import Path

from domain.refusal import Refused


def swathe_home() -> Path:
    """`$SWATHE_HOME`, else `$XDG_STATE_HOME/swathe`, else `~/.local/state/swathe`. Not created."""
    if chosen := os.environ.get("SWATHE_HOME"):
        return _absolute("SWATHE_HOME", chosen)
    if state := os.environ.get("XDG_STATE_HOME"):
        return _absolute("XDG_STATE_HOME", state) / "swathe"
    return Path.home() / ".local" / "state" / "swathe"


def disk() -> str:
    """Which `$SWATHE_HOME` this is: a path may be another disk on another machine, or after a restart."""
    path = swathe_home() / "disk"
    with suppress(FileNotFoundError):
        if known := path.read_text(encoding="ascii"):
            return known
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"disk.{uuid.uuid4().hex}.draft")
    draft.write_text(uuid.uuid4().hex, encoding="ascii")
    with suppress(FileExistsError):  # somebody else's word for it was quicker
        path.hardlink_to(draft)
    draft.unlink()
    return path.read_text(encoding="ascii")


def _absolute(variable: str, value: str) -> Path:
    path = Path(value).expanduser()
    if not path.is_absolute():
        # A relative home would be another one in every folder a run is started from.
        raise Refused(
            f"{variable} is {value!r}, a relative path. Set it to an absolute path, or unset it."
        )
    return path
