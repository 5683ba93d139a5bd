"""The target's environment: prepared on the base commit, once per digest of what it is made from."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.erasing import erase
from adapters.failpoints import reach
from adapters.processes import indexes, sandbox, shell
from adapters.processes.toolchains import toolchains
from adapters.whole import write_whole
from domain.environment import Environment, SetupFailed, digest_of
from domain.gate import GatePlan
from domain.installation import installation_of
from domain.sandbox import OPEN, Sandbox, ports_in, setup
from domain.tables import json_table, table
from domain.workflows import is_workflow

READY = "ready.json"
WORKING_FOLDERS = ("home", "temporary")
"""Of the set-up alone, and on disk: it may download and build more than fits in memory."""
TAIL_CHARACTERS = 6_000
RUNNERS = {"pytest": re.compile(r"py\.?test"), "coverage": re.compile(r"\bcoverage run\b")}
"""What a command needs though the target may not say so."""

NODE_LOCKS = {
    "package-lock.json": "npm ci --no-audit --no-fund",
    "npm-shrinkwrap.json": "npm ci --no-audit --no-fund",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    "package.json": "npm install --no-audit --no-fund --no-package-lock",
}


OFFLINE = {
    "UV_OFFLINE": "1",
    "PIP_NO_INDEX": "1",
    "npm_config_offline": "true",
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
}
"""So that tools say at once that something is missing, instead of waiting for names to be found."""


def prepare(
    plan: GatePlan,
    folder: Path,
    envs: Path,
    manifests: Mapping[str, bytes],
    log: Path,
    *,
    held: Sandbox = OPEN,
) -> Environment | SetupFailed:
    """Make the environment for `folder`, a checkout of the base commit, or find the one made before.

    The mark of a finished one is written last, so that a kill half-way starts over.
    """
    if plan.environment:
        return _existing(plan, folder, manifests)
    # A job of CI changes nothing that is installed; the commands taken from it are in the plan.
    made_from = {name: text for name, text in manifests.items() if not is_workflow(name)}
    digest = digest_of(plan, str(folder), sys.version, made_from)
    home = envs / digest
    modules = plan.language != "node" or not _node_set_up(manifests)
    if (home / READY).is_file() and (modules or (folder / "node_modules").is_dir()):
        return Environment.from_json((home / READY).read_text())
    erase(home)
    home.mkdir(parents=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    made = _Preparation(plan, folder, home, manifests, log, held=held).make(digest)
    for name in WORKING_FOLDERS:
        erase(home / name)
    if isinstance(made, Environment):
        reach("environment-made")
        write_whole(home / READY, made.to_json())
    return made


def _existing(
    plan: GatePlan, folder: Path, manifests: Mapping[str, bytes]
) -> Environment | SetupFailed:
    path = Path(plan.environment).expanduser().absolute()
    tools = path / "bin"
    if not tools.is_dir():
        why = f"no environment at {plan.environment!r}: it has no folder `bin`. Make it, or leave out --env."
        return SetupFailed(why=why)
    return Environment(
        digest=digest_of(plan, str(folder), "", manifests),
        path=str(path),
        bin=str(tools),
        variables={"VIRTUAL_ENV": str(path)},
        notes=("the environment was given, and is used as it is",),
    )


def _node_set_up(manifests: Mapping[str, bytes]) -> str:
    """Nothing for a package that needs nothing."""
    package = json_table(manifests.get("package.json", b""))
    needs = any(table(package, name) for name in ("dependencies", "devDependencies"))
    file = next((file for file in NODE_LOCKS if file in manifests), "")
    return NODE_LOCKS[file] if file and (needs or file != "package.json") else ""


class _Preparation:
    """One attempt. The first command that fails ends it."""

    def __init__(
        self,
        plan: GatePlan,
        folder: Path,
        home: Path,
        manifests: Mapping[str, bytes],
        log: Path,
        *,
        held: Sandbox,
    ) -> None:
        self.plan = plan
        self.held = held
        self.folder = folder
        self.manifests = manifests
        self.log = log
        self.venv = home / "venv"
        self.python = str(self.venv / "bin" / "python")
        self.env = shell.scrubbed_environment(indexes.settings(os.environ))
        cache = home.parent / "cache"
        if held.backend != "none":
            (home / "home").mkdir()
            cache.mkdir(exist_ok=True)
            self.env |= {
                "HOME": str(home / "home"),
                "UV_CACHE_DIR": str(cache),
                "UV_LINK_MODE": "copy",
            }
        if held.offline:
            self.env |= OFFLINE
        python = Path(sys.executable).resolve()
        ours = (shell.tool("uv"), *map(str, toolchains({"PATH": str(python.parent)})))
        self.python_of_ours = str(python)
        self.profile = setup(
            str(folder),
            str(home),
            cache=str(cache) if cache.is_dir() else "",
            readonly=(*held.readonly, *held.shown, *ours),
            offline=held.offline,
            ports=ports_in(self.env.values()),
        )
        self.notes: list[str] = []
        self.variables: dict[str, str] = {}
        self.warm: Path | None = None

    def make(self, digest: str) -> Environment | SetupFailed:
        tools = ""
        if self.plan.language == "python":
            failed = self._venv() or (self._commands() if self.plan.setup else self._install())
            tools = str(self.venv / "bin")
            self.variables["VIRTUAL_ENV"] = str(self.venv)
        elif self.plan.setup:
            failed = self._commands()
        else:
            failed = self._go() if self.plan.language == "go" else self._node()
        if failed:
            return failed
        if self.plan.language == "node":
            tools = str(self.folder / "node_modules" / ".bin")
        return Environment(
            digest=digest,
            path=str(self.venv.parent),
            bin=tools,
            variables=self.variables,
            warm=str(self.warm) if self.warm and self.warm.is_dir() else "",
            notes=tuple(self.notes),
        )

    def _venv(self) -> SetupFailed | None:
        # Set-up commands may call pip, and without one of its own would find that of another environment.
        seed = ["--seed"] if self.plan.setup else []
        failed = self._uv("venv", *seed, "--python", self.python_of_ours, str(self.venv))
        self.env |= {
            "VIRTUAL_ENV": str(self.venv),
            "PATH": f"{self.venv / 'bin'}{os.pathsep}{self.env['PATH']}",
        }
        return failed

    def _install(self) -> SetupFailed | None:
        plan = installation_of(self.manifests, self.plan.verify)
        words: list[str] = []
        if plan.editable:
            words += ["--editable", f".[{plan.extra}]" if plan.extra else "."]
        if plan.group:
            words += ["--group", f"pyproject.toml:{plan.group}"]
        for file in plan.files:
            words += ["--requirements", file]
        self.notes.append(f"installed {plan.words}")
        # In one resolution with the target: installed after it, a new pytest would
        # replace an old Pygments that is the target.
        words += plan.requirements
        words += [tool for tool, name in RUNNERS.items() if any(map(name.search, self.plan.verify))]
        return self._uv("pip", "install", "--python", self.python, *words) if words else None

    def _node(self) -> SetupFailed | None:
        command = _node_set_up(self.manifests) if self.plan.language == "node" else ""
        return self._checked(command) if command else None

    def _go(self) -> SetupFailed | None:
        """The modules, and a cache with everything compiled: a HOME that is new in every run has neither."""
        if "require" in self.manifests.get("go.mod", b"").decode(errors="replace"):
            self.env["GOMODCACHE"] = self.variables["GOMODCACHE"] = str(self.venv.parent / "go")
            failed = self._checked("go mod download -modcacherw")
            if failed:
                return failed
        self.warm = self.venv.parent / "warm"
        self.env["GOCACHE"] = str(self.warm / ".cache" / "go-build")
        # What does not compile on the base commit is for the gate to say.
        self._run("go test -run '^$' ./...")
        return None

    def _commands(self) -> SetupFailed | None:
        for command in self.plan.setup:
            failed = self._checked(command)
            if failed:
                return failed
        return None

    def _uv(self, *words: str) -> SetupFailed | None:
        return self._checked([shell.tool("uv"), *words])

    def _checked(self, command: str | Sequence[str]) -> SetupFailed | None:
        done = self._run(command)
        if done.ok:
            return None
        why = (
            f"the environment could not be prepared: `{done.command}` {done.how}. No commit is to blame. "
            "Say how it is prepared (--setup 'pip install ...'), or name one that exists (--env PATH)."
        )
        return SetupFailed(
            why=why,
            command=done.command,
            exit_code=done.exit_code,
            tail=done.output[-TAIL_CHARACTERS:],
            log=str(self.log),
        )

    def _run(self, command: str | Sequence[str]) -> shell.Finished:
        with self.log.open("a") as log:
            log.write(f"$ {command if isinstance(command, str) else ' '.join(command)}\n")
        return sandbox.run(
            command,
            profile=self.profile,
            backend=self.held.backend,
            cwd=self.folder,
            env=self.env,
            timeout_seconds=self.plan.timeout_seconds,
            log=self.log,
        )
