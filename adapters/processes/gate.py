"""The gate: runs the target's own checks in a folder, and says what each test answered."""

import os
import re
import shutil
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from adapters.erasing import erase
from adapters.processes import node_reports, pytest_reports, reports, sandbox, shell
from adapters.processes.temporary import temporary_folder
from adapters.redacting import cleaned
from domain.environment import Environment
from domain.gate import GatePlan, GateRun
from domain.reporting import reporting
from domain.sandbox import OPEN, Profile, Sandbox, gate
from domain.shell_log import missing_tool
from domain.tables import Table, json_table, table

TAIL_CHARACTERS = 8_000
LOG_CHARACTERS = 1_000_000
NO_TESTS = 5
"""pytest's exit code for `no test was collected`."""

NOT_STARTED = (126, 127)
"""A shell's exit codes for a command that cannot be run, or is not there."""

ADVICE = (
    "Install it, have the set-up install it (--setup), or, where its absence is meant, "
    "silence the message (`2>/dev/null`)."
)

Status = Literal["passed", "failed", "timeout", "unavailable", "setup-failed", "sandbox-failed"]

REPORT_FOLDERS = (
    "target/surefire-reports/*.xml",
    "target/failsafe-reports/*.xml",
    "build/test-results/*/*.xml",
)
"""Where Maven and Gradle write, in the root and in modules up to two folders down."""

JVM_BUILDS = (
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
)
"""In the root of what Maven or Gradle builds."""

OWN_PLACES = ("*.xml", "*/*.xml", "*/*/*.xml", "go-*.json", "cargo-*.txt")
"""In the folder of ours, where a suite may have one for each of its parts."""

BUILD_FOLDERS = frozenset({"target", "build"})
MODULE_DEPTH = 2

PLUGIN, REPORTERS = "pytest-plugin", "node-reporters"

OWN_REPORT = re.compile(r"--junit-?(?:xml|file)[= ](\S+)")

MORE_THAN_A_PIPELINE = re.compile(r"[;\n]|(?<!>)&|\|\|")
FORGIVE = """trap '__ended=($? "${PIPESTATUS[@]}")
if [ ${__ended[0]} = 141 ] && [ ${__ended[-1]} = 0 ]; then exit 0; fi' EXIT
"""
"""Before one pipeline under `pipefail`: a reader that stops early (`| head -1`) is no failure of the writer.
Not before more than one: in `make | head -1 && make lint`, that end of the first would skip the second."""


def run_gate(
    plan: GatePlan,
    environment: Environment,
    folder: Path,
    scratch: Path,
    log: Path,
    *,
    expect_reports: bool = False,
    held: Sandbox = OPEN,
) -> GateRun:
    """Run the verify commands in order; the first that fails ends the run. Nothing of it is left behind.

    `scratch` belongs to this run alone and is emptied first. `expect_reports`: the baseline named its tests,
    so that a run which names none has been cut short, whatever its exit code.
    """
    erase(scratch)
    (scratch / "junit").mkdir(parents=True)
    pytest_reports.lay_plugin(scratch / PLUGIN)
    node_reports.lay_reporters(scratch / REPORTERS)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    readonly = (*held.readonly, *held.shown, *_environment_paths(environment))
    profile = gate(str(folder), str(scratch), readonly=readonly)
    run = _Run(plan, folder, scratch / "junit", log, held=held, profile=profile)
    with _variables(environment, scratch) as env:
        for number, command in enumerate(plan.verify, start=1):
            run.take(number, command, env)
            if not run.done.ok or run.missing:
                break
    found = reports.read(run.written)
    status, why = run.outcome(found, expect_reports=expect_reports)
    done = GateRun(
        status=status,
        why=why,
        exit_code=run.done.exit_code,
        command=run.command,
        seconds=time.monotonic() - run.started,
        tests=found.tests if found.files else None,
        messages=found.messages,
        signed=found.signed,
        tail=run.done.output[-TAIL_CHARACTERS:],
        log=str(log),
    )
    erase(scratch)  # with the reports as they were written
    return cleaned(done)


class _Run:
    """The commands that have run so far, and the reports they wrote."""

    def __init__(
        self,
        plan: GatePlan,
        folder: Path,
        junit: Path,
        log: Path,
        *,
        held: Sandbox,
        profile: Profile,
    ) -> None:
        self.plan = plan
        self.held = held
        self.profile = profile
        self.folder = folder
        self.junit = junit
        self.log = log
        self.started = time.monotonic()
        self.scripts = _scripts(folder)
        self.command = ""
        self.done = shell.Finished(command="", exit_code=0)
        self.written: set[Path] = set()
        self.missing = ""
        """The tool that the last command did not find, when there is no report to say that it ran all the same."""

    def take(self, number: int, command: str, env: dict[str, str]) -> None:
        before = self._stamps()
        scratch = self.junit.parent
        report = self.junit / f"pytest-{number}.xml"
        with self.log.open("a") as log:
            log.write(f"$ {command}\n")
        self.command = command
        self.done = sandbox.run(
            _shell(reporting(command, self.scripts, number)),
            profile=self.profile,
            backend=self.held.backend,
            cwd=self.folder,
            env={
                **env,
                "SWATHE_JUNIT": str(self.junit),
                "SWATHE_REPORTERS": str(scratch / REPORTERS),
                "GOTESTSUM_JUNITFILE": str(self.junit / f"go-{number}.xml"),
                "JEST_JUNIT_OUTPUT_DIR": str(self.junit),
                **pytest_reports.variables(
                    scratch / PLUGIN, report, scratch / "pytest-cache", env.get("PYTHONPATH", "")
                ),
            },
            timeout_seconds=max(self.plan.timeout_seconds - (time.monotonic() - self.started), 0.0),
            log=self.log,
        )
        after = self._stamps()
        fresh = {path for path, stamp in after.items() if before.get(path) != stamp}
        self.written |= fresh
        not_started = self.done.exit_code in NOT_STARTED
        self.missing = missing_tool(self.done.output) if not_started or not fresh else ""
        self._log_words(fresh)

    def _log_words(self, fresh: Iterable[Path]) -> None:
        room = LOG_CHARACTERS
        with self.log.open("a") as log, suppress(reports.NotAReport):
            for words in (words for path in sorted(fresh) for words in reports.readable(path)):
                log.write(words[:room])
                room -= len(words[:room])

    def outcome(self, found: reports.Reports, *, expect_reports: bool) -> tuple[Status, str]:
        """The typed end, and why in words."""
        done = self.done
        how = f"`{self.command}` {done.how}"
        if done.ended == "timeout":
            return "timeout", f"{how}: {self.plan.timeout_seconds:g} s"
        if done.ended == "sandbox-failed":
            return "sandbox-failed", f"{how}: {done.output.strip()[-300:]}. Ask `swathe doctor`."
        if done.ended == "disk":
            return "sandbox-failed", f"{how}. Free some space and run again."
        if self.missing or done.exit_code in NOT_STARTED:
            return (
                "unavailable",
                f"{self.missing or 'a tool'}: not found by `{self.command}`. {ADVICE}",
            )
        doubt = _doubt(found, done.exit_code, expect_reports=expect_reports)
        if done.ok and not doubt:
            return "passed", ""
        return "failed", f"{how}, and {doubt}" if doubt else how

    def _stamps(self) -> dict[Path, tuple[int, int, int]]:
        """Every report there is, with what tells a new one from an old one, whatever the clock says."""
        own = [
            self.folder / name
            for command in self.plan.verify
            for name in OWN_REPORT.findall(command)
        ]
        paths = [path for place in OWN_PLACES for path in self.junit.glob(place)] + own
        for module in _modules(self.folder, MODULE_DEPTH) if _is_jvm(self.folder) else ():
            for place in REPORT_FOLDERS:
                paths += module.glob(place)
        stamps: dict[Path, tuple[int, int, int]] = {}
        for path in paths:
            with suppress(OSError):
                seen = path.lstat()
                stamps[path] = (seen.st_ino, seen.st_mtime_ns, seen.st_size)
        return stamps


def _is_jvm(folder: Path) -> bool:
    return any((folder / build).exists() for build in JVM_BUILDS)


def _scripts(folder: Path) -> Table:
    """Those of package.json, which say what `npm test` runs."""
    text = reports.small_file(folder / "package.json")
    return table(json_table(text), "scripts")


def _modules(folder: Path, depth: int) -> Iterator[Path]:
    """The folder, and those below it, that have a folder of a build: looked for twice a run, so without globs."""
    try:
        with os.scandir(folder) as entries:
            inside = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    if BUILD_FOLDERS.intersection(inside):
        yield folder
    for name in inside if depth else ():
        if not name.startswith("."):
            yield from _modules(folder / name, depth - 1)


def _environment_paths(environment: Environment) -> list[str]:
    """The environment, and the folder of its programs: `node_modules` lies in the gate's own."""
    tools = [str(Path(environment.bin).parent)] if environment.bin else []
    return [path for path in (environment.path, *tools) if path]


def _doubt(found: reports.Reports, exit_code: int | None, *, expect_reports: bool) -> str:
    """Why the run proves nothing, whatever its exit code; an empty word when there is no doubt."""
    if exit_code == NO_TESTS or (found.files and not found.tests):
        return "no test was collected"
    if found.broken:
        return f"a report cannot be read to its end: {'; '.join(found.broken)}"
    if expect_reports and not found.files:
        return "the runner wrote no report, as it did on the base commit"
    return ""


def _shell(command: str) -> list[str]:
    """A pipe that hides a failure (`pytest | tail`) would be green for ever, so bash runs it with pipefail."""
    bash = shutil.which("bash")
    if bash is None:
        return ["/bin/sh", "-c", command]
    alone = not MORE_THAN_A_PIPELINE.search(command)
    return [bash, "-o", "pipefail", "-c", f"{FORGIVE}{command}" if alone else command]


@contextmanager
def _variables(environment: Environment, scratch: Path) -> Generator[dict[str, str]]:
    """The environment of the commands, with a HOME and a TMPDIR of their own."""
    home = scratch / "home"
    home.mkdir(parents=True)
    if environment.warm:
        # A copy: what a commit writes there must not be found by the next one.
        shutil.copytree(environment.warm, home, symlinks=True, dirs_exist_ok=True)
    with temporary_folder() as temporary:
        env = shell.scrubbed_environment(
            {"HOME": str(home), "TMPDIR": temporary, **environment.variables}
        )
        path = [part for part in (environment.bin, env["PATH"]) if part]
        yield {**env, "PATH": os.pathsep.join(path)}
