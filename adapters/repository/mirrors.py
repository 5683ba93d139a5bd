"""Mirrors: a target given by URL is worked on in a bare mirror of ours."""

import hashlib
import re
from pathlib import Path

from adapters.home import swathe_home
from adapters.repository.git import Place, git
from adapters.repository.remotes import talk
from domain.value import Refused
from domain.words import without_credentials


def mirror(url: str, *, offline: bool = False) -> Path:
    """Fetch `url` into its mirror under `$SWATHE_HOME` and return the mirror's git directory."""
    folder = swathe_home() / "mirrors" / mirror_name(url)
    place = Place(git_dir=folder)
    if not (folder / "HEAD").exists():
        if offline:
            raise Refused(
                f"{without_credentials(url)} was not fetched yet: run `swathe run {without_credentials(url)}` first."
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(Place(git_dir=folder), "init", "-q", "--bare", str(folder))
    if not offline:
        _fetch(place, url)
    return folder


def mirror_name(url: str) -> str:
    """A folder name for a URL, without the credentials it may carry."""
    last = re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")
    shaped = re.sub(r"[^A-Za-z0-9._-]", "-", last).strip(".-") or "repository"
    return f"{shaped}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def _fetch(place: Place, url: str) -> None:
    status, _, err = talk(
        place, url, "fetch", "-q", "--prune", "--no-auto-maintenance", "--no-write-fetch-head", "--",
        url, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*",
    )  # fmt: skip
    if status:
        raise Refused(f"{without_credentials(url)} could not be fetched: {err}")
    _, out, _ = talk(place, url, "ls-remote", "--symref", "--", url, "HEAD")
    head = re.match(r"ref: refs/heads/(\S+)\tHEAD", out)
    if head:
        git(place, "symbolic-ref", "HEAD", f"refs/remotes/origin/{head[1]}")
        git(place, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{head[1]}")
