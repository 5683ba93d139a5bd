"""Whether a process is alive: one that is dead and not yet buried is not."""

import os
import signal

from adapters.processes.living import lives


def test_we_live_and_so_does_init():
    assert lives(os.getpid())
    assert lives(1)


def test_who_was_killed_lives_no_more_before_and_after_it_is_waited_for():
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    assert lives(child)

    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert not lives(child)

    os.waitpid(child, 0)
    assert not lives(child)
