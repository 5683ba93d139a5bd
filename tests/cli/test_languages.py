"""Repositories in other languages than Python, checked up for real: set up, run test by test, and broken on purpose."""

import os
import shutil
from pathlib import Path

import pytest
from repos import Repo

from adapters import proving
from adapters.processes import shell
from adapters.processes.environment import prepare
from adapters.processes.gate import run_gate
from cli import checkup
from domain.environment import Environment
from domain.gate import GatePlan, GateRun
from domain.judgement import baseline_of, judge
from domain.target import Target

RUST = {name: os.environ.get(name, str(Path.home() / place)) for name, place in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))}  # fmt: skip
"""Of the developer: the home of a test has no toolchain."""

NODE = {
    "package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}',
    "calc.js": "exports.add = (a, b) => a + b;\n",
    "test/calc.test.js": """
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
const { add } = require('../calc.js');
test('adds', () => assert.equal(add(2, 2), 4));
describe('more', () => {
  it('adds a < "negative"', () => assert.equal(add(-1, 1), 0));
  it('is known to fail', () => assert.equal(add(1, 1), 3));
  it('waits', { skip: true }, () => {});
});
""",
    "test/other.test.js": "require('node:test').test('adds', async (t) => t.test('inner', () => {}));\n",
}
GO = {
    "go.mod": "module example.com/calc\n\ngo 1.18\n",
    "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
    "calc_test.go": """package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(2, 2) != 4 {
		t.Fatal("two and two")
	}
}

func TestMore(t *testing.T) {
	t.Run("waits", func(t *testing.T) { t.Skip("later") })
	t.Run("known", func(t *testing.T) { t.Errorf("got %d", Add(1, 1)) })
}
""",
    "other/other.go": "package other\n",
}
CARGO = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2018"\n',
    "Cargo.lock": '# generated\nversion = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
    "src/lib.rs": """/// ```
/// assert_eq!(calc::add(1, 1), 2);
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}
#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::add(2, 2), 4);
    }
    #[test]
    #[ignore]
    fn waits() {}
    #[test]
    fn known() {
        assert_eq!(super::add(1, 1), 3, "the numbers");
    }
}
""",
    "tests/outside.rs": "#[test]\nfn outside() {\n    assert_eq!(calc::add(1, 2), 3);\n}\n",
}


def needs(tool, why):
    return pytest.mark.skipif(shutil.which(tool) is None, reason=why)


def has_rust():
    """A `cargo` on the search path may be rustup's, without a toolchain in this HOME."""
    if shutil.which("cargo") is None:
        return False
    env = {**os.environ, **RUST}
    return shell.run(
        ["cargo", "--version"], cwd=Path.cwd(), env=env, timeout_seconds=60, contain=False
    ).ok


LANGUAGES = [
    pytest.param(
        (NODE, "npm test",
        {"test/calc.test.js::adds": "passed", 'test/calc.test.js::more > adds a < "negative"': "passed",
         "test/calc.test.js::more > is known to fail": "failed", "test/calc.test.js::more > waits": "skipped",
         "test/other.test.js::adds > inner": "passed", "test/other.test.js::adds": "passed"},
        {"calc.js": "exports.add = (a, b) => a - b;\n"},
        {"test/calc.test.js::adds", 'test/calc.test.js::more > adds a < "negative"'}),
        id="node", marks=needs("npm", "needs the system package npm"),
    ),
    pytest.param(
        (GO, "go test ./...",
        {"example.com/calc::TestAdd": "passed", "example.com/calc::TestMore/waits": "skipped",
         "example.com/calc::TestMore/known": "failed", "example.com/calc::TestMore": "failed"},
        {"calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n"},
        {"example.com/calc::TestAdd"}),
        id="go", marks=needs("go", "needs the system package golang-go"),
    ),
    pytest.param(
        (CARGO, "cargo test",
        {"src/lib.rs::tests::adds": "passed", "src/lib.rs::tests::waits": "skipped", "src/lib.rs::tests::known": "failed",
         "tests/outside.rs::outside": "passed", "doc calc::src/lib.rs - add (line 1)": "passed"},
        {"src/lib.rs": CARGO["src/lib.rs"].replace("a + b", "a - b")},
        {"src/lib.rs::tests::adds", "tests/outside.rs::outside", "doc calc::src/lib.rs - add (line 1)"}),
        id="cargo", marks=pytest.mark.skipif(not has_rust(), reason="cargo is not installed, or has no toolchain"),
    ),
]  # fmt: skip


@pytest.fixture(name="repo")
def _repo(tmp_path, monkeypatch, world):
    monkeypatch.setenv("SWATHE_HOME", str(tmp_path / "swathe home"))
    for name, place in RUST.items():
        if Path(place).is_dir():
            monkeypatch.setenv(name, place)
    return Repo(tmp_path / "target")


@pytest.fixture(name="runs")
def _runs(monkeypatch):
    """Every run that the check-up makes of the gate."""
    made: list[GateRun] = []
    real = proving.run

    def run(*words, **more):
        done, kept = real(*words, **more)
        made.append(done)
        return done, kept

    monkeypatch.setattr(proving, "run", run)
    return made


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_repository_is_proved_test_by_test(repo, runs, language, tmp_path):
    files, command, tests, wrong, red = language
    repo.commit(files)

    found = checkup.doctor(Target(repo=str(repo.folder)))

    base, again, broken = runs
    assert found.well, [check for check in found.checks if not check.ok]
    assert found.gate.verify == (command,)
    assert base.tests == again.tests == tests
    assert set(found.baseline.failed) == {test for test, said in tests.items() if said == "failed"}
    assert all(base.messages[test].strip() for test in found.baseline.failed)
    assert judge(broken, baseline_of(base, again)).kind == "red"

    repo.write(wrong)
    done = run_gate(
        found.gate, Environment(digest="none"), repo.folder, tmp_path / "scratch", tmp_path / "log"
    )
    verdict = judge(done, baseline_of(base, again))

    assert {failure.test for failure in verdict.failures} == red
    assert all(failure.message for failure in verdict.failures)
    words = (tmp_path / "log").read_text()
    assert "FAIL" in words or "fail" in words
    assert '"Action"' not in words


@pytest.mark.parametrize("command", ["go test ./...", "cargo test", "npm test"])
def test_a_tool_that_is_not_there_is_named(tmp_path, monkeypatch, command):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "tee"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "project").mkdir()

    run = run_gate(
        GatePlan(verify=(command,)),
        Environment(digest="none"),
        tmp_path / "project",
        tmp_path / "scratch",
        tmp_path / "log",
    )

    assert run.status == "unavailable"
    assert run.why.startswith(f"{command.split()[0]}: not found")


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_test_there_is_no_gate(repo, language):
    files = language[0]
    kept = {
        name: text
        for name, text in files.items()
        if "test" not in name.lower() and "lib.rs" not in name
    }
    if "src/lib.rs" in files:
        kept["src/lib.rs"] = "pub fn add() {}\n"
    repo.commit({**kept, "package.json": files.get("package.json", "{}")})

    found = checkup.doctor(Target(repo=str(repo.folder)))

    assert not found.well
    assert "no test" in next(check.found for check in found.checks if not check.ok)


RUNNERS = {
    "package.json": """{"name": "calc", "version": "1.0.0", "devDependencies": {"jest": "^29", "vitest": "^2", "mocha": "^10"},
  "scripts": {"test": "jest --roots ./j", "test:vitest": "vitest run --dir v", "test:mocha": "mocha m"}}""",
    "calc.js": NODE["calc.js"],
    "j/a.test.js": """
const { add } = require('../calc');
describe('sums', () => { test('small', () => expect(add(1, 1)).toBe(2)); test('wrong', () => expect(add(1, 1)).toBe(3)); });
test.skip('waits', () => {});
""",
    "j/b.test.js": "require('./missing');\n",
    "v/a.test.js": """
import { describe, expect, test } from 'vitest';
describe('sums', () => { test('small', () => expect(1 + 1).toBe(2)); test('wrong', () => expect(1 + 1).toBe(3)); });
""",
    "m/a.js": """
const assert = require('assert');
describe('sums', () => { it('small', () => assert.equal(1 + 1, 2)); it('wrong', () => assert.equal(1 + 1, 3)); });
""",
}


@pytest.mark.real
@needs("npm", "needs the system package npm")
def test_jest_vitest_and_mocha_name_their_tests(tmp_path):
    folder = tmp_path / "a project"
    for name, text in RUNNERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    plan = GatePlan(verify=("npm test",), language="node")
    manifests = {"package.json": RUNNERS["package.json"].encode()}

    made = prepare(plan, folder, tmp_path / "envs", manifests, tmp_path / "setup.log")
    assert isinstance(made, Environment), made
    said = {}
    for command in ("npm test", "npm run test:vitest", "npm run test:mocha"):
        one = plan.model_copy(update={"verify": (command,)})
        run = run_gate(one, made, folder, tmp_path / "scratch", tmp_path / "log")
        said[command] = run.tests
        assert all(run.messages[test] for test in run.failing)

    assert said == {
        "npm test": {
            "j/a.test.js::sums > small": "passed",
            "j/a.test.js::sums > wrong": "failed",
            "j/a.test.js::waits": "skipped",
            "j/b.test.js::(collection)": "error",
        },
        "npm run test:vitest": {
            "v/a.test.js::sums > small": "passed",
            "v/a.test.js::sums > wrong": "failed",
        },
        "npm run test:mocha": {"sums::small": "passed", "sums::wrong": "failed"},
    }


DEBIAN = Path("/usr/share/maven-repo")
MAVEN = {
    "pom.xml": """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>calc</artifactId><version>1</version><properties>
<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope>
</dependency></dependencies></project>
""",
    "src/main/java/Calc.java": "class Calc { static int add(int a, int b) { return a + b; } }\n",
    "src/test/java/CalcTest.java": """
import org.junit.Test;
import static org.junit.Assert.assertEquals;

public class CalcTest {
    @Test public void adds() { assertEquals(4, Calc.add(2, 2)); }
    @Test public void known() { assertEquals(3, Calc.add(1, 1)); }
}
""",
}


@pytest.mark.real
@needs("mvn", "Maven is not installed")
@pytest.mark.skipif(not list(DEBIAN.glob("org/apache/maven/plugins/maven-surefire-plugin")), reason="Maven's plugins are not installed")  # fmt: skip
def test_maven_names_its_tests(tmp_path):
    """Without its central repository: with the plugins that Debian packages."""
    folder = tmp_path / "project"
    for name, text in MAVEN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    plan = GatePlan(verify=(f"mvn -B -o -Dmaven.repo.local={DEBIAN} test",))

    run = run_gate(plan, Environment(digest="none"), folder, tmp_path / "scratch", tmp_path / "log")

    assert run.tests == {"CalcTest::adds": "passed", "CalcTest::known": "failed"}, run.tail
    assert "expected:<3> but was:<2>" in run.messages["CalcTest::known"]
