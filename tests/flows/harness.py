"""Targets made for one test, and runs on them: real git, real gates, the real engine."""

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from uuid import UUID

from adapters.processes import shell
from domain.options import RunOptions
from domain.order import SweepTerms
from domain.report import Report
from domain.state import State
from domain.target import Target

PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"
COMPILES = "python -m compileall -q ."

FIND = r"""
echo . >> "{tools}/found"
[ -e "{tools}/before-find" ] && . "{tools}/before-find"
grep -rnE --exclude-dir=.git 'SITE:[a-z0-9-]+' . \
  | sed -E 's#^\./([^:]+):([0-9]+):.*SITE:([a-z0-9-]+).*#{{"path":"\1","line":\2,"rule":"\3"}}#' | sort
exit 0
"""
EDIT = r"""
name=$(sed -n "${{SWATHE_LINE}}s/.*SITE:\([a-z0-9-]*\).*/\1/p" "$SWATHE_PATH")
echo "$name" >> "{tools}/edited"
if [ -e "{tools}/edit-$name" ]; then . "{tools}/edit-$name"
else sed -i "${{SWATHE_LINE}}s/SITE:/DONE:/" "$SWATHE_PATH"; fi
"""
MARK_DONE = 'sed -i "${SWATHE_LINE}s/SITE:/DONE:/" "$SWATHE_PATH"\n'
"""The edit of a site that nothing special was said of."""


def sh(command: str | list[str], cwd: Path, env: Mapping[str, str] | None = None) -> shell.Finished:
    """Run a tool of the test's own."""
    return shell.run(
        command,
        cwd=cwd,
        env=dict(os.environ) if env is None else env,
        timeout_seconds=120,
        contain=False,
        apart=True,
    )


@dataclass
class Repo:
    """A target, the tools of its scripted axis, and what is asked of it."""

    folder: Path
    tools: Path
    axis: str = ""
    verify: tuple[str, ...] = ()
    environment: str = sys.prefix
    sandbox: str = "off"
    """Scripted gates and executors count their calls outside of the tree; `test_sandboxed` has those that do not."""
    more: dict[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tools.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        (self.tools / "find.sh").write_text(FIND.format(tools=self.tools))
        (self.tools / "edit.sh").write_text(EDIT.format(tools=self.tools))
        self.axis = self.axis or f"cmd:sh {self.tools}/find.sh => sh {self.tools}/edit.sh"

    @classmethod
    def of(cls, bare: Path) -> "Repo":
        """A bare repository that is there, to be looked at."""
        found = object.__new__(cls)
        found.folder = bare
        return found

    def git(self, *words: str) -> str:
        done = sh(["git", *words], self.folder)
        assert done.ok, f"git {words}: {done.errors}"
        return done.output.removesuffix("\n")

    def write(self, files: Mapping[str, str | bytes]) -> "Repo":
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def commit(self, message: str = "The base") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def edits(self, name: str, script: str) -> None:
        """What the scripted executor does at `SITE:name`, instead of marking it done."""
        (self.tools / f"edit-{name}").write_text(script)

    def gate(self, script: str) -> str:
        """A gate outside the tree that counts its calls: `$call` is the number of this one, `$engine` our process."""
        path = self.tools / "gate.sh"
        path.write_text(
            f'echo . >> "{self.tools}/calls"\ncall=$(wc -l < "{self.tools}/calls")\ntools="{self.tools}"\n'
            f'engine=$(cut -d" " -f1 "{self.home}"/targets/*/lock)\n{script}\n'
        )
        self.verify = (f"sh {path}",)
        return self.verify[0]

    def typing(self, verb: str, *words: str) -> str:
        """The real command, as a gate types it: a gate knows nothing of our environment."""
        known = " ".join(
            f'{name}="{os.environ.get(name, "")}"' for name in ("SWATHE_HOME", "PYTHONPATH")
        )
        return (
            f'{known} swathe {verb} "{self.folder}" {" ".join(words)} > "{self.tools}/{verb}" 2>&1'
        )

    @property
    def home(self) -> Path:
        return Path(os.environ["SWATHE_HOME"])

    def options(self, **asked: object) -> RunOptions:
        """A request for a run. Words of the target and of the run are told apart by their names."""
        asked = {**self.more, **asked}
        target: dict[str, object] = {
            "repo": str(self.folder),
            "verify": self.verify,
            "environment": self.environment,
            "sandbox": self.sandbox,
        }
        target |= {name: value for name, value in asked.items() if name in Target.model_fields}
        rest = {name: value for name, value in asked.items() if name not in Target.model_fields}
        return RunOptions.model_validate({"axis": self.axis, **rest, "target": target})

    def run(self, **asked: object) -> Report:
        from cli import engine  # noqa: PLC0415 -- the home of the test is set by now

        return engine.run_campaign(self.options(**asked))

    def swept(self, **asked: object) -> RunOptions:
        """The same for a sweep; words of its terms are told by their names."""
        terms = {name: asked.pop(name) for name in SweepTerms.model_fields if name in asked}
        return self.options(**asked).model_copy(update={"terms": SweepTerms.model_validate(terms)})

    def sweep(self, **asked: object) -> Report:
        from cli import engine  # noqa: PLC0415 -- the home of the test is set by now

        return engine.run_campaign(self.swept(**asked))

    def swathe(
        self, verb: str, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> shell.Finished:
        """The real console script."""
        program = str(Path(sys.executable).with_name("swathe"))
        return sh([program, verb, *words], cwd or self.folder.parent, {**os.environ, **(env or {})})

    def words(self) -> list[str]:
        """The options of this target, as they are typed."""
        gates = [word for command in self.verify for word in ("--verify", command)]
        words = [str(self.folder), "--axis", self.axis, "--sandbox", self.sandbox]
        return [*words, *(["--env", self.environment] if self.environment else []), *gates]

    def typed(self, *more: str) -> tuple[shell.Finished, Report]:
        """`swathe run … --json`: how it ended, and the report on its last line."""
        done = self.swathe("run", *self.words(), "--json", *more)
        return done, Report.from_json(done.output.rstrip("\n").rsplit("\n", 1)[-1])

    @property
    def refs(self) -> dict[str, str]:
        rows = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(row.split() for row in rows)

    @property
    def branches(self) -> list[str]:
        return [ref for ref in self.refs if ref.startswith("refs/heads/swathe/")]

    @property
    def branch(self) -> str:
        (only,) = self.branches
        return only

    def log(self, form: str = "%H", since: str = "main") -> list[str]:
        """The landed commits, oldest first; none when there is no branch."""
        if not self.branches:
            return []
        return self.git(
            "log", "--reverse", f"--format={form}", f"{since}..{self.branch}"
        ).splitlines()

    def landed(self, path: str) -> str:
        return self.git("show", f"{self.branch}:{path}")

    def state(self) -> State:
        (ref,) = [ref for ref in self.refs if ref.endswith("/state")]
        name = self.git("ls-tree", "--name-only", ref)
        return State.from_json(self.git("show", f"{ref}:{name}"))

    def files(self) -> dict[str, tuple[bytes, int, int]]:
        """Every file of the repository, its git directory included: bytes, mode, time of change."""
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.folder)): (
                path.read_bytes(),
                path.stat().st_mode,
                path.stat().st_mtime_ns,
            )
            for path in found
        }

    def counted(self, what: str) -> int:
        path = self.tools / what
        return len(path.read_text().splitlines()) if path.exists() else 0

    def last_event(self) -> str:
        """What the latest run wrote down last."""
        paths = self.home.glob(f"targets/{self.folder.name}-*/runs/*/events.jsonl")
        latest = max(paths, key=lambda path: path.stat().st_mtime_ns)
        return json.loads(latest.read_text().splitlines()[-1])["event"]

    def events(self, report: Report) -> list[dict[str, object]]:
        (path,) = self.home.glob(f"targets/*/runs/{report.run}/events.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]


CHECK = r"""
bad=0
{ echo "<testsuite name='checks'>"
  while read -r file value; do
    read -r a b c rest < "$file"
    case " $FAIL " in *" $file "*) c=broken;; esac
    if [ "$a $b $c" = "VALUE = $value" ]; then echo "<testcase classname='checks' name='$file'/>"
    else
      bad=1; echo "<testcase classname='checks' name='$file'><failure message='$file has $c'/></testcase>"
      [ -z "$STOP" ] || break
    fi
  done < tests/values
  echo "</testsuite>"; } > "${SWATHE_JUNIT:-/tmp}/checks.xml"
[ -z "$SILENT" ] || rm "$SWATHE_JUNIT/checks.xml"
exit $bad
"""
"""A gate of milliseconds that names its tests. `FAIL` has names that fail, `SILENT` leaves the report out."""

CHECKS = "sh tests/check.sh"
WAIT = """
if [ "$call" = 1 ]; then touch "$tools/inside"; while [ ! -e "$tools/go" ]; do sleep 0.05; done; fi
"""
"""For `Repo.gate`: its first call waits until it is told to go on."""


def values(count: int, **wanted: int) -> dict[str, str]:
    """`count` modules with a site each, and a check for each of what they hold; `m2=9` wants 9 of m2.py."""
    files = {f"m{n}.py": f"VALUE = {n}  # SITE:m{n}\n" for n in range(1, count + 1)}
    rows = [f"m{n}.py {wanted.get(f'm{n}', n)}\n" for n in range(1, count + 1)]
    return files | {"tests/values": "".join(rows), "tests/check.sh": CHECK}


def modules(count: int, *, named: bool = True) -> dict[str, str]:
    """`count` modules with a site each, and a test for each: in files of their own, or all in one."""
    files: dict[str, str] = {}
    tests: list[str] = []
    for n in range(1, count + 1):
        files[f"m{n}.py"] = f"VALUE = {n}  # SITE:m{n}\n"
        test = f"import m{n}\n\n\ndef test_m{n}():\n    assert m{n}.VALUE == {n}\n"
        if named:
            files[f"tests/test_m{n}.py"] = test
        tests.append(test)
    if not named:
        files["tests/test_all.py"] = "\n\n".join(tests)
    return files


def breaks(n: int) -> str:
    """An edit of `m<n>` that its test notices."""
    return f'sed -i "s/VALUE = {n}  # SITE:/VALUE = -{n}  # DONE:/" "$SWATHE_PATH"\n'


def ended(pid: int, seconds: float = 10.0) -> bool:
    """Whether a process is gone within `seconds` (a zombie nobody reaps counts as gone)."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def forked(work: Callable[..., None], *args: object) -> multiprocessing.process.BaseProcess:
    """Start `work` in a process of its own, forked from one that has imported the engine."""
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=_in_child, args=(work, dict(os.environ), *args))
    process.start()
    return process


def exit_code(process: multiprocessing.process.BaseProcess) -> int:
    process.join(60)
    assert process.exitcode is not None, "the child did not end"
    return process.exitcode


def _in_child(work: Callable[..., None], environ: dict[str, str], *args: object) -> None:
    os.environ.clear()
    os.environ.update(environ)
    work(*args)


def killed_at(options: RunOptions, nth: int) -> None:
    """Run a campaign, and die by SIGKILL right after its `nth` event was written down."""
    from adapters import events  # noqa: PLC0415 -- in the child
    from cli import engine  # noqa: PLC0415

    emit, count = events.emit, 0

    def emit_and_die(run: Path, event: str, /, **facts: object) -> None:
        nonlocal count
        emit(run, event, **facts)
        count += 1
        if count == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    events.emit = emit_and_die
    engine.run_campaign(options)


def in_flow(options: RunOptions, flow_run: str) -> Report:
    """Carry a flow run that the server knows, as a worker does: begin it, or go on with it after a crash."""
    from prefect.client.orchestration import get_client  # noqa: PLC0415 -- in the child
    from prefect.flow_engine import run_flow_sync  # noqa: PLC0415
    from prefect.states import Pending  # noqa: PLC0415
    from prefect.utilities.callables import get_call_parameters  # noqa: PLC0415

    from cli.asked import axis_of  # noqa: PLC0415
    from flows.campaign import campaign  # noqa: PLC0415

    with get_client(sync_client=True) as client:
        client.set_flow_run_state(UUID(flow_run), Pending(), force=True)
        found = client.read_flow_run(UUID(flow_run))
    asked = {"axis": axis_of(options), "target": options.target, "verify_each": True}
    parameters = get_call_parameters(campaign.fn, (), asked)
    return cast("Report", run_flow_sync(campaign, flow_run=found, parameters=parameters))


def killed_before(options: RunOptions, step: str) -> None:
    """Run a campaign, and die by SIGKILL right after it said that `step` is next."""
    from adapters import events  # noqa: PLC0415 -- in the child
    from cli import engine  # noqa: PLC0415

    emit = events.emit

    def emit_and_die(run: Path, event: str, /, **facts: object) -> None:
        emit(run, event, **facts)
        if facts.get("what") == step:
            os.kill(os.getpid(), signal.SIGKILL)

    events.emit = emit_and_die
    engine.run_campaign(options)


def campaign(options: RunOptions) -> None:
    """Run a campaign, in a child."""
    from cli import engine  # noqa: PLC0415

    engine.run_campaign(options)


def wait_for(path: Path, seconds: float = 60.0) -> None:
    wait_for_one(path.parent, path.name, seconds)


def wait_for_one(folder: Path, pattern: str, seconds: float = 60.0) -> None:
    """Wait until something in `folder` matches."""
    deadline = time.monotonic() + seconds
    while not any(folder.glob(pattern)):
        assert time.monotonic() < deadline, f"{folder / pattern} does not come"
        time.sleep(0.02)
