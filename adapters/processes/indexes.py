"""The operator's package indexes, for the set-up alone: it has to reach them, and no test has."""

import configparser
import os
from collections.abc import Mapping
from pathlib import Path

PASSED = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NPM_CONFIG_REGISTRY",
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")

FROM_PIP = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""pip's setting, and uv's for the same thing. uv reads none of pip's, and many machines have only those."""

OLDER_NAMES = {"UV_DEFAULT_INDEX": "UV_INDEX_URL", "UV_INDEX": "UV_EXTRA_INDEX_URL"}


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Every PIP_* and UV_* of the operator, and uv's equivalents of pip's where uv's own are not set."""
    given = {name: value for name, value in environ.items() if name.startswith(("PIP_", "UV_"))}
    given |= {name: environ[name] for name in PASSED if name in environ}
    given |= {name: value for name, value in environ.items() if name.upper() in PROXIES}
    pip = {**_pip_configuration(environ), **given}
    for theirs, ours in FROM_PIP.items():
        if theirs in pip and ours not in given and OLDER_NAMES.get(ours, ours) not in given:
            given[ours] = _list(theirs, pip[theirs])
    if "UV_INDEX" in given:
        # pip looks for the best version in all indexes; uv by default in the first that has the name.
        given.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    cache = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    given.setdefault("UV_CACHE_DIR", str(Path(cache) / "uv"))
    given.setdefault("UV_PYTHON_DOWNLOADS", "never")
    # The gate writes no bytecode, so that a tree moved within a second is never read from a stale
    # cache; what is installed is compiled now, or every run would compile it again.
    given.setdefault("UV_COMPILE_BYTECODE", "1")
    return given


def _list(name: str, value: str) -> str:
    # uv separates links by commas, and indexes by spaces as pip does.
    return ",".join(value.split()) if name == "PIP_FIND_LINKS" else value


def _pip_configuration(environ: Mapping[str, str]) -> dict[str, str]:
    """The same settings from pip's own files, as if they were given in the environment."""
    home = Path.home()
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = ["/etc/pip.conf", home / ".pip" / "pip.conf", config / "pip" / "pip.conf"]
    files += [environ["PIP_CONFIG_FILE"]] if environ.get("PIP_CONFIG_FILE") else []
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read([os.fspath(file) for file in files], encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return {}
    found = {**parser["global"]} if parser.has_section("global") else {}
    keys = {name: name.removeprefix("PIP_").lower().replace("_", "-") for name in FROM_PIP}
    return {name: found[key] for name, key in keys.items() if found.get(key)}
