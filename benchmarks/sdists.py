"""Source distributions: real code with its own tests, downloaded once."""

import os
import sys
from pathlib import Path

from benchmarks.choices import Choices
from benchmarks.repositories import committed, shell, unpacked

NAMES = {
    "inflection": "inflection-0.4.0",
    "sqlparse": "sqlparse-0.3.1",
    "Pygments": "Pygments-2.6.1",
    "Django": "Django-5.2",
}


def repository(name: str, choices: Choices, folder: Path) -> Path:
    """The distribution as a fresh repository with one commit."""
    repo = unpacked(archive(name, choices), folder)
    committed(repo)
    return repo


def archive(name: str, choices: Choices) -> Path:
    """The sdist of a known name: from `--sdists`, from the cache, or from the package index."""
    return release(NAMES[name], choices)


def release(wanted: str, choices: Choices) -> Path:
    """The sdist of a version, as `Django-5.2`."""
    for place in (choices.sdists, _cache()):
        if place and (found := _in(place, wanted)):
            return found
    return _downloaded(wanted)


def _in(place: Path, wanted: str) -> Path | None:
    """By name, whatever its capitals: an index may spell it in its own way."""
    names = (path for path in sorted(place.glob("*.tar.gz")))
    return next((path for path in names if path.name.lower() == f"{wanted}.tar.gz".lower()), None)


def _downloaded(wanted: str) -> Path:
    name, _, version = wanted.rpartition("-")
    options = ["download", "--no-deps", "--no-binary", ":all:", "-d", str(_cache())]
    _cache().mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", *options, f"{name}=={version}"]
    done = shell(pip, _cache(), **os.environ)
    assert done.ok, (
        f"{wanted} could not be downloaded; give a folder with it by --sdists.\n{done.errors}"
    )
    found = _in(_cache(), wanted)
    assert found, f"{wanted} is no .tar.gz"
    return found


def _cache() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "swathe" / "sdists"
