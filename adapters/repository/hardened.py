"""How git is run, by whichever runner: one environment and one list of options.

git runs programs for whoever can write its config, hooks or attributes (measured: 10 of 11
planted attacks fired under plain git, none behind these options). So: an environment from an
allow-list, explicit directories, hooks and helpers off, revisions resolved before use, `-z`
and literal pathspecs.

`git.py` is the door. `listed` is the narrow one beside it: to read one output whole, in a command that answers
before GitPython would be imported.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from adapters.processes.tool import run_tool

IDENTITY_NAME = "Swathe"
IDENTITY_EMAIL = "swathe@localhost"

ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_AUTHOR_NAME": IDENTITY_NAME,
    "GIT_AUTHOR_EMAIL": IDENTITY_EMAIL,
    "GIT_COMMITTER_NAME": IDENTITY_NAME,
    "GIT_COMMITTER_EMAIL": IDENTITY_EMAIL,
}

OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=/bin/false",
    "core.sshCommand=/bin/false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.sparseCheckout=false",
    "core.protectNTFS=true",
    "core.protectHFS=true",
    "core.fsync=committed,reference",
    "core.autocrlf=false",
    "credential.helper=",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "safe.bareRepository=explicit",
    "transfer.fsckObjects=true",
    "receive.fsckObjects=true",
)


OPERATORS = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL")
"""What git needs to find the operator's own settings, since `safe.directory` is theirs to set."""


class GitFailed(Exception):
    """A git command ended with a status that its caller had not planned for."""

    def __init__(self, command: str, status: int, message: str) -> None:
        super().__init__(command, status, message)
        self.status = status
        self.message = message

    def __str__(self) -> str:
        command, status, message = cast("tuple[str, int, str]", self.args)
        return f"`git {command}` ended with {status}: {message.strip() or 'no message'}"


@dataclass(frozen=True)
class Place:
    """Where a git command works. Nothing is discovered from the current folder."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    extra: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """Further environment, for the one command that needs it."""

    def environment(self) -> dict[str, str]:
        env = {**ENVIRONMENT, "PATH": search_path(), "GIT_DIR": str(self.git_dir)}
        if self.work_tree:
            env["GIT_WORK_TREE"] = str(self.work_tree)
        if self.index:
            env["GIT_INDEX_FILE"] = str(self.index)
        return env | dict(self.extra)


def options_of(*more: str) -> list[str]:
    """The options as words of a command."""
    return [word for option in (*OPTIONS, *more) for word in ("-c", option)]


def listed(place: Place, *args: str, stdin: bytes = b"") -> bytes:
    """What a git command that only reads puts out; any status but 0 is `GitFailed`."""
    command = ["git", *options_of(), *args]
    folder = place.work_tree or place.git_dir
    done = run_tool(command, cwd=folder, stdin=stdin, environment=place.environment())
    if done.exit_code:
        raise GitFailed(" ".join(args[:3]), done.exit_code, done.complaint)
    return done.stdout


def search_path() -> str:
    return os.environ.get("PATH", os.defpath)
