"""Mirrors: a target given by URL is worked on in a bare mirror of ours."""

import hashlib
import os
import re
from pathlib import Path

from adapters.home import swathe_home
from adapters.repository.git import Place, ask, git
from domain.value import Refused

_CREDENTIALS = re.compile(r"//[^/@]*@")
_OPERATORS = ("HOME", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy")
"""What a fetch takes from the operator's environment: their ssh agent and credential helpers."""


def mirror(url: str, *, offline: bool = False) -> Path:
    """Fetch `url` into its mirror under `$SWATHE_HOME` and return the mirror's git directory."""
    if url.startswith("-"):
        raise Refused(f"{url!r} is no URL: it begins with a dash.")
    folder = swathe_home() / "mirrors" / mirror_name(url)
    place = Place(git_dir=folder)
    if not (folder / "HEAD").exists():
        if offline:
            raise Refused(f"{_shown(url)} was not fetched yet: run `swathe run {_shown(url)}` first.")
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
    environment = {name: os.environ[name] for name in _OPERATORS if name in os.environ}
    open_place = Place(
        git_dir=place.git_dir,
        extra={
            **environment,
            "GIT_ALLOW_PROTOCOL": "https:ssh:file:git:http",
            "GIT_CONFIG_GLOBAL": os.environ.get("GIT_CONFIG_GLOBAL", "") or _global_config(),
        },
    )
    options = ("core.sshCommand=ssh -oBatchMode=yes", "protocol.allow=user", "fetch.fsckObjects=false")
    status, _, err = ask(
        open_place, "fetch", "-q", "--prune", "--no-auto-maintenance", "--no-write-fetch-head", "--",
        url, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*", options=options,
    )  # fmt: skip
    if status:
        said = _CREDENTIALS.sub("//", err.decode(errors="replace").strip())
        raise Refused(f"{_shown(url)} could not be fetched: {said}")
    _, out, _ = ask(open_place, "ls-remote", "--symref", "--", url, "HEAD", options=options)
    head = re.match(rb"ref: refs/heads/(\S+)\tHEAD", out)
    if head:
        git(place, "symbolic-ref", "HEAD", f"refs/remotes/origin/{head[1].decode()}")
        git(place, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{head[1].decode()}")


def _global_config() -> str:
    return str(Path.home() / ".gitconfig")


def _shown(url: str) -> str:
    return _CREDENTIALS.sub("//", url)

