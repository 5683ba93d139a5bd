"""Where Swathe keeps its working files: `$SWATHE_HOME`."""

import os
from pathlib import Path

from domain.refusal import Refused


def swathe_home() -> Path:
    """`$SWATHE_HOME`, else `$XDG_STATE_HOME/swathe`, else `~/.local/state/swathe`. Not created."""
    if chosen := os.environ.get("SWATHE_HOME"):
        return _absolute("SWATHE_HOME", chosen)
    if state := os.environ.get("XDG_STATE_HOME"):
        return _absolute("XDG_STATE_HOME", state) / "swathe"
    return Path.home() / ".local" / "state" / "swathe"


def _absolute(variable: str, value: str) -> Path:
    path = Path(value).expanduser()
    if not path.is_absolute():
        # A relative home would be another one in every folder a run is started from.
        raise Refused(
            f"{variable} is {value!r}, a relative path. Set it to an absolute path, or unset it."
        )
    return path
