"""The engine in a process of its own: forked from this one, which has imported all of it.

What runs is the command line of production with the flow of production. One thing is left out unless asked
for: Prefect. Every name in `flows.campaign` that is a task is resolved to the function it wraps, and
`@flow` to its function, so that a kill costs a tenth of what Prefect's start would make of it. Neither the
order of the steps nor a step is written down here a second time.
"""

import atexit
import itertools
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import mutants
from ground import Ground

UNUSED_SERVER = "http://127.0.0.1:9/api"
"""Named so that none is started. Nobody asks it."""
PROGRAM = str(Path(sys.executable).with_name("swathe"))


def warm() -> None:
    """Import all that a run needs, once."""
    import cli.engine
    import cli.main  # noqa: F401
    import flows.axis_sweep
    import flows.campaign
    import flows.review_loop
    import flows.unit_loop  # noqa: F401


@dataclass(frozen=True)
class How:
    """How the engine is run, when not as usual."""

    clock_jumps: bool = False
    server: str = ""
    """The address of a Prefect server: then it is the installed command that is started, with all of Prefect."""


AS_USUAL = How()
NOT_STARTED = 99
"""The exit code of a mistake of the harness. Nothing may count it as the engine's."""


def start(ground: Ground, failpoint: str = "", mutant: str = "", how: How = AS_USUAL) -> int:
    """Start `swathe run` on the ground; its process id, which leads a group of its own."""
    pid = os.fork()
    if pid:
        return pid
    code, ours = NOT_STARTED, os.dup(2)
    try:
        os.setsid()
        os.environ.clear()
        os.environ.update(
            ground.environment(failpoint), PREFECT_API_URL=how.server or UNUSED_SERVER
        )
        # Told, not asked for: Python would write a file there to try it, and a kill might leave that.
        tempfile.tempdir = str(ground.temporary)
        os.chdir(ground.room)
        _speak_to(ground.tools / "said")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if how.server:
            os.execv(PROGRAM, [PROGRAM, *ground.words])  # noqa: S606 -- no shell is wanted
        code = _run(ground, mutant, clock_jumps=how.clock_jumps)
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 -- nothing may get back into the driver's own code
        os.write(ours, traceback.format_exc().encode())
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _run(ground: Ground, mutant: str, *, clock_jumps: bool) -> int:
    import flows.axis_sweep
    import flows.campaign
    import flows.chain
    import flows.queue
    import flows.review_loop
    import flows.unit_loop

    _without_prefect(
        flows.chain,
        flows.campaign,
        flows.review_loop,
        flows.queue,
        flows.axis_sweep,
        flows.unit_loop,
    )
    _time_recovery(ground.tools / "recovered")
    if clock_jumps:
        _let_the_clock_jump()
    if mutant:
        mutants.apply(mutant)
    sys.argv = ["swathe", *ground.words]
    code = _left_with()
    from adapters.failpoints import arrivals

    (ground.tools / "arrivals").write_text(json.dumps(arrivals))
    return code


def _speak_to(path: Path) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    said = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, number in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(source, number)


def _left_with() -> int:
    import cli.main

    try:
        cli.main.main()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
    except BaseException:  # noqa: BLE001 -- what Python itself would do with it
        traceback.print_exc()
        return 1
    return 0


class Ended:
    """What a flow that raised leaves behind, as far as the engine asks."""

    def __init__(self, trouble: BaseException) -> None:
        self.trouble = trouble

    def result(self, *, raise_on_failure: bool) -> BaseException:
        return self.trouble


def _without_prefect(*modules: ModuleType) -> None:
    """Let the flow call its steps as functions. A server would only be told of them."""
    from prefect import Flow, Task

    import tasks.showing

    for module in modules:
        for name, value in list(vars(module).items()):
            if isinstance(value, Task):
                setattr(module, name, value.fn)
            elif isinstance(value, Flow):
                setattr(module, name, _plainly(value.fn))
    tasks.showing._try = lambda show: None


def _plainly(whole: Callable[..., Any]) -> Callable[..., Any]:
    def flow(*args: object, return_state: bool) -> Any:
        try:
            return whole(*args)
        except Exception as trouble:  # noqa: BLE001 -- as Prefect does
            return Ended(trouble)

    return flow


def _time_recovery(path: Path) -> None:
    """Note how long each run takes to attach and to recover: lock, clones, refs."""
    import time

    from adapters import beginning

    attach, recover = beginning.attach, beginning.recover
    seconds = 0.0

    def timed_attach(*args: Any) -> None:
        nonlocal seconds
        began = time.monotonic()
        attach(*args)
        seconds = time.monotonic() - began

    def timed_recover(*args: Any) -> Any:
        began = time.monotonic()
        found = recover(*args)
        with path.open("a") as file:
            file.write(f"{seconds + time.monotonic() - began:.4f}\n")
        return found

    beginning.attach, beginning.recover = timed_attach, timed_recover


def _let_the_clock_jump() -> None:
    """By ten hours, to and fro, at each look: for whoever asks `time`, and for our modules that ask `datetime`."""
    import datetime as dt
    import time

    honest, hours = time.time, itertools.cycle((10, -10, 0))

    class Jumping(dt.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return dt.datetime.now(tz) + dt.timedelta(hours=next(hours))

    time.time = lambda: honest() + 3600 * next(hours)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OURS and getattr(module, "datetime", None) is dt.datetime:
            module.datetime = Jumping  # pyright: ignore[reportAttributeAccessIssue]


OURS = ("adapters", "cli", "domain", "flows", "tasks")
