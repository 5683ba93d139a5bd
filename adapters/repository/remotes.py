"""Remotes: git commands that talk to another repository, with what the operator has for it and nothing else."""

import os
import re
from pathlib import Path

from adapters.repository.git import Place, ask
from domain.value import Refused
from domain.words import without_credentials

OPERATORS = (
    "HOME",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "https_proxy",
    "SWATHE_GIT_TOKEN",
)
"""What is taken from the operator's environment: their ssh agent and credential helpers, and what one may ask for."""

_ROW = re.compile(r"^([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)$", re.MULTILINE)


def talk(place: Place, url: str, *args: str) -> tuple[int, str, str]:
    """Run a git command that talks to `url`; its status, output and error text, without credentials.

    The repository that it runs in is one of ours: no setting of the target's counts.
    """
    environment = {name: os.environ[name] for name in OPERATORS if name in os.environ}
    allowed = {
        "GIT_ALLOW_PROTOCOL": "https:ssh:file:git:http",
        "GIT_CONFIG_GLOBAL": global_config(),
    }
    open_place = Place(git_dir=place.git_dir, extra=environment | allowed)
    options = (
        "core.sshCommand=ssh -oBatchMode=yes",
        "protocol.allow=user",
        "fetch.fsckObjects=false",
        "push.followTags=false",
        "push.gpgSign=false",
        *credentials(open_place, url),
    )
    status, out, err = ask(open_place, *args, options=options)
    return status, os.fsdecode(out), without_credentials(err.decode(errors="replace")).strip()


def refs_at(place: Place, url: str, *patterns: str) -> dict[str, str]:
    """Object id by full name of the refs there that fit one of the patterns."""
    status, out, err = talk(place, url, "ls-remote", "--", url, *patterns)
    if status:
        raise Refused(f"{without_credentials(url)} could not be asked for its refs: {err}")
    return {name: found for found, name in _ROW.findall(out)}


def credentials(place: Place, url: str) -> tuple[str, ...]:
    """The operator's credential helper for the URL, since our options switch every helper off.

    The last one that is named: an empty one, ours among them, only clears the list.
    """
    status, out, _ = ask(place, "config", "--get-all", "-z", "credential.helper")
    general = [name for name in os.fsdecode(out).split("\0") if name] if status == 0 else []
    status, out, _ = ask(place, "config", "--get-urlmatch", "credential.helper", url)
    special = os.fsdecode(out).strip() if status == 0 else ""
    chosen = special or (general[-1] if general else "")
    return (f"credential.helper={chosen}",) if chosen else ()


def global_config() -> str:
    """The file that git itself would read as the operator's."""
    if chosen := os.environ.get("GIT_CONFIG_GLOBAL"):
        return chosen
    plain = Path.home() / ".gitconfig"
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return str(plain if plain.exists() else folder / "git" / "config")
