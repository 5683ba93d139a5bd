"""What one gate run does to its surroundings does not reach the next one: no verdict is poisoned by another."""

from pathlib import Path

import pytest

from adapters import proving
from adapters.processes.sandbox import available
from adapters.proving import Prepared
from domain.gate import GatePlan
from domain.sandbox import Sandbox

pytestmark = pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}")

SEEN = r"""
find . "$VIRTUAL_ENV" "$HOME" "$TMPDIR" /dev/shm -not -path '*.git/*' -printf '%y %m %l %p\n' -type f -exec sha256sum {} + | sort
ls -lAgG --time-style=+ .git .git/info; cat .git/config .git/HEAD; git status --porcelain --ignored
python -c 'import sys; print(sys.path, sorted(sys.modules))'
env | sort | grep -v SWATHE_COMMAND
"""
"""An honest gate that says all that it sees: the tree, its environment, its home, what Python starts with.

Of git directories little: an index has times in it, and the target gets new objects."""

HOSTILE = r"""
import os, shutil, stat
def attempt(action, *words):
    try:
        action(*words)
    except OSError:
        pass
def put(path, text="raise SystemExit(0)  # poisoned\n"):
    with open(path, "w") as file:
        file.write(text)
scratch, folder = os.path.dirname(os.environ["HOME"]), os.getcwd()
for above, folders, names in os.walk(os.environ["VIRTUAL_ENV"]):
    for name in names:
        attempt(put, os.path.join(above, name))
    for name in ("evil.pth", "sitecustomize.py", "conftest.py", "pytest.py"):
        attempt(put, os.path.join(above, name), "import os; os._exit(0)\n")
for place in (folder, scratch, os.environ["HOME"], os.environ["TMPDIR"], "/dev/shm", "/tmp", "/var", "/run", os.path.dirname(folder)):
    for name in ("conftest.py", "evil.pth", "json.py", "pytest.ini", ".bashrc", ".profile", "usercustomize.py", "ready.json"):
        attempt(put, os.path.join(place, name))
attempt(put, "lib.egg-info/entry.txt")
attempt(put, "built.so")
before = os.stat("lib.egg-info/PKG-INFO")
put("lib.egg-info/PKG-INFO", "eviL\n")
os.utime("lib.egg-info/PKG-INFO", ns=(before.st_atime_ns, before.st_mtime_ns))
os.unlink("other.so")
os.symlink("/etc/passwd", "other.so")
shutil.rmtree("objects")
os.symlink(os.environ["HOME"], "objects")
os.makedirs("lib/__pycache__")
put("lib/__pycache__/x.cpython-311.pyc")
put("lib/x.py")
put("tracked.txt")
attempt(put, ".git/config", "[core]\n\tfsmonitor = false\n")
attempt(put, ".git/info/exclude", "*\n")
attempt(os.rename, ".git", "dotgit")
attempt(os.link, "built.so", os.path.join(scratch, "again"))
for place in (os.path.join(scratch, "junit", "deep"), os.path.join(folder, "new", "deep")):
    os.makedirs(place)
    os.chmod(place, 0)
    os.chmod(os.path.dirname(place), 0)
os.chmod("lib", 0o500)
os.chmod("lib.egg-info", 0)
"""
SETUP = (
    "mkdir lib.egg-info objects",
    "echo kept > lib.egg-info/PKG-INFO",
    "echo built > built.so; echo built > other.so; ln -s built.so latest.so",
    "echo built > objects/x.o; chmod 755 objects/x.o",
)
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    ".gitignore": "*.so\n*.egg-info\nobjects\n",
    "tracked.txt": "tracked\n",
    "lib/x.py": "x = 1\n",
    "gate.sh": SEEN,
}


@pytest.fixture(name="prepare")
def _prepare(target, open_campaign):
    """Prepare the gate `sh gate.sh` on a target whose set-up leaves files of all kinds in the checkout."""
    target.commit(FILES)
    campaign = open_campaign(target)

    def prepared() -> tuple[proving.Workspace, Prepared]:
        held = Sandbox(
            backend="bubblewrap", readonly=(f"{campaign.workspace.home}/store.git/objects",)
        )
        held = held.model_copy(
            update={"readonly": (*held.readonly, f"{target.folder}/.git/objects")}
        )
        workspace = campaign.workspace.model_copy(update={"sandbox": held})
        plan = GatePlan(
            verify=("sh gate.sh",), setup=SETUP, language="python", timeout_seconds=60.0
        )
        made = proving.prepare(workspace, plan)
        assert isinstance(made, Prepared), made
        return workspace, made

    return prepared


def tail(workspace, prepared, commit):
    run, kept = proving.run(workspace, prepared, commit, fresh=True)
    assert (run.status, kept) == ("passed", False), run.tail
    return Path(run.log).read_text()


def test_a_run_that_writes_wherever_it_can_changes_nothing_for_the_next(target, prepare):
    workspace, prepared = prepare()
    honest = target.head
    hostile = target.commit({"gate.sh": "python attack.py\n", "attack.py": HOSTILE})
    before = tail(workspace, prepared, honest)
    assert " ./built.so\n" in before
    assert prepared.environment.path in before

    assert "Traceback" not in tail(workspace, prepared, hostile)

    assert tail(workspace, prepared, honest) == before


def test_the_next_campaign_finds_what_the_set_up_left_too(target, prepare):
    """The environment is not made again: what a gate did to the kept files would be taken for the set-up's."""
    workspace, prepared = prepare()
    before = tail(workspace, prepared, target.head)
    hostile = target.commit({"gate.sh": "python attack.py\n", "attack.py": HOSTILE})
    tail(workspace, prepared, hostile)

    workspace, again = prepare()

    assert again == prepared
    assert tail(workspace, again, workspace.base) == before


def test_a_gate_may_build_on_what_the_set_up_left(target, prepare):
    workspace, prepared = prepare()
    commit = target.commit({"gate.sh": "echo rebuilt > objects/x.o && grep rebuilt objects/x.o\n"})

    assert "rebuilt" in tail(workspace, prepared, commit)
    assert "rebuilt" in tail(workspace, prepared, commit)


def test_a_commit_that_adds_a_file_which_the_set_up_had_made_has_its_own(target, prepare):
    workspace, prepared = prepare()
    target.write({"objects/x.o": "committed\n"}).git("add", "-f", "objects/x.o")
    commit = target.commit({"gate.sh": "cat objects/x.o\n"})

    assert tail(workspace, prepared, commit).endswith("committed\n")
    assert tail(
        workspace, prepared, target.commit({"objects/x.o": None, "gate.sh": "cat objects/x.o\n"})
    ).endswith("built\n")
