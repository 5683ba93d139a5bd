"""The weaker sandbox: what it holds back without any namespace, and the gaps it names."""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.processes import canary, landlock, sandbox
from domain.sandbox import Limits, Mount, Profile, agent, gate

PYTHON = Path(sys.executable).resolve()
TOKEN = f"canary-{uuid4().hex}"
PROBE = r"""
import ctypes, fcntl, glob, json, os, socket, subprocess, sys
told = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def can(attempt):
    try:
        return attempt() is not False
    except Exception:
        return False
def read(path):
    return can(lambda: open(path, "rb").read(1))
def write(path):
    return can(lambda: open(path, "ab").close())
def connect(family, kind, address):
    with socket.socket(family, kind) as sock:
        sock.settimeout(2)
        sock.connect(address)
def status(name):
    return [line.split()[1] for line in open("/proc/self/status") if line.startswith(name + ":")][0]
def symlink():
    os.symlink(told["secret"], "link")
    open("link").read()
def environs():
    for path in glob.glob("/proc/*/environ"):
        try:
            if told["token"].encode() in open(path, "rb").read():
                return True
        except OSError:
            pass
    return False
def linked():
    os.link(told["secret"], "hard")
def moved():
    os.rename(told["secret"], "moved")
ip, unix = socket.AF_INET, socket.AF_UNIX
print(json.dumps({
    "reads a key in HOME": read(told["secret"]),
    "lists HOME": can(lambda: os.listdir(told["home"])),
    "reads /etc/shadow": read("/etc/shadow"),
    "writes beside the clone": write(told["beside"]),
    "empties a file": can(lambda: os.truncate(told["secret"], 0)),
    "removes a file": can(lambda: os.unlink(told["secret"])),
    "moves a file in": can(moved),
    "writes to /usr": write("/usr/swathe-canary"),
    "writes to its environment": write(told["environment"] + "/new"),
    "connects by TCP": can(lambda: connect(ip, socket.SOCK_STREAM, ("127.0.0.1", told["tcp"]))),
    "sends by UDP": can(lambda: connect(ip, socket.SOCK_DGRAM, ("127.0.0.1", 9))),
    "connects to a unix socket": can(lambda: connect(unix, socket.SOCK_STREAM, told["unix"])),
    "connects to an abstract socket": can(lambda: connect(unix, socket.SOCK_STREAM, "\0" + told["abstract"])),
    "signals the engine": can(lambda: os.kill(told["pid"], 0)),
    "reads a key in an environment": can(environs),
    "holds descriptors of others": len(os.listdir("/proc/self/fd")) > 4,
    "reads through a symbolic link": can(symlink),
    "links to a file outside": can(linked),
    "writes core_pattern": can(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
    "mounts": libc.mount(b"none", told["clone"].encode(), b"tmpfs", 0, None) == 0,
    "makes a user namespace": libc.unshare(0x10000000) == 0,
    "traces": libc.ptrace(0, 0, 0, 0) == 0,
    "reads keys of the kernel": libc.syscall(told["keyctl"], 0, -3, 0) >= 0,
    "has capabilities": any(int(status(name), 16) for name in ("CapEff", "CapPrm", "CapAmb")),
    "gains privileges": status("NoNewPrivs") != "1",
    "types into the terminal": can(lambda: fcntl.ioctl(0, 0x5412, b"x")),
    "opens sockets": can(lambda: socket.socket(ip).close()),
    "has pairs of sockets": can(lambda: [end.close() for end in socket.socketpair()]),
    "writes to its clone": write("new.py"),
    "writes temporary files": write(os.environ["TMPDIR"] + "/new"),
    "reads its environment": read(told["environment"] + "/kept"),
    "starts programs": subprocess.run(["ls"], capture_output=True).returncode == 0,
}))
"""
ALLOWED = (
    "has pairs of sockets",
    "writes to its clone",
    "writes temporary files",
    "reads its environment",
    "starts programs",
)
CHECKS = [line.split('"')[1] for line in PROBE.splitlines() if line.startswith('    "')]


@pytest.fixture(autouse=True, scope="module", name="works")
def _works():
    if landlock.abi() < landlock.OLDEST_ABI:
        pytest.skip(
            f"needs a sandbox: this kernel has Landlock {landlock.abi()}, not {landlock.OLDEST_ABI}"
        )


@pytest.fixture(name="folder")
def _folder(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    return folder


def run(command, folder, *, profile=None, seconds=60.0, **options):
    return sandbox.run(
        command,
        profile=profile or agent(str(folder)),
        cwd=folder,
        env={"PATH": f"{PYTHON.parent}:/usr/bin:/bin"},
        timeout_seconds=seconds,
        backend="landlock",
        **options,
    )


def python(code, *words):
    return [str(PYTHON), "-I", "-S", "-c", code, *words]


@pytest.fixture(scope="module", name="probed")
def _probed(tmp_path_factory):
    base = tmp_path_factory.mktemp("landlock")
    home, folder, environment = base / "home", base / "clone", base / "environment"
    for path in (home, folder, environment):
        path.mkdir()
    (home / "secret").write_text(TOKEN)
    (environment / "kept").write_text("kept")
    name = uuid4().hex
    keyctl = landlock.DENIED["keyctl"][list(landlock.MACHINES).index(os.uname().machine)]
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        unix.bind(str(base / "unix.sock"))
        abstract.bind(f"\0{name}")
        for listener in (unix, abstract):
            listener.listen()
        told = {
            "secret": str(home / "secret"),
            "home": str(home),
            "beside": str(base / "beside"),
            "clone": str(folder),
            "environment": str(environment),
            "token": TOKEN,
            "tcp": tcp.getsockname()[1],
            "unix": str(base / "unix.sock"),
            "abstract": name,
            "pid": os.getpid(),
            "keyctl": keyctl,
        }
        os.environ["SWATHE_CANARY"] = TOKEN
        profile = agent(str(folder), readonly=[str(environment)])
        done = run(python(PROBE, json.dumps(told)), folder, profile=profile)
        del os.environ["SWATHE_CANARY"]
    assert done.ok, done.output
    return json.loads(done.output), base


@pytest.mark.parametrize("check", CHECKS)
def test_what_a_command_reaches(probed, check):
    assert probed[0][check] == (check in ALLOWED)


def test_nothing_of_the_probe_came_out(probed):
    base = probed[1]

    assert (base / "home" / "secret").read_text() == TOKEN
    assert not (base / "beside").exists()
    assert (base / "clone" / "new.py").exists()


def test_it_is_found_to_work_and_names_its_gaps():
    report = sandbox.available("landlock")

    assert report.works, report.why
    assert any("`.git`" in gap for gap in report.gaps)


GAPS = r"""
import glob, json, os, socket, sys
def can(attempt):
    try:
        return attempt() is not False
    except OSError:
        return False
secret = sys.argv[1]
def server():
    socket.create_server(("127.0.0.1", 0)).close()
print(json.dumps({
    "the `.git` of a checkout can be written to": can(lambda: open(".git/config", "a").close()),
    "modes and times of your own files can be changed": can(lambda: os.chmod(secret, 0o640)),
    "other processes can be listed, and files of yours be told to exist": len(glob.glob("/proc/[0-9]*")) > 8 and os.path.exists(secret),
    "programs cannot open sockets at all: tests that start a server fail": not can(server),
    "programs cannot use shared memory": not can(lambda: open("/dev/shm/swathe-test", "x").close()),
}))
"""


def test_the_gaps_that_are_printed_are_there_and_no_other_is_made_up(folder, tmp_path):
    (tmp_path / "secret").write_text(TOKEN)
    (folder / ".git").mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    done = run(
        python(GAPS, str(tmp_path / "secret")), folder, profile=gate(str(folder), str(scratch))
    )

    assert json.loads(done.output) == dict.fromkeys(canary.GAPS_OF_LANDLOCK, True)
    assert set(canary.GAPS_OF_LANDLOCK) < set(sandbox.available("landlock").gaps)


def test_a_kernel_without_it_is_told(monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    canary.landlock.cache_clear()

    report = sandbox.available("landlock")

    canary.landlock.cache_clear()
    assert not report.works
    assert "Landlock 0" in report.why


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 0", 0), ("exit 3", 3), (["no-such-program"], 127), (["/etc"], 126)],
)
def test_the_exit_code_is_the_commands(folder, command, code):
    done = run(command, folder)

    assert (done.ended, done.exit_code) == ("exited", code)


def test_restrictions_that_fail_are_no_red_test(folder, monkeypatch, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(1)")
    monkeypatch.setattr(landlock, "__file__", str(broken))

    assert run("exit 0", folder).ended == "sandbox-failed"


def test_git_works_whatever_settings_the_machine_has(folder):
    done = run(
        "git init -q . && git status --short && git config --system -l; git rev-parse --git-dir",
        folder,
    )

    assert done.output.endswith(".git\n"), done.output


@pytest.mark.parametrize("place", ["temporary", "folder"])
def test_a_link_is_not_followed_when_rights_are_given(folder, tmp_path, place):
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    scratch.mkdir()
    outside.mkdir()
    (scratch / place).symlink_to(outside)
    profile = gate(str(folder), str(scratch), readonly=[str(scratch / "folder")])

    done = run(f"touch {outside}/new", folder, profile=profile)

    assert done.ended == "sandbox-failed"
    assert list(outside.iterdir()) == []


def test_a_clone_stays_where_it_is(folder):
    """There is no mount that could show it elsewhere."""
    profile = Profile(
        kind="agent", mounts=(Mount(path=str(folder), at="/srv/gate", writable=True),)
    )

    assert run("pwd; echo $HOME", folder, profile=profile).output == f"{folder}\n{folder}\n"


def test_the_watchdogs_watch_here_too(folder):
    greedy = "import time\nkeep = b'x' * 400_000_000\ntime.sleep(1000)"
    small = agent(str(folder)).model_copy(
        update={"limits": Limits(memory_bytes=200_000_000, file_bytes=1 << 20)}
    )

    late = run(python("import time\ntime.sleep(1000)"), folder, seconds=1)
    large = run(python(greedy), folder, profile=small)
    run("head -c 5M /dev/zero > big", folder, profile=small)

    assert (late.ended, "KeyboardInterrupt" in late.output) == ("timeout", True)
    assert large.ended == "memory"
    assert (folder / "big").stat().st_size == 1 << 20


def test_daemons_are_gone_when_the_run_returns(folder):
    mark = f"mark-{uuid4().hex}"
    began = time.monotonic()

    done = run(f"setsid sh -c 'sleep 1000; : {mark}' & echo started", folder, seconds=50)

    assert (done.output, time.monotonic() - began < 20) == ("started\n", True)
    assert not any(
        mark.encode() in path.read_bytes()
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.exists()
    )


def test_a_signal_that_ended_it_is_named(folder):
    assert run("kill -SEGV $$", folder).exit_code == -signal.SIGSEGV
