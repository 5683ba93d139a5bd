"""Runs one command and outlives everything it starts, so that nothing of it stays behind.

A program of its own: `python -I -S supervisor.py STATUS_FD LIFELINE_FD MAX_PROCESSES COMMAND…`, standard
library only, isolated from the judged tree. It is a child subreaper: a daemon that leaves
its session is re-parented to this process instead of init, so "no child left" means nothing left.

The engine holds the other end of the lifeline. A byte on it asks the command to stop (SIGINT, so
that a test runner says where it hung); its end, which the engine's death brings about as
well, kills everything at once. The outcome goes over the status pipe, which the command does not inherit.
"""

import os
import resource
import select
import sys
import time

# Every gate run waits for this program to start: `signal`, `contextlib` and `ctypes` would be half of that.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
LOOK_SECONDS = 0.02
"""A fork bomb doubles within milliseconds; a look costs a fraction of one."""
GIVE_UP_SECONDS = 20.0
NOT_FOUND, NOT_EXECUTABLE = 127, 126


def prctl(option: int, value: int) -> None:
    try:
        from _ctypes import call_function, dlopen, dlsym  # noqa: PLC0415 -- what `ctypes` is made of

        program = dlopen(None, 0)  # pyright: ignore[reportArgumentType] -- as `ctypes` itself does
        call_function(dlsym(program, "prctl"), (option, value, 0, 0, 0))
    except ImportError:
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def contain() -> None:
    """Adopt orphans, hear of the engine's death, and keep the command out of our /proc files."""
    if sys.platform != "linux":
        return
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_DUMPABLE, 0)


def numbers() -> list[int]:
    try:
        # Not pathlib: its import would be a third of this program's start.
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []


def parent_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123
            # The name, in brackets, may hold spaces and brackets of its own.
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for pid in numbers():
        children.setdefault(parent_of(pid), []).append(pid)
    found: set[int] = set()
    ahead = [os.getpid()]
    while ahead:
        for pid in children.get(ahead.pop(), ()):
            if pid not in found:
                found.add(pid)
                ahead.append(pid)
    return found


def send(pids: set[int], number: int) -> None:
    for pid in pids:
        try:  # noqa: SIM105
            os.kill(pid, number)
        except OSError:
            pass


def reap() -> tuple[dict[int, int], bool]:
    """Statuses of the children that ended, and whether another is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = status


def sweep(command: int) -> tuple[int, int | None]:
    """Kill every descendant; return how many there were, and the command's status if it was among them.

    They are stopped first, until no new one appears: killed one by one, a fork bomb forks faster.
    """
    seen: set[int] = set()
    status: int | None = None
    # The whole group in one call, since a bomb outgrows a search for its members.
    send({-command}, signal.SIGSTOP)
    give_up = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < give_up:
        ended, another = reap()
        if command in ended:
            status = ended[command]
        if not another:
            break
        stopped: set[int] = set()
        while fresh := descendants() - stopped:
            send(fresh, signal.SIGSTOP)
            stopped |= fresh
        send(stopped, signal.SIGKILL)
        seen |= stopped
        if stopped:
            time.sleep(0.001)
    return len(seen), status


def wake_up(number: int, frame: object) -> None:
    """Nothing: the signal's number is on the wake-up pipe, and that is what is waited for."""


def start(argv: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    reset = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGCHLD)
    reset += (signal.SIGINT, signal.SIGHUP)
    return os.posix_spawnp(argv[0], argv, os.environ, setsid=True, setsigdef=reset)


def watch(command: int, lifeline: int, wakeup: int, most: int) -> tuple[str, int | None]:
    """Wait for the command; return why the wait ended, and the command's status if it ended itself."""
    before = len(numbers())
    while True:
        ready, _, _ = select.select([lifeline, wakeup], [], [], LOOK_SECONDS)
        if wakeup in ready and signal.SIGTERM in os.read(wakeup, 4096):
            return "killed", None
        ended, another = reap()
        if command in ended or not another:
            return "exited", ended.get(command)
        if lifeline in ready:
            if not os.read(lifeline, 1):
                return "killed", None
            send({-command}, signal.SIGINT)
        # Counting the whole machine is cheap; only when it grew is the family counted.
        if len(numbers()) - before > most and len(descendants()) > most:
            return "processes", None


def main() -> None:
    status_fd, lifeline, most = (int(word) for word in sys.argv[1:4])
    os.set_inheritable(status_fd, False)
    os.set_inheritable(lifeline, False)
    wakeup, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, wake_up)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    contain()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:
        command = start(sys.argv[4:])
    except OSError as error:
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        sys.stdout.write(f"{sys.argv[4]}: {error.strerror}\n")
        sys.stdout.flush()
        say(status_fd, "exited", code, 0)
        return
    why, status = watch(command, lifeline, wakeup, most)
    left, late = sweep(command)
    status = late if status is None else status
    code = None if status is None else os.waitstatus_to_exitcode(status)
    say(status_fd, why, code, left)


def say(status_fd: int, why: str, code: int | None, left: int) -> None:
    try:  # noqa: SIM105
        os.write(status_fd, f"{why} {'-' if code is None else code} {left}\n".encode())
    except OSError:
        pass  # the engine is dead; there is nobody to tell


if __name__ == "__main__":
    main()
    os._exit(0)  # nothing is to be torn down, and somebody waits
