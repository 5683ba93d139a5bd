"""The ruff settings of the repository, and none from outside of it.

Ruff looks for settings, and for the Python version of a project, in every folder above a file. Our clones lie
below $SWATHE_HOME: what lies above that is nobody's word on this repository.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from adapters.executors.reading import read_regular, walked
from domain.tables import table, toml

FILES = ("ruff.toml", ".ruff.toml")
PROJECT = "pyproject.toml"
FENCE = b"# Swathe: ruff looks for settings no further up. Removed when it has ended.\n"

Kind = Literal["own", "below the root", "none"]


def settings_of(root: Path) -> Kind:
    """Where the tree has ruff settings; a root that says which Python it needs is `below the root` too."""
    if _has_settings(root, ""):
        return "own"
    below = _python_version(root) or any(_has_settings(root, folder) for folder in _projects(root))
    return "below the root" if below else "none"


@contextmanager
def fenced(root: Path, kind: Kind) -> Generator[list[str]]:
    """Options for ruff, while it works in `root`.

    A root with settings is a fence of its own, and a tree without any is looked at with ruff's defaults. Else an
    empty file of settings stands in the root meanwhile: ruff stops there, and reads the Python version beside it.
    Not held off is one thing: where there are settings, and neither they nor a pyproject.toml of the root say
    which Python is meant, ruff takes it from a pyproject.toml above.
    """
    if kind != "below the root":
        yield ["--isolated"] if kind == "none" else []
        return
    fence = root / FILES[0]
    fence.write_bytes(FENCE)
    try:
        yield []
    finally:
        fence.unlink()


def _projects(root: Path) -> set[str]:
    """Folders with a file that may hold settings, each with a slash at its end."""
    names = (path.rpartition("/") for path in walked(root))
    return {f"{folder}/" for folder, _, name in names if folder and name in (*FILES, PROJECT)}


def _has_settings(root: Path, folder: str) -> bool:
    if any(os.path.lexists(root / folder / name) for name in FILES):
        return True
    if not os.path.lexists(root / folder / PROJECT):
        return False
    text = read_regular(root, f"{folder}{PROJECT}")
    # What is no file, or does not parse, is ruff's to complain about.
    return not isinstance(text, bytes) or not toml(text) or "ruff" in table(toml(text), "tool")


def _python_version(root: Path) -> bool:
    text = read_regular(root, PROJECT)
    return isinstance(text, bytes) and "requires-python" in table(toml(text), "project")
