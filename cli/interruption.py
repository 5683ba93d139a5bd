"""Being asked to stop: by SIGTERM, as from a scheduler or the UI, or by Ctrl-C.

The interruption is raised in whatever the main thread is at. Python drops it in a finalizer, and an
extension may make an error of its own of it (pydantic-core: a SchemaError), so it is remembered as well.
"""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)
SECONDS_TO_LEAVE_A_FINALIZER = 0.01

_asked: list[int] = []
_dropping: list[object] = []
"""The interruption that Python is dropping just now: what would be raised meanwhile were lost with it."""
_raised = Event()


def asked() -> bool:
    """Whether somebody asked this process to stop since it began to listen."""
    return bool(_asked)


@contextmanager
def heard() -> Generator[None]:
    """Raise KeyboardInterrupt when asked to stop, for as long as there is something to interrupt.

    Afterwards a signal ends the process at once: Python would tell an interruption of its exit by a traceback.
    """
    _asked.clear()
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # a shell's background jobs ignore Ctrl-C
            signal.signal(number, _be_asked)
    drop, sys.unraisablehook = sys.unraisablehook, _not_lost
    try:
        yield
    finally:
        for number in SIGNALS:
            if signal.getsignal(number) == _be_asked:
                signal.signal(number, signal.SIG_DFL)
        sys.unraisablehook = drop


def _be_asked(number: int, frame: object) -> None:
    _asked.append(number)
    if not _dropping:
        _raised.set()
        raise KeyboardInterrupt


def _not_lost(dropped: Any) -> None:
    """An interruption that came inside a finalizer is made once more, outside of it."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    _dropping.append(dropped)
    try:
        _raised.clear()
        Thread(target=_ask_again, daemon=True).start()
    finally:
        _dropping.clear()


def _ask_again() -> None:
    """Until it is raised: on a busy machine the first may come before the finalizer is left."""
    while not _raised.wait(SECONDS_TO_LEAVE_A_FINALIZER):
        os.kill(os.getpid(), signal.SIGTERM)
