"""The target's environment: made once, made whole, and blamed on nobody when it cannot be made."""

import os
from pathlib import Path

import pytest

from adapters.processes import indexes, shell
from adapters.processes.environment import READY, prepare
from adapters.processes.sandbox import available
from domain.environment import Environment, SetupFailed
from domain.gate import GatePlan
from domain.sandbox import OPEN, Sandbox

LEGACY = "from setuptools import setup\nimport old\nsetup(name='old', version=old.V, py_modules=['old'])\n"
MODERN = b"""
[project]
name = "new"
version = "1"
dependencies = ["iniconfig"]
[project.optional-dependencies]
test = ["pluggy"]
[dependency-groups]
dev = ["packaging"]
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[tool.setuptools]
py-modules = ["new"]
"""


@pytest.fixture(name="folder")
def _folder(tmp_path):
    folder = tmp_path / "gate"
    folder.mkdir()
    return folder


def made(folder, manifests=None, held=OPEN, **plan):
    plan = GatePlan(**{"verify": ("true",), "timeout_seconds": 120.0, **plan})
    envs, log = folder.parent / "envs", folder.parent / "logs" / "setup.log"
    return prepare(plan, folder, envs, manifests or {}, log, held=held)


def python(environment, code, folder):
    program = f"{environment.bin}/python"
    env = shell.scrubbed_environment(environment.variables)
    return shell.run([program, "-c", code], cwd=folder, env=env, timeout_seconds=30)


def test_a_python_target_gets_an_environment_of_its_own(folder):
    environment = made(folder, language="python")

    assert isinstance(environment, Environment)
    assert environment.variables == {"VIRTUAL_ENV": str(Path(environment.bin).parent)}
    prefix = python(environment, "import sys; print(sys.prefix)", folder).output.strip()
    assert prefix == environment.variables["VIRTUAL_ENV"]


def test_an_environment_is_made_once_for_the_same_manifests_and_again_for_others(folder):
    setup = ("echo made >> made.txt",)
    count = folder / "made.txt"

    first = made(folder, {"go.mod": b"a"}, setup=setup)
    again = made(folder, {"go.mod": b"a"}, setup=setup)
    assert count.read_text() == "made\n"
    assert again == first

    other = made(folder, {"go.mod": b"b"}, setup=setup)
    assert count.read_text() == "made\nmade\n"
    assert other.digest != first.digest


def test_a_set_up_that_was_killed_half_way_starts_over(folder):
    setup = ("echo made >> made.txt",)
    environment = made(folder, language="other", setup=setup)
    home = Path(environment.path)
    (home / READY).unlink()
    (home / "half").write_text("left behind")

    again = made(folder, language="other", setup=setup)

    assert again == environment
    assert not (home / "half").exists()
    assert (folder / "made.txt").read_text() == "made\nmade\n"


def test_a_failed_set_up_says_which_command_and_blames_nobody(folder):
    """V11."""
    failed = made(folder, setup=("echo fine", "echo no such package >&2; exit 7", "touch reached"))

    assert isinstance(failed, SetupFailed)
    assert (failed.exit_code, failed.command) == (7, "echo no such package >&2; exit 7")
    assert failed.why.startswith(
        "the environment could not be prepared: `echo no such package >&2; exit 7` ended"
    )
    assert "No commit is to blame" in failed.why
    assert "--setup" in failed.why
    assert failed.tail == "no such package\n"
    assert "fine" in Path(failed.log).read_text()
    assert not (folder / "reached").exists()


def test_a_failed_set_up_is_tried_again(folder):
    setup = ("test -e there",)
    assert isinstance(made(folder, setup=setup), SetupFailed)

    (folder / "there").touch()
    assert isinstance(made(folder, setup=setup), Environment)


def test_a_set_up_that_takes_too_long_says_so(folder):
    failed = made(folder, setup=("sleep 100",), timeout_seconds=0.3)

    assert isinstance(failed, SetupFailed)
    assert "`sleep 100` ran out of time" in failed.why


def test_an_environment_that_exists_is_used_as_it_is(folder, tmp_path):
    (tmp_path / "mine" / "bin").mkdir(parents=True)

    environment = made(folder, environment=str(tmp_path / "mine"))

    assert environment.bin == str(tmp_path / "mine" / "bin")
    assert not (tmp_path / "envs").exists()


def test_an_environment_that_does_not_exist_is_named(folder):
    failed = made(folder, environment="/no/such/env")

    assert isinstance(failed, SetupFailed)
    assert "no environment at '/no/such/env'" in failed.why


def test_the_set_up_sees_index_settings_and_no_secret(folder, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    monkeypatch.setenv("GIT_DIR", "/canary")

    made(folder, setup=("env > seen.txt",))
    seen = (folder / "seen.txt").read_text()

    assert "PIP_INDEX_URL=https://index.example/simple\n" in seen
    assert "canary" not in seen


def test_settings_of_pip_become_those_of_uv(tmp_path):
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nextra-index-url = https://two.example https://three.example\n")
    environ = {
        "PIP_CONFIG_FILE": str(config),
        "PIP_INDEX_URL": "https://one.example",
        "PIP_FIND_LINKS": "/wheels /more",
        "PIP_CERT": "/ca.pem",
        "HTTPS_PROXY": "http://proxy.example",
        "TOKEN": "canary",
    }

    given = indexes.settings(environ)

    assert given["UV_DEFAULT_INDEX"] == "https://one.example"
    assert given["UV_INDEX"] == "https://two.example https://three.example"
    assert given["UV_FIND_LINKS"] == "/wheels,/more"
    assert given["SSL_CERT_FILE"] == "/ca.pem"
    assert given["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert given["HTTPS_PROXY"] == "http://proxy.example"
    assert "TOKEN" not in given


@pytest.mark.parametrize("own", ["UV_INDEX_URL", "UV_DEFAULT_INDEX"])
def test_uvs_own_settings_win(own):
    given = indexes.settings({own: "https://mine.example", "PIP_INDEX_URL": "https://pip.example"})

    assert "https://pip.example" not in {given.get("UV_DEFAULT_INDEX"), given.get("UV_INDEX_URL")}


def test_a_broken_configuration_of_pip_is_passed_over(tmp_path):
    (tmp_path / "pip.conf").write_text("no section\n")

    assert "UV_PYTHON_DOWNLOADS" in indexes.settings(
        {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    )


# --- with the package index ---------------------------------------------------------------------------


@pytest.mark.real
def test_a_target_is_installed_editable_with_its_test_extra_its_group_and_pytest(folder):
    (folder / "pyproject.toml").write_bytes(MODERN)
    (folder / "new.py").write_text("ANSWER = 42\n")

    environment = made(
        folder, {"pyproject.toml": MODERN}, language="python", verify=("python -m pytest",)
    )

    code = "import new, iniconfig, pluggy, packaging, pytest; print(new.__file__, new.ANSWER)"
    assert isinstance(environment, Environment), environment
    assert python(environment, code, folder.parent).output == f"{folder / 'new.py'} 42\n"


@pytest.mark.real
def test_a_setup_py_that_imports_its_own_module_is_installed(folder):
    """As inflection 0.4.0 does."""
    (folder / "setup.py").write_text(LEGACY)
    (folder / "old.py").write_text("V = '1'\n")

    environment = made(folder, {"setup.py": LEGACY.encode()}, language="python")

    assert isinstance(environment, Environment), environment
    assert python(environment, "import old; print(old.V)", folder.parent).output == "1\n"


@pytest.mark.real
def test_pytest_never_replaces_a_target_that_it_depends_on_itself(folder):
    """Pygments 2.6.1: a new pytest wants a newer one."""
    text = MODERN.replace(b'name = "new"\nversion = "1"', b'name = "iniconfig"\nversion = "0.1"')
    text = text.replace(b'dependencies = ["iniconfig"]', b"")
    (folder / "pyproject.toml").write_bytes(text)
    (folder / "new.py").write_text("")

    environment = made(folder, {"pyproject.toml": text}, language="python", verify=("pytest",))

    assert isinstance(environment, Environment), environment
    code = "from importlib.metadata import version; print(version('iniconfig'))"
    assert python(environment, code, folder.parent).output == "0.1\n"


@pytest.mark.real
def test_a_dependency_that_does_not_exist_is_set_up_failed(folder):
    """V11."""
    text = MODERN.replace(b'"iniconfig"', b'"iniconfig==999.999"')
    (folder / "pyproject.toml").write_bytes(text)
    (folder / "new.py").write_text("")

    failed = made(folder, {"pyproject.toml": text}, language="python")

    assert isinstance(failed, SetupFailed)
    assert "999.999" in failed.tail


@pytest.mark.real
def test_set_up_commands_find_the_pip_of_the_new_environment(folder):
    environment = made(folder, language="python", setup=("pip --version > seen.txt",))

    assert isinstance(environment, Environment), environment
    assert environment.path + os.sep in (folder / "seen.txt").read_text()


@pytest.mark.real
@pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}")
def test_in_the_sandbox_the_package_index_is_reached_and_offline_what_was_kept_is_used(folder):
    """The cache is one of ours for the target, so that the first of the three finds nothing in it."""

    def tried(text, *, offline):
        (folder / "pyproject.toml").write_bytes(text)
        (folder / "new.py").write_text("")
        held = Sandbox(backend="bubblewrap", offline=offline)
        return made(folder, {"pyproject.toml": text}, held=held, language="python")

    cold = tried(MODERN, offline=True)
    online = tried(MODERN, offline=False)
    warm = tried(MODERN + b"# the same, by another digest\n", offline=True)

    assert isinstance(cold, SetupFailed)
    assert "offline" in cold.tail or "network" in cold.tail
    assert isinstance(online, Environment), online
    assert isinstance(warm, Environment), warm
