"""Interpreters and toolchains outside the system's folders: found again, so that exactly they are bound."""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store")

LANDMARKS = (
    "pyvenv.cfg",
    "lib/python3*/os.py",
    "lib/pypy3*/os.py",
    "lib/node_modules/npm",
    "src/runtime/runtime.go",
    "lib/modules",
)
"""What shows that a folder is an environment or an installation: of Python, Node, Go, Java."""

HOMES = {
    "RUSTUP_HOME": ("",),
    # Not the whole: `credentials.toml` lies beside these.
    "CARGO_HOME": ("bin", "registry", "git"),
    "GOMODCACHE": ("",),
    "GOROOT": ("",),
    "JAVA_HOME": ("",),
}
FILES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
LOCAL_INDEXES = ("UV_FIND_LINKS", "UV_DEFAULT_INDEX", "UV_INDEX", "PIP_FIND_LINKS")


def named(words: str) -> tuple[Path, ...]:
    """Files that a command of the operator's own names by their whole path, and what they need to run.

    Of the operator's alone: a command out of the repository would choose what is shown to it.
    """
    try:
        paths = [Path(word) for word in shlex.split(words) if word.startswith("/")]
    except ValueError:
        return ()
    there = [path for path in paths if path.is_file() and _may_be_shown(path)]
    return tuple(dict.fromkeys((*there, *toolchains({}, (path.parent for path in there)))))


def toolchains(env: Mapping[str, str], tools: Iterable[Path] = ()) -> tuple[Path, ...]:
    """What a command with this environment, and `tools`, needs to read outside the system's folders.

    A folder on PATH that is part of no installation is not among them: a home's `bin` may hold anything.
    """
    found: dict[Path, None] = {}
    for folder in (*map(Path, env.get("PATH", "").split(os.pathsep)), *tools):
        for prefix in _installations(folder):
            found[prefix] = None
    for name, below in HOMES.items():
        if env.get(name):
            found |= {Path(env[name], part): None for part in below}
    found |= {Path(env[name]): None for name in FILES if env.get(name)}
    found |= dict.fromkeys(_local_indexes(env))
    return tuple(path for path in found if path.is_absolute() and _may_be_shown(path))


def _installations(folder: Path) -> list[Path]:
    """The installation that `folder` is the `bin` of, and those it leans on."""
    if not folder.is_absolute():
        return []
    prefixes = [folder.parent]
    config = folder.parent / "pyvenv.cfg"
    if config.is_file():
        lines = (line.partition("=") for line in config.read_text(errors="replace").splitlines())
        prefixes += [Path(value.strip()).parent for key, _, value in lines if key.strip() == "home"]
    for name in ("python", "python3", "node"):
        if (folder / name).is_symlink():
            prefixes.append((folder / name).resolve().parent.parent)
    # The set-up wrote `pyvenv.cfg` and the links, and runs code of others: they are believed
    # only of folders that look like what they should be.
    return [prefix for prefix in prefixes if _is_installation(prefix)]


def _is_installation(prefix: Path) -> bool:
    return prefix.is_absolute() and any(next(prefix.glob(mark), None) for mark in LANDMARKS)


def _may_be_shown(path: Path) -> bool:
    """Whether it is there, is not of the system's folders, and does not hold somebody's home."""
    real = path.resolve()
    homes = (Path.home().resolve(), Path("/root"), Path("/home"))
    return (
        real.exists()
        and not any(real.is_relative_to(place) for place in SYSTEM)
        and not any(home.is_relative_to(real) for home in homes)
    )


def _local_indexes(env: Mapping[str, str]) -> list[Path]:
    words = [word for name in LOCAL_INDEXES for word in env.get(name, "").replace(",", " ").split()]
    named = (word.partition("=")[2] or word for word in words)
    paths = [word.removeprefix("file://") for word in named if word.startswith(("file:///", "/"))]
    # The pages of an index lie in `simple`, and lead to files beside it.
    return [Path(path.partition("/simple")[0]) for path in paths]
