"""The sandbox of bubblewrap: what a command in it cannot reach, what it can, and how its end is told."""

import json
import os
import shutil
import signal
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.processes import bubblewrap, canary, child, landlock, sandbox, shell
from adapters.processes.toolchains import named, toolchains
from domain.sandbox import Limits, Mount, Profile, agent, gate, setup

MODULES = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
PYTHON = Path(sys.executable).resolve()
PATH = f"{PYTHON.parent}:/usr/bin:/bin"
MACHINE = list(landlock.MACHINES).index(os.uname().machine)
TOKEN = f"canary-{uuid4().hex}"


@pytest.fixture(autouse=True, scope="module", name="works")
def _works():
    """Most of this needs the real thing."""
    if not canary.programs():
        pytest.skip("needs a sandbox: no bubblewrap is here, neither the system's nor the wheel's")
    report = sandbox.available()
    if not report.works:
        pytest.skip(f"needs a sandbox: {report.why}")


@pytest.fixture(name="folder")
def _folder(tmp_path):
    """A clone with one commit, as agent and gate have one."""
    return clone(tmp_path / "clone")


def clone(folder):
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    who = "-c user.name=tester -c user.email=tester@example.com"
    for words in ("init -q", "add .", f"{who} commit -qm first"):
        done = shell.run(
            f"git {words}", cwd=folder, env=dict(os.environ), timeout_seconds=30, contain=False
        )
        assert done.ok, done.output
    return folder


def run(command, folder, *, profile=None, env=None, seconds=60.0, **options):
    return sandbox.run(
        command,
        profile=profile or agent(str(folder)),
        cwd=folder,
        env={"PATH": PATH, **(env or {})},
        timeout_seconds=seconds,
        **options,
    )


def python(code, *words):
    return [str(PYTHON), "-I", "-S", "-c", code, *words]


def running(mark):
    """Pids of the processes with `mark` among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            said = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and int(entry.name) != os.getpid() and mark.encode() in said:
            found.append(int(entry.name))
    return found


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.fixture(name="mark")
def _mark():
    word = f"mark-{uuid4().hex}"
    yield word
    left = running(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


# -- what a command in it reaches: facts/security.md §1.2

PROBE = r"""
import ctypes, fcntl, glob, json, multiprocessing, os, shutil, socket, struct, subprocess, sys
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
def unix(address):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(2)
        sock.connect(address)
def tcp(address):
    socket.create_connection(address, 2).close()
def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"hello", ("127.0.0.1", told["udp"]))
def own_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        tcp(server.getsockname())
def own_unix():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("/tmp/own.sock")
        server.listen()
        unix("/tmp/own.sock")
def symlink():
    os.symlink(told["secret"], "link")
    open("link").read()
def environs():
    text = b"".join(open(path, "rb").read() for path in glob.glob("/proc/*/environ"))
    return told["token"].encode() in text
def git(*words):
    return subprocess.run(["git", *words], capture_output=True).returncode == 0
def terminal():
    fcntl.ioctl(0, 0x5412, b"x")
def status(name):
    return [line.split()[1] for line in open("/proc/self/status") if line.startswith(name + ":")][0]
def traced():
    child = os.fork()
    if child == 0:
        os._exit(libc.ptrace(0, 0, 0, 0) != 0)
    return os.waitpid(child, 0)[1] == 0
def locked():
    with multiprocessing.get_context("fork").Lock():
        return True
pids = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
print(json.dumps({
    "reads a key in HOME": read(told["secret"]),
    "reads credentials in HOME": read(told["credentials"]),
    "lists HOME": can(lambda: os.listdir(told["home"]) or False),
    "reads /etc/shadow": read("/etc/shadow"),
    "reads the keys of TLS": can(lambda: os.listdir("/etc/ssl/private")),
    "reads the folder of root": can(lambda: os.listdir("/root") or False) and read(os.path.join("/root", ".profile")),
    "lists /var": can(lambda: os.listdir("/var/lib") or False),
    "writes beside the clone": write(told["beside"]),
    "writes to /usr": write("/usr/swathe-canary"),
    "writes to the root": write("/swathe-canary"),
    "writes to its environment": write(told["environment"] + "/new"),
    "writes a hook": write(".git/hooks/post-commit"),
    "writes the configuration of git": write(".git/config"),
    "moves .git away": can(lambda: os.rename(".git", "dotgit")),
    "removes .git": can(lambda: shutil.rmtree(".git")),
    "connects by TCP": can(lambda: tcp(("127.0.0.1", told["tcp"]))),
    "connects to a unix socket": can(lambda: unix(told["unix"])),
    "connects to an abstract socket": can(lambda: unix("\0" + told["abstract"])),
    "reaches the network": can(lambda: tcp(("192.0.2.1", 80))),
    "sends by UDP": can(udp),
    "sees processes of the machine": len(pids) > 8,
    "sees the engine": read(f"/proc/{told['pid']}/cmdline") and told["pid"] in pids,
    "signals the engine": can(lambda: os.kill(told["pid"], 0)),
    "reads a key in an environment": can(environs),
    "holds descriptors of others": len(os.listdir("/proc/self/fd")) > 4,
    "writes to the sandbox's status": write("/dev/fd/9"),
    "reads through a symbolic link": can(symlink),
    "links to a file outside": can(lambda: os.link(told["secret"], "hard")),
    "writes core_pattern": can(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
    "writes sysrq-trigger": can(lambda: open("/proc/sysrq-trigger", "w").close()),
    "mounts": libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0,
    "makes a user namespace": libc.unshare(0x10000000) == 0,
    "makes a device": can(lambda: os.mknod("/tmp/dev", 0o20666, os.makedev(1, 1))) and read("/tmp/dev"),
    "reads keys of the kernel": libc.syscall(told["keyctl"], 0, -3, 0) >= 0,
    "makes a ring of io_uring": libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0,
    "talks to the hypervisor": can(lambda: socket.socket(40).close()),
    "loads a program into the kernel": libc.syscall(told["bpf"], 0, 0, 0) >= 0 or ctypes.get_errno() != 1,
    "has its calls filtered": status("Seccomp") == "2",
    "traces what it started": can(traced),
    "has capabilities": any(int(status(name), 16) for name in ("CapEff", "CapPrm", "CapInh")),
    "gains privileges": status("NoNewPrivs") != "1",
    "types into the terminal": can(terminal),
    "commits": git("commit", "-qam", "x", "--allow-empty"),
    "has a loopback of its own": can(own_server),
    "has unix sockets of its own": can(own_unix),
    "has shared memory": can(locked),
    "writes to its clone": write("new.py"),
    "writes to /tmp": write("/tmp/new"),
    "writes at home": write(os.path.expanduser("~/new")),
    "reads its environment": read(told["environment"] + "/kept"),
    "asks git for the status": git("status"),
    "asks git for the log": git("log"),
    "is alone in its name": socket.gethostname() == "sandbox",
}))
"""
ALLOWED = (
    "has a loopback of its own",
    "has unix sockets of its own",
    "has shared memory",
    "writes to its clone",
    "writes to /tmp",
    "writes at home",
    "reads its environment",
    "asks git for the status",
    "asks git for the log",
    "is alone in its name",
    "has its calls filtered",
    "traces what it started",
)
"""What a gate may, and needs; the rest of the probe is attempts to get out."""
IN_VAIN = (
    "sends by UDP",  # into a namespace of its own, where nobody listens
    "writes beside the clone",  # onto the sandbox's own disk, in memory
)
"""Attempts that the kernel lets a command make, and that reach nothing: `test_nothing_of_the_probe_came_out`."""
CHECKS = [line.split('"')[1] for line in PROBE.splitlines() if line.startswith('    "')]


@pytest.fixture(scope="module", name="probed")
def _probed(tmp_path_factory):
    """The probe in the gate's profile, beside a home with secrets and listeners of all kinds."""
    base = Path(tmp_path_factory.mktemp("probe"))
    home, environment, scratch = base / "home", base / "environment", base / "scratch"
    for path in (home / ".ssh", environment, scratch):
        path.mkdir(parents=True)
    (environment / "kept").write_text("kept")
    for name in (".ssh/id_ed25519", ".git-credentials"):
        (home / name).write_text(TOKEN)
    folder, name = clone(base / "clone"), uuid4().hex
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        unix, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        unix.bind(str(base / "unix.sock"))
        abstract.bind(f"\0{name}")
        for listener in (unix, abstract):
            listener.listen()
        for listener in (tcp, udp, unix, abstract):
            listener.setblocking(False)
        told = {
            "secret": str(home / ".ssh/id_ed25519"),
            "credentials": str(home / ".git-credentials"),
            "home": str(home),
            "beside": str(base / "beside"),
            "environment": str(environment),
            "token": TOKEN,
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": str(base / "unix.sock"),
            "abstract": name,
            "pid": os.getpid(),
            **{name: landlock.DENIED[name][MACHINE] for name in ("keyctl", "bpf")},
        }
        os.environ["SWATHE_CANARY"] = TOKEN
        done = run(
            python(PROBE, json.dumps(told)),
            folder,
            profile=gate(str(folder), str(scratch), readonly=[str(environment)]),
        )
        del os.environ["SWATHE_CANARY"]
        assert done.ok, done.output
        assert TOKEN not in done.output
        came = [listener for listener in (tcp, unix, abstract) if accepts(listener)]
        got = heard(udp)
    return json.loads(done.output), base, came, got


def accepts(listener):
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def heard(listener):
    try:
        return listener.recv(100)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("attempt", [check for check in CHECKS if check not in ALLOWED])
def test_an_attempt_to_get_out_fails(probed, attempt):
    """S1, S2 and the probe matrix of facts/security.md §1.2."""
    assert probed[0][attempt] == (attempt in IN_VAIN)


@pytest.mark.parametrize("need", ALLOWED)
def test_what_a_gate_needs_works_inside(probed, need):
    """S2, the other side: without it all the attempts would fail in a sandbox that starts nothing."""
    assert probed[0][need]


def test_nothing_of_the_probe_came_out(probed):
    """S2: listeners heard nothing; and what it wrote outside its folders is nowhere."""
    _, base, came, got = probed

    assert (came, got) == ([], b"")
    assert {path.name for path in base.iterdir()} == {
        *("home", "environment", "clone", "unix.sock", "scratch")
    }
    assert (base / "clone" / "new.py").exists()


def test_the_canaries_of_the_environment_are_in_no_output(folder, monkeypatch):
    """S1."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", TOKEN)
    log = folder.parent / "log"

    done = run("env; cat /proc/*/environ; cat /proc/1/cmdline /proc/1/environ", folder, log=log)

    assert TOKEN not in done.output + log.read_text()
    assert "SWATHE_COMMAND" in done.output


def test_the_agent_commits_in_its_own_clone(folder):
    done = run("echo 'a = 2' > a.py; git -c user.name=a -c user.email=a commit -qam two", folder)

    assert done.ok, done.output
    assert run("git log --format=%s", folder).output == "two\nfirst\n"


def test_a_clone_is_seen_where_the_gate_is(folder):
    """One environment, installed editable for the gate's folder, serves the agent's clone."""
    at = "/srv/somewhere/gate"

    done = run("pwd; cat a.py; echo b > b.py", folder, profile=agent(str(folder), at=at))

    assert done.output == f"{at}\na = 1\n"
    assert (folder / "b.py").exists()


REACH = r"""
import json, socket, sys
port, name = int(sys.argv[1]), sys.argv[2]
def can(attempt):
    try:
        attempt()
        return True
    except OSError:
        return False
def fast_open():
    with socket.socket() as sock:
        sock.sendto(b"x", 0x20000000, ("127.0.0.1", port))
def many_paths():
    with socket.socket(proto=262) as sock:
        sock.connect(("127.0.0.1", port))
def abstract():
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0" + name)
def own():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()
print(json.dumps({
    "tcp": can(lambda: socket.create_connection(("127.0.0.1", port), 5).close()),
    "fast open": can(fast_open),
    "many paths": can(many_paths),
    "abstract": can(abstract),
    "listens": can(own),
}))
"""


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_the_set_up_reaches_package_indexes_and_no_other_service_of_this_machine(folder, backend):
    """The ports of indexes are what the operator's own settings name, as a Prefect server's is not."""
    if landlock.abi() < landlock.WITH_SCOPES:
        pytest.skip("an older Landlock: doctor names the gap")
    environment, name = folder.parent / "environment", uuid4().hex
    environment.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        port = server.getsockname()[1]

        def reached(**more):
            profile = setup(str(folder), str(environment), **more)
            done = run(python(REACH, str(port), name), folder, profile=profile, backend=backend)
            assert done.ok, done.output
            return {what for what, is_so in json.loads(done.output).items() if is_so}

        assert reached(ports=[port]) == {"tcp", "listens"}
        assert reached() == {"listens"}
        assert reached(offline=True) == ({"listens"} if backend == "bubblewrap" else set())


# -- how its end is told


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        (["/bin/sh", "-c", "exit 4"], 4),
        (["false"], 1),
        (["no-such-program"], 127),
        ("kill -SEGV $$", 128 + signal.SIGSEGV),
    ],
)
def test_the_exit_code_is_the_commands(folder, command, code):
    done = run(command, folder)

    assert (done.ended, done.exit_code) == ("exited", code)


def test_the_command_is_told_as_it_was_given(folder):
    assert run(["echo", "a b"], folder).command == "echo 'a b'"


def test_standard_input_and_error_are_as_without_a_sandbox(folder):
    done = run("cat; echo err >&2", folder, stdin=b"x" * 3_000_000 + b"end\n", apart=True)

    assert done.output.endswith("end\n")
    assert done.errors == "err\n"
    assert run("cat; echo read all", folder).output == "read all\n"


def test_at_the_deadline_the_command_may_say_where_it_hangs(folder):
    done = run(python("import time\ntime.sleep(1000)"), folder, seconds=1)

    assert (done.ended, done.exit_code) == ("timeout", None)
    assert "KeyboardInterrupt" in done.output
    assert done.seconds < 1 + child.INTERRUPT_SECONDS + 3


def test_a_command_that_ignores_the_interrupt_is_killed(folder, mark):
    script = f"trap '' INT TERM HUP; while :; do sleep 0.1; done # {mark}"

    done = run(script, folder, seconds=0.3)

    assert done.ended == "timeout"


# -- when there is no sandbox: S3


def broken(folder, text):
    program = folder.parent / "bwrap"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return str(program)


VERSION = 'if [ "$1" = --version ]; then echo bubblewrap 0.11.0; exit; fi\n'


@pytest.mark.parametrize("text", ["exit 0", "exit 1", "echo error >&2; exit 1", "kill -9 $$"])
def test_a_sandbox_that_fails_is_no_red_test(folder, text):
    done = run("exit 0", folder, program=broken(folder, text))

    assert (done.ended, done.exit_code, done.ok) == ("sandbox-failed", None, False)
    assert "sandbox" in done.how


def test_a_sandbox_that_is_not_there_is_no_red_test(folder):
    assert run("exit 0", folder, program="/no/such/bwrap").ended == "sandbox-failed"


@pytest.fixture(name="report")
def _report(monkeypatch):
    """What is found when these are all the bubblewraps there are."""

    def found(*programs):
        monkeypatch.setattr(canary, "programs", lambda: list(programs))
        canary.bubblewrap.cache_clear()
        return sandbox.available()

    yield found
    canary.bubblewrap.cache_clear()


def test_no_bubblewrap_is_told_with_what_to_do(report, folder):
    found = report()

    assert (found.works, found.program) == (False, "")
    assert "Install the system package `bubblewrap`" in found.advice
    assert run("exit 0", folder).ended == "sandbox-failed"


@pytest.mark.parametrize(
    ("says", "advice"),
    [
        ("bwrap: Creating new namespace failed: max_user_namespaces exceeded", "max_user_names"),
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths"),
    ],
)
def test_the_known_failures_are_told_apart(report, folder, says, advice):
    found = report(broken(folder, f'{VERSION}echo "{says}" >&2; exit 1'))

    assert not found.works
    assert says in found.why
    assert advice in found.advice


@pytest.mark.parametrize("text", ["echo bubblewrap 0.4.1", "echo hello", "exit 1"])
def test_an_old_or_strange_bubblewrap_will_not_do(report, folder, text):
    assert not report(broken(folder, text)).works


def test_a_setuid_bubblewrap_will_not_do(report, folder):
    program = broken(folder, VERSION)
    Path(program).chmod(0o4755)

    assert "setuid" in report(program).why


def test_a_bubblewrap_that_holds_nothing_back_is_found_out(report, folder):
    """It runs the command, and says all the right things."""
    fake = VERSION + (
        'while [ "$1" != -- ]; do shift; done; shift\n'
        'echo \'{ "child-pid": 1 }\' >&9; "$@"; code=$?; echo "{ \\"exit-code\\": $code }" >&9; exit $code'
    )

    found = report(broken(folder, fake))

    assert not found.works
    assert "reads a file in your home" in found.why
    assert "reaches a service of this machine" in found.why


def test_the_second_bubblewrap_is_used_when_the_first_fails(report, folder):
    works = canary.programs()[0]

    found = report(broken(folder, f"{VERSION}exit 1"), works)

    assert (found.works, found.program) == (True, works)


def test_a_kernel_that_forbids_user_namespaces_is_told(tmp_path):
    """Emulated: in a namespace that may have no more below it."""
    engine = (
        "from adapters.processes import canary, sandbox; "
        f"canary.programs = lambda: {canary.programs()!r}; print(sandbox.available().to_json())"
    )
    script = f'echo 0 > /proc/sys/user/max_user_namespaces && exec {sys.executable} -c "{engine}"'
    told = ["unshare", "--user", "--map-root-user", "sh", "-c", script]

    done = shell.run(
        told,
        cwd=tmp_path,
        env={"PATH": PATH, "PYTHONPATH": MODULES, "HOME": str(tmp_path)},
        timeout_seconds=60,
    )

    found = json.loads(done.output.strip().splitlines()[-1])
    assert found["works"] is False
    assert "user namespaces" in found["advice"]


def test_the_probe_leaves_nothing_at_home(report):
    assert report(*canary.programs()).works
    assert list(Path.home().iterdir()) == []


# -- what a command may do to us: V9, R6, S8


def test_daemons_are_gone_when_the_run_returns(folder, mark):
    script = f"setsid nohup sh -c 'sleep 1000; : {mark}' >/dev/null 2>&1 & (setsid sh -c 'sleep 1000; : {mark}' &); echo started"

    done = run(script, folder, seconds=50)

    assert (done.exit_code, done.output) == (0, "started\n")
    assert done.seconds < 10


def test_a_fork_bomb_is_stopped_and_typed(folder, mark, monkeypatch):
    monkeypatch.setattr(shell, "MOST_PROCESSES", 100)
    bomb = "import os, time\nfor _ in range(9): os.fork()\nos.setsid() if os.getpid() != os.getpgid(0) else 0\ntime.sleep(1000)"

    done = run(python(bomb, mark), folder)

    assert (done.ended, done.exit_code) == ("processes", None)


@pytest.mark.parametrize("aim", ["1", "-1", "$PPID", "0"])
def test_a_command_cannot_end_its_supervisor(folder, aim):
    done = run(f"kill -9 {aim}; kill -STOP {aim}; exit 5", folder, seconds=30)

    assert done.ended == "exited"
    assert done.exit_code in {5, 128 + signal.SIGKILL, 1}


def test_output_beyond_all_bounds_is_kept_head_and_tail(folder):
    done = run("echo first; yes | head -c 300M; echo last", folder)

    assert done.output.startswith("first\n")
    assert done.output.endswith("last\n")
    assert done.total_bytes == 300 * 2**20 + 11
    assert len(done.output) < 1_100_000


def test_memory_is_bounded(folder, mark):
    profile = agent(str(folder)).model_copy(update={"limits": Limits(memory_bytes=200_000_000)})
    greedy = "import time\nkeep = b'x' * 400_000_000\ntime.sleep(1000)"

    done = run(python(greedy, mark), folder, profile=profile)

    assert (done.ended, done.exit_code) == ("memory", None)
    assert "memory" in done.how
    assert done.seconds < 20


def test_memory_that_is_shared_counts_once(folder):
    profile = agent(str(folder)).model_copy(update={"limits": Limits(memory_bytes=400_000_000)})
    many = "import os, time\nkeep = b'x' * 150_000_000\nfor _ in range(3): os.fork()\ntime.sleep(1)"

    assert run(python(many), folder, profile=profile).ok


def test_the_size_of_a_file_is_bounded(folder):
    profile = agent(str(folder)).model_copy(update={"limits": Limits(file_bytes=1 << 20)})

    done = run("head -c 5M /dev/zero > big", folder, profile=profile)

    assert not done.ok
    assert (folder / "big").stat().st_size == 1 << 20


def test_temporary_files_in_memory_are_bounded(folder, monkeypatch):
    monkeypatch.setitem(bubblewrap.TMPFS, bubblewrap.TEMPORARY, 1 << 20)

    assert not run("head -c 5M /dev/zero > /tmp/big", folder).ok


def test_a_full_disk_is_typed(folder, mark, monkeypatch):
    monkeypatch.setattr(child, "DISK_FLOOR_BYTES", 1 << 62)

    assert run(f"sh -c 'sleep 1000; : {mark}'", folder).ended == "disk"


ENGINE = """
import sys
from pathlib import Path
from adapters.processes import sandbox
from domain.sandbox import agent
command, folder, path, program = sys.argv[1:]
sandbox.run(command, profile=agent(folder), cwd=Path(folder), env={"PATH": path}, timeout_seconds=100,
            program=program)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_everything_is_gone_a_second_after_the_engine(folder, mark, number):
    """S8, R6."""
    script = f"(setsid sh -c 'sleep 1000; : {mark}' &); sh -c 'sleep 1000; : {mark}'"
    env = {**os.environ, "PYTHONPATH": MODULES}
    words = [sys.executable, "-c", ENGINE, script, str(folder), PATH]
    words.append(sandbox.available().program)
    null = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawn(sys.executable, words, env, file_actions=[(os.POSIX_SPAWN_DUP2, null, 2)])
    os.close(null)
    # The engine, what starts bubblewrap and bubblewrap itself name it too.
    assert within(100, lambda: len(running(mark)) >= 7)

    os.kill(pid, number)
    os.waitpid(pid, 0)

    assert within(1.0, lambda: not running(mark))


def test_commands_run_in_short_lived_threads_at_once(folder):
    """The kernel takes the thread that started bubblewrap for its parent, and here it is the supervisor's."""
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda n: run(f"sleep 0.2; echo {n}", folder), range(8)))

    assert [one.output for one in done] == [f"{n}\n" for n in range(8)]


def test_an_exception_in_the_engine_leaves_nothing(folder, mark, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(child, "_disk_is_full", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(f"sh -c 'sleep 1000; : {mark}' & sleep 1000", folder)

    assert within(1.0, lambda: not running(mark))


# -- mounts that would not be what they were meant to be


@pytest.fixture(name="elsewhere")
def _elsewhere(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret").write_text(TOKEN)
    return folder


def test_a_folder_for_temporary_files_that_became_a_link_is_refused(folder, elsewhere):
    """One command of a gate makes it, and the next would have your home as its /tmp."""
    scratch = folder.parent / "scratch"
    scratch.mkdir()
    (scratch / "temporary").symlink_to(elsewhere)
    # Below a place that is no part of /tmp, so that the folder would be used.
    profile = Profile(
        kind="gate",
        mounts=(
            Mount(path=str(folder), at="/srv/gate", writable=True),
            Mount(path=str(scratch), at="/srv/scratch", writable=True),
        ),
        temporary=str(scratch / "temporary"),
    )

    done = run("ls /tmp", folder, profile=profile)

    assert done.ended == "sandbox-failed"
    assert "neither a file nor a folder" in done.output


def test_a_git_directory_that_became_a_link_is_refused(folder, elsewhere):
    shutil.rmtree(folder / ".git")
    (folder / ".git").symlink_to(elsewhere)
    scratch = folder.parent / "scratch"
    scratch.mkdir()

    done = run("ls .git/", folder, profile=gate(str(folder), str(scratch)))

    assert (done.ended, "secret" in done.output) == ("sandbox-failed", False)


def test_a_git_directory_that_is_missing_is_not_made(folder):
    shutil.rmtree(folder / ".git")
    scratch = folder.parent / "scratch"
    scratch.mkdir()

    assert run("true", folder, profile=gate(str(folder), str(scratch))).ok
    assert not (folder / ".git").exists()


def test_no_mount_point_is_made_in_a_writable_folder(folder, elsewhere):
    mounts = (
        Mount(path=str(folder), writable=True),
        Mount(path=str(elsewhere), at=str(folder / "sub")),
    )

    done = run("true", folder, profile=Profile(kind="gate", mounts=mounts))

    assert done.ended == "sandbox-failed"
    assert not (folder / "sub").exists()


def test_temporary_files_of_the_gate_are_on_its_own_disk(tmp_path):
    folder, scratch = tmp_path / "gate", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    profile = Profile(
        kind="gate",
        mounts=(Mount(path=str(folder), at="/srv/gate", writable=True),),
        temporary=str(scratch),
    )

    assert run("echo $TMPDIR; echo hi > /tmp/x", folder, profile=profile).output == "/tmp\n"  # noqa: S108
    assert (scratch / "x").read_text() == "hi\n"


# -- interpreters


def test_a_virtual_environment_runs_with_its_interpreter_from_a_home(folder):
    venv = folder.parent / "env" / "venv"
    made = shell.run(
        [str(PYTHON), "-m", "venv", "--without-pip", str(venv)],
        cwd=folder,
        env={"PATH": PATH},
        timeout_seconds=60,
    )
    assert made.ok, made.output
    done = run(
        ["python", "-c", "import sys, json; print(sys.prefix)"],
        folder,
        profile=agent(str(folder), readonly=[str(venv)]),
        env={"PATH": f"{venv}/bin:/usr/bin:/bin"},
    )

    assert (done.exit_code, done.output) == (0, f"{venv}\n")


def test_an_environment_that_points_at_a_home_does_not_show_it(tmp_path, monkeypatch):
    """The set-up runs code of others, which can write `pyvenv.cfg`."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / "bin").mkdir()
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for place in (home / ".ssh", home / "bin", home, Path("/"), home.parent):
        (venv / "pyvenv.cfg").write_text(f"home = {place}\n")

        assert toolchains({"PATH": f"{venv}/bin"}) == (venv,)


def test_toolchains_are_found_by_what_they_hold(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cargo, node, other = (tmp_path / "home" / name for name in (".cargo", "node", "other"))
    for path in (cargo / "bin", cargo / "registry", node / "lib/node_modules/npm", node / "bin"):
        path.mkdir(parents=True)
    (other / "bin").mkdir(parents=True)
    (cargo / "credentials.toml").write_text(TOKEN)
    env = {
        "PATH": f"{node}/bin:{other}/bin:relative:/usr/bin",
        "CARGO_HOME": str(cargo),
        "UV_FIND_LINKS": f"file://{tmp_path}/wheels,file://{tmp_path}/index/simple/x/",
        "UV_DEFAULT_INDEX": "https://index.example/simple",
    }
    for name in ("wheels", "index"):
        (tmp_path / name).mkdir()

    assert toolchains(env) == (
        *(node, cargo / "bin", cargo / "registry"),
        *(tmp_path / "wheels", tmp_path / "index"),
    )
    assert named(f"{node}/bin/node {other}/x.js relative 'a b'") == ()
    (other / "x.js").touch()
    assert named(f"{node}/bin/node {other}/x.js") == (other / "x.js",)
    assert named("an 'open quote") == ()
