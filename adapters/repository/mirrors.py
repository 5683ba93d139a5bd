"""Mirrors: a target given by URL is worked on in a bare mirror of ours."""

import hashlib
import os
import re
from pathlib import Path

from adapters.home import swathe_home
from adapters.repository.git import Place, ask, git
from domain.value import Refused

_CREDENTIALS = re.compile(r"//[^/@]*@")
_OPERATORS = (
    "HOME",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "https_proxy",
)
"""What a fetch takes from the operator's environment: their ssh agent and credential helpers."""


def mirror(url: str, *, offline: bool = False) -> Path:
    """Fetch `url` into its mirror under `$SWATHE_HOME` and return the mirror's git directory."""
    folder = swathe_home() / "mirrors" / mirror_name(url)
    place = Place(git_dir=folder)
    if not (folder / "HEAD").exists():
        if offline:
            raise Refused(
                f"{_shown(url)} was not fetched yet: run `swathe run {_shown(url)}` first."
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
    environment = {name: os.environ[name] for name in _OPERATORS if name in os.environ}
    allowed = {
        "GIT_ALLOW_PROTOCOL": "https:ssh:file:git:http",
        "GIT_CONFIG_GLOBAL": _global_config(),
    }
    open_place = Place(git_dir=place.git_dir, extra=environment | allowed)
    options = (
        "core.sshCommand=ssh -oBatchMode=yes",
        "protocol.allow=user",
        "fetch.fsckObjects=false",
        *_credentials(open_place, url),
    )
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
        git(
            place,
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            f"refs/remotes/origin/{head[1].decode()}",
        )


def _credentials(place: Place, url: str) -> tuple[str, ...]:
    """The operator's credential helper for the URL, since our options switch every helper off.

    The last one that is named: an empty one, ours among them, only clears the list.
    """
    status, out, _ = ask(place, "config", "--get-all", "-z", "credential.helper")
    general = [name for name in os.fsdecode(out).split("\0") if name] if status == 0 else []
    status, out, _ = ask(place, "config", "--get-urlmatch", "credential.helper", url)
    special = os.fsdecode(out).strip() if status == 0 else ""
    chosen = special or (general[-1] if general else "")
    return (f"credential.helper={chosen}",) if chosen else ()


def _global_config() -> str:
    """The file that git itself would read as the operator's."""
    if chosen := os.environ.get("GIT_CONFIG_GLOBAL"):
        return chosen
    plain = Path.home() / ".gitconfig"
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return str(plain if plain.exists() else folder / "git" / "config")


def _shown(url: str) -> str:
    return _CREDENTIALS.sub("//", url)
