"""What a command sees of the operator's environment: little, and never a secret."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from adapters.processes.temporary import private_home

ALLOWED = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "JAVA_HOME", "GOROOT")
"""Besides PATH and the folders of toolchains. A list of what is let in: a list of secrets is never complete."""

TOOLCHAINS = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo", "GOMODCACHE": "go/pkg/mod"}
"""Looked for in the real HOME, since the command's own is empty."""


def scrubbed_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of every command that runs code of the target; `extra` wins over all of it."""
    kept = {name: os.environ[name] for name in ALLOWED if name in os.environ}
    if not kept.keys() & {"LANG", "LC_ALL"}:
        kept["LANG"] = "C.UTF-8"
    toolchains = {
        name: os.environ.get(name) or str(Path.home() / place) for name, place in TOOLCHAINS.items()
    }
    kept |= {name: place for name, place in toolchains.items() if Path(place).is_dir()}
    return {
        **kept,
        "PATH": _path(),
        "HOME": extra.get("HOME") or private_home(),
        "CI": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        **extra,
    }


def tool(name: str) -> str:
    """Path of a console tool that came with us: beside our interpreter first, then on PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"no {name!r} beside {sys.executable!r} nor on PATH. It comes with Swathe: install Swathe again."
        )
    return found


def _path() -> str:
    """The operator's PATH without two kinds of entries that would judge by the wrong tools.

    Those of our own environment would stand in for what the target's lacks, and relative ones
    would be looked up in the judged tree.
    """
    ours = Path(sys.executable).parent if sys.prefix != sys.base_prefix else None
    entries = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    return os.pathsep.join(str(entry) for entry in entries if entry.is_absolute() and entry != ours)
