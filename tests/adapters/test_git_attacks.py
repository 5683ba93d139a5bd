"""The 25 attacks on whoever runs git in a repository of somebody else (facts/security.md §2.2), G1 to G25.

Each trap is shown to be live first: plain git springs it, or is fooled by it. Then a run's own path goes over it:
look, move, read what an agent committed, admit, land, recover. It stays silent, and the honest commit lands.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote

import pytest
from git import GitCommandError
from repos import Campaign, Repo, on_disk

from adapters.processes import shell
from adapters.repository.chunks import plan_of
from adapters.repository.crossing import Broken
from adapters.repository.git import Place, ask, git, object_id
from adapters.repository.hardened import ENVIRONMENT
from adapters.repository.mirrors import mirror
from adapters.repository.opening import open_target, uncommitted
from adapters.repository.settling import Settled
from adapters.repository.workspaces import agent, move_agent, move_gate, store
from domain.admission import Rules, admit
from domain.axis import Commands, Sentence, parse_axis, slug
from domain.chunk import Settings
from domain.commit import Chain
from domain.target import Target
from domain.value import Refused

BRANCH = "refs/heads/swathe/ruff-up"
HONEST: Mapping[str, str] = {"a.py": "2\n"}


class Trap:
    """A program that tells when it was started, and plain git to start it with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def program(self, name: str = "trap", then: str = "exit 1") -> str:
        path = self.folder / f"{name}.sh"
        path.write_text(f"#!/bin/sh\ntouch {quote(str(self.folder))}/{name}.fired\n{then}\n")
        path.chmod(0o755)
        return str(path)

    @property
    def fired(self) -> set[str]:
        return {path.stem for path in self.folder.glob("*.fired")}

    def springs(self, repo: Repo, *words: str) -> set[str]:
        """What plain git starts there. The trap is set again afterwards."""
        with suppress(GitCommandError):
            repo.git(*words)
        fired = self.fired
        for path in self.folder.glob("*.fired"):
            path.unlink()
        return fired


@pytest.fixture(name="trap")
def _trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "trap")


@pytest.fixture(name="scratch")
def _scratch(tmp_path: Path) -> Repo:
    """Where plain git may fall into the trap."""
    repo = Repo(tmp_path / "scratch")
    repo.commit({"a.py": "1\n"})
    return repo


Plant = Callable[[Repo], object]


def carry(campaign: Campaign, plant: Plant) -> Settled:
    """All that a run does with git, with `plant` done to the target and to both checkouts in between."""
    assert campaign.repo
    workspace, base = campaign.workspace, campaign.workspace.base
    move_agent(workspace, base)
    move_gate(workspace, base)
    agents, gates = Repo(campaign.agent, init=False), Repo(campaign.gate, init=False)
    agents.commit(HONEST)
    for repo in (campaign.repo, agents, gates):
        plant(repo)

    uncommitted(workspace)
    assert plan_of(str(campaign.repo.folder), Settings(), base).where.commit == base
    chain = campaign.crossed()
    assert admit(chain.commits, Rules()) == (tuple(one.sha for one in chain.commits), {})
    settled = campaign.settle(chain, chain.commits)
    move_gate(workspace, settled.tip)
    move_agent(workspace, settled.tip)
    campaign.recover()
    uncommitted(workspace)
    assert len(settled.landed) == 1
    assert campaign.repo.tree(settled.tip)["a.py"][1] == b"2\n"
    return settled


def set_in(name: str = "config", **settings: str) -> Plant:
    """Settings, written into a file of the `.git`; `__` stands for the dot in their names."""

    def plant(repo: Repo) -> None:
        for key, value in settings.items():
            file = str(repo.folder / ".git" / name)
            repo.git("config", "--file", file, key.replace("__", "."), value)

    return plant


def hooks(trap: Trap, *names: str) -> Plant:
    def plant(repo: Repo) -> None:
        for name in names:
            (repo.folder / ".git/hooks").mkdir(exist_ok=True)
            shutil.copy(trap.program(name, "exit 0"), repo.folder / ".git/hooks" / name)

    return plant


def judged(chain: Chain, *opened: str) -> dict[str, str]:
    """Why each commit is refused, by its subject; those that are admitted are not there."""
    rules = Rules.model_validate({"opened": frozenset(opened)})
    _, refused = admit(chain.commits, rules)
    return {chain.commit(sha).subject: reason for sha, reason in refused.items()}


def test_g1_hooks_in_the_git_directory(trap, scratch, campaign):
    plant = hooks(trap, "pre-commit", "post-commit")
    plant(scratch)
    assert trap.springs(scratch, "commit", "-q", "--allow-empty", "-m", "x") == {
        "pre-commit",
        "post-commit",
    }

    carry(campaign, plant)

    assert trap.fired == set()


def test_g2_a_hooks_path_of_the_operator_and_hooks_of_the_agent(trap, scratch, campaign, tmp_path):
    settings = tmp_path / "operators config"
    settings.write_text("[core]\n\thooksPath = .husky\n")

    def plant(repo: Repo) -> None:
        (repo.folder / ".husky").mkdir(exist_ok=True)
        shutil.copy(trap.program("pre-commit", "exit 0"), repo.folder / ".husky" / "pre-commit")
        os.environ["GIT_CONFIG_GLOBAL"] = str(settings)

    plant(scratch)
    assert trap.springs(scratch, "commit", "-q", "--allow-empty", "-m", "x") == {"pre-commit"}
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull

    carry(campaign, plant)

    assert trap.fired == set()


def test_g3_a_file_system_monitor(trap, scratch, campaign):
    plant = set_in(core__fsmonitor=trap.program())
    plant(scratch)
    assert trap.springs(scratch, "status") == {"trap"}

    carry(campaign, plant)

    assert trap.fired == set()


def test_g4_a_git_file_that_names_a_repository_with_its_own_settings(trap, target, campaign):
    other = Repo(trap.folder / "other")
    other.commit({"a.py": "other\n"})
    set_in(core__fsmonitor=trap.program())(other)
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    shutil.rmtree(agents.folder / ".git")
    (agents.folder / ".git").write_text(f"gitdir: {other.folder}/.git\n")
    assert trap.springs(agents, "status") == {"trap"}

    with pytest.raises(Broken, match="removed or replaced"):
        campaign.crossed()
    assert git(agent(campaign.workspace), "status", "--porcelain") == b""
    settled = carry(campaign, lambda repo: None)

    assert trap.fired == set()
    assert other.head not in {settled.tip, target.head}


def test_g5_a_repository_inside_the_repository(trap, target, campaign):
    def nest(repo: Repo) -> Repo:
        inner = Repo(repo.folder / "sub")
        inner.commit({"x": "1"})
        set_in(core__fsmonitor=trap.program())(inner)
        return inner

    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    nest(agents)
    agents.commit({}, "nested")
    assert trap.springs(agents, "status") == {"trap"}
    (agents.folder / "sub2").mkdir()
    agents.commit({"sub2/x.py": "honest\n"}, "a plain folder")
    nest(target)
    for path in trap.folder.glob("*.fired"):
        path.unlink()

    assert uncommitted(campaign.workspace) == 1
    assert judged(campaign.crossed()) == {"nested": "gitlink: sub"}
    move_agent(campaign.workspace, target.head)
    carry(campaign, lambda repo: repo is not campaign.repo and nest(repo))

    assert trap.fired == set()


def test_g6_a_removed_git_directory_inside_a_repository(target, tmp_path, open_campaign):
    """The operator's home is a repository, and our folder lies in it."""
    outer = Repo(tmp_path / "home")
    outer.commit({"notes": "1\n"})
    os.environ["SWATHE_HOME"] = str(outer.folder / "swathe")
    campaign = open_campaign(target)
    move_agent(campaign.workspace, target.head)
    shutil.rmtree(campaign.agent / ".git")
    before = outer.head
    Repo(campaign.agent, init=False).git("commit", "-q", "--allow-empty", "-m", "x")
    assert outer.head != before

    before = outer.head
    with pytest.raises(Broken, match="removed or replaced"):
        campaign.crossed()
    carry(
        campaign, lambda repo: repo.folder != campaign.gate or shutil.rmtree(repo.folder / ".git")
    )

    assert (outer.head, list(outer.refs)) == (before, ["refs/heads/main"])
    with pytest.raises(Refused, match="lies inside"):
        open_target(Target(repo=str(outer.folder)), "ruff-up", "r1")


def test_g7_a_filter_of_the_repository(trap, scratch, target, open_campaign):
    attributes = {".gitattributes": "*.x filter=x\n", "s.x": "1\n"}
    plant = set_in(
        filter__x__clean=trap.program("clean", "cat"),
        filter__x__smudge=trap.program("smudge", "cat"),
        filter__x__required="true",
    )
    for repo in (scratch, target):
        repo.commit(attributes)
    plant(scratch)
    scratch.write({"s.x": "2\n"})
    assert trap.springs(scratch, "add", "s.x") == {"clean"}
    (scratch.folder / "s.x").unlink()
    assert trap.springs(scratch, "checkout", "--", "s.x") == {"smudge"}
    campaign = open_campaign(target)
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    agents.commit({"s.x": "never unfiltered\n"}, "filtered")
    agents.commit(HONEST, "honest")
    assert judged(campaign.crossed()) == {"filtered": "git filter x: s.x"}

    def touch(repo: Repo) -> None:
        plant(repo)
        os.utime(repo.folder / "s.x", (1, 1))

    carry(campaign, touch)

    assert trap.fired == set()


@pytest.mark.parametrize(
    "setting", ["diff__x__textconv", "diff__x__command"], ids=["G8 textconv", "G9 command"]
)
def test_g8_and_g9_a_diff_driver(trap, scratch, target, open_campaign, setting):
    plant = set_in(**{setting: trap.program()})
    for repo in (scratch, target):
        repo.commit({".gitattributes": "*.py diff=x\n"})
    plant(scratch)
    scratch.write({"a.py": "changed\n"})
    assert trap.springs(scratch, "diff") == {"trap"}
    campaign = open_campaign(target)

    carry(campaign, plant)

    assert trap.fired == set()


def test_g10_a_second_configuration_of_the_worktree(trap, scratch, campaign):
    def plant(repo: Repo) -> None:
        set_in(core__repositoryFormatVersion="1", extensions__worktreeConfig="true")(repo)
        set_in("config.worktree", core__fsmonitor=trap.program())(repo)

    plant(scratch)
    assert trap.springs(scratch, "status") == {"trap"}

    carry(campaign, plant)

    assert trap.fired == set()


def test_g11_a_program_that_signs(trap, scratch, campaign):
    plant = set_in(commit__gpgSign="true", gpg__program=trap.program())
    plant(scratch)
    assert trap.springs(scratch, "commit", "-q", "--allow-empty", "-m", "x") == {"trap"}

    carry(campaign, plant)

    assert trap.fired == set()


def test_g12_hooks_that_no_verify_does_not_skip(trap, scratch, campaign, tmp_path):
    names = ("reference-transaction", "prepare-commit-msg", "post-index-change", "post-checkout")
    plant = hooks(trap, *names)
    plant(scratch)
    scratch.write({"a.py": "changed\n"})
    sprung = trap.springs(scratch, "commit", "-q", "--no-verify", "-a", "-m", "x")
    sprung |= trap.springs(scratch, "worktree", "add", "-q", str(tmp_path / "worktree"))
    assert sprung == set(names)

    carry(campaign, plant)

    assert trap.fired == set()


def test_g13_an_option_in_the_place_of_a_revision_or_a_path(trap, scratch, target, tmp_path):
    written, program = tmp_path / "written", trap.program()
    scratch.git("log", f"--output={written}")
    assert written.exists()
    written.unlink()
    assert trap.springs(scratch, "ls-remote", f"--upload-pack={program}", str(target.folder)) == {
        "trap"
    }
    place = Place(git_dir=target.folder / ".git")

    hostile = (
        f"--upload-pack={program}", f"--output={written}", f"--exec={program}", "-h", "--", "", "HEAD~99", "a/$(id)",
        "x\ny", "../x",
    )  # fmt: skip
    for revision in hostile:
        assert object_id(place, revision) is None
        with pytest.raises(Refused):
            open_target(Target(repo=str(target.folder), base=revision or "-"), "ruff-up", "r1")
    with pytest.raises(Refused):
        open_target(Target(repo=f"--upload-pack={program}"), "ruff-up", "r1")

    assert not written.exists()
    assert trap.fired == set()
    assert object_id(place, "main") == target.head
    assert open_target(Target(repo=str(target.folder), base="main"), "ruff-up", "r1").base


def test_g14_a_transport_that_starts_a_program(trap, scratch, target, open_campaign):
    url = f"ext::{trap.program()}"
    plant = set_in(protocol__ext__allow="always", remote__o__url=url)
    plant(scratch)
    assert trap.springs(scratch, "fetch", "o") == {"trap"}
    target.git("update-index", "--add", "--cacheinfo", f"160000,{target.head},sub")
    target.write({".gitmodules": f'[submodule "sub"]\n\tpath = sub\n\turl = {url}\n'})
    target.git("add", ".gitmodules")
    target.git("commit", "-q", "-m", "submodule")
    plant(target)
    place = Place(git_dir=target.folder / ".git", work_tree=target.folder)

    for remote in ("o", url, "ssh://example.invalid/x", f"file://{scratch.folder}"):
        status, _, err = ask(place, "fetch", "--", remote)
        assert (status, b"not allowed" in err) == (128, True)
    with pytest.raises(Refused):
        open_target(Target(repo=url), "ruff-up", "r1")
    carry(open_campaign(target), lambda repo: None)

    assert trap.fired == set()
    assert mirror(f"file://{scratch.folder}").is_dir()


def test_g15_a_bit_of_the_index_that_hides_a_weakened_test(target, campaign):
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    for bit, path in (("skip-worktree", "tests/test_a.py"), ("assume-unchanged", "pkg/b.py")):
        agents.git("update-index", f"--{bit}", path)
        agents.write({path: "weakened\n"})
    assert agents.git("status", "--porcelain") == agents.git("diff") == ""
    agents.commit(HONEST)

    assert git(agent(campaign.workspace), "status", "--porcelain").splitlines() == [
        *(b" M a.py", b" M pkg/b.py", b" M tests/test_a.py")
    ]
    chain = campaign.crossed()
    settled = campaign.settle(chain, chain.commits)
    move_gate(campaign.workspace, settled.tip)

    assert chain.commits[0].paths == ("a.py",)
    assert on_disk(campaign.gate) == {
        **{path: content for path, (_, content) in target.tree("main").items()},
        "a.py": b"2\n",
    }


def test_g16_a_file_that_git_ignores_makes_the_live_tree_green(target, open_campaign):
    target.commit({".gitignore": "ignored.py\n"})
    campaign = open_campaign(target)
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    (agents.folder / ".git/info/exclude").write_text("excluded.py\n")
    agents.write({"ignored.py": "", "excluded.py": ""})
    agents.commit({"a.py": "import ignored, excluded\n"})
    assert agents.git("status", "--porcelain") == ""

    chain = campaign.crossed()
    move_gate(campaign.workspace, chain.commits[0].sha)

    assert python("import a", campaign.agent) == 0
    assert python("import a", campaign.gate) == 1
    assert python("import pkg.b", campaign.gate) == 0


def python(code: str, folder: Path) -> int | None:
    env = {"PATH": os.environ["PATH"]}
    command = ["python3", "-B", "-c", code]
    return shell.run(command, cwd=folder, env=env, timeout_seconds=60, contain=False).exit_code


ATTRIBUTES = "*.crlf text eol=crlf\n*.ident ident\n*.utf16 working-tree-encoding=UTF-16LE\n"


def test_g17_attributes_that_commit_other_bytes_than_were_tested(scratch, target, open_campaign):
    tested = {"x.ident": b"$Id: deadbeef$\n", "x.utf16": "a\n".encode("utf-16-le")}
    scratch.commit({".gitattributes": ATTRIBUTES, **tested})
    assert scratch.tree("HEAD")["x.ident"][1] == b"$Id$\n"
    assert scratch.tree("HEAD")["x.utf16"][1] == b"a\n"
    target.commit({".gitattributes": ATTRIBUTES, "x.crlf": b"a\r\nb\r\n"})
    campaign = open_campaign(target)
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    assert on_disk(agents.folder)["x.crlf"] == b"a\nb\n"
    agents.commit(tested)

    chain = campaign.crossed()
    settled = campaign.settle(chain, chain.commits)
    move_gate(campaign.workspace, settled.tip)

    landed = {path: content for path, (_, content) in target.tree(settled.tip).items()}
    assert {path: landed[path] for path in tested} == tested
    gate = on_disk(campaign.gate)
    assert gate["x.crlf"] == b"a\r\nb\r\n"
    target.git("checkout", "-q", settled.tip)
    assert gate == on_disk(target.folder)


def test_g18_replaced_objects(target, campaign):
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)
    honest = agents.commit({"a.py": "2\n"})
    hostile = agents.commit({"a.py": "import os\n"})
    agents.git("replace", hostile, honest)
    target.git("fetch", "-q", str(agents.folder), "+refs/replace/*:refs/replace/*", "HEAD")
    for repo in (agents, target):
        assert repo.git("cat-file", "blob", f"{hostile}:a.py") == "2"

    chain = campaign.crossed()
    settled = campaign.settle(chain, chain.commits)

    assert git(Place(git_dir=target.folder / ".git"), "cat-file", "blob", f"{hostile}:a.py") == (
        b"import os\n"
    )
    assert chain.commits[1].changes[0].size == len("import os\n")
    assert git(store(campaign.workspace), "cat-file", "blob", f"{settled.tip}:a.py") == (
        b"import os\n"
    )


def test_g19_the_environment_of_the_caller(trap, scratch, target, campaign, monkeypatch):
    """Started from a hook or by CI, GIT_DIR and its like would send every call elsewhere."""
    for name, value in {
        "GIT_DIR": str(scratch.folder / ".git"),
        "GIT_INDEX_FILE": str(trap.folder / "index"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": trap.program("config"),
        "GIT_EXTERNAL_DIFF": trap.program("external"),
        "GIT_SSH_COMMAND": trap.program("ssh"),
        "SECRET": "canary",
    }.items():
        monkeypatch.setenv(name, value)
    assert target.head == scratch.head
    assert trap.springs(target, "diff", "HEAD") == {"config", "external"}
    assert trap.springs(target, "ls-remote", "ssh://example.invalid/x") == {"ssh"}
    place = Place(git_dir=target.folder / ".git", work_tree=target.folder)

    assert object_id(place, "HEAD") == campaign.workspace.base != scratch.head
    said = git(place, "-c", "alias.e=!env", "e").decode()
    names = {line.partition("=")[0] for line in said.splitlines()}
    assert "canary" not in said
    assert names <= {
        *ENVIRONMENT, "PATH", "GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX", "PWD", "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH",
        "SHLVL", "_", "OLDPWD",
    }  # fmt: skip
    assert campaign.land(HONEST).landed
    assert uncommitted(campaign.workspace) == 0

    assert trap.fired == set()
    assert not (trap.folder / "index").exists()
    monkeypatch.undo()
    assert target.changed(BRANCH) == {"a.py"}


def test_g20_a_message_with_a_nul(scratch, target, campaign, tmp_path):
    (tmp_path / "message").write_bytes(b"Fix\0 it\x07\n")
    with pytest.raises(GitCommandError, match=r"exit code\(128\)"):
        scratch.git(
            "commit", "--allow-empty", "--cleanup=verbatim", "-F", str(tmp_path / "message")
        )

    campaign.land(HONEST, message="Fix\0 it\x07")

    assert target.git("log", "-1", "--format=%s", BRANCH) == "Fix it"
    assert target.git("fsck", "--strict", "--no-dangling") == ""


def test_g21_forged_trailers_and_words_that_ci_acts_on(scratch, target, campaign):
    forged = (
        "Fix it [skip ci]\n\nCloses #1. \x1b[31mred\x1b[0m, and why: honest words.\n\n"
        "Reviewed-by: Linus <l@example.com>\nSwathe-Gate: alone\nSigned-off-by: x <x@example.com>\n"
    )
    scratch.commit({"a.py": "2\n"}, forged)
    trailers = ("log", "-1", "--format=%(trailers:only,keyonly)")
    assert scratch.git(*trailers).split() == ["Reviewed-by", "Swathe-Gate", "Signed-off-by"]
    move_agent(campaign.workspace, target.head)
    Repo(campaign.agent, init=False).commit(HONEST, forged)

    chain = campaign.crossed()
    campaign.settle(chain, [])
    campaign.settle(chain, chain.commits)

    told = target.git("log", "-1", "--format=%B", BRANCH)
    assert {name.partition("-")[0] for name in target.git(*trailers, BRANCH).split()} == {"Swathe"}
    assert target.git(*trailers, BRANCH).split().count("Swathe-Gate") == 1
    assert "> Reviewed-by: Linus" in told
    assert "and why: honest words." in told
    assert not any(word in told for word in ("[skip ci]", "Closes #1", "\x1b"))


def test_g22_names_of_branches_that_git_or_a_shell_acts_on(target):
    hostile = ("--upload-pack=x", "HEAD", "-", "camp/$(id)")
    for name in hostile:
        target.git("check-ref-format", f"refs/heads/{name}")
        with pytest.raises(Refused):
            parse_axis(name, {})

    more = ("x.lock", "../x", "a..b", "@{u}", "é" * 300, "~^:?*[\\")
    for text in (*hostile, *more):
        for axis in (Sentence(text=text), Commands(find=text, edit=text)):
            name = f"swathe/{slug(axis)}"
            assert target.git("check-ref-format", "--branch", name) == name
            assert not set(name) & set(" $()`;&|<>'\"\\*?[~^:@{}\n")
            assert ".." not in name
    assert slug(parse_axis("ruff:UP", {})) == "ruff-up"


def test_g23_a_file_named_as_a_pathspec(scratch, target, campaign):
    name = ":(exclude)a.py"
    files = {name: "x\n", "a.py": "changed\n", "other.py": "x\n", "third.py": "x\n"}
    scratch.write(files).git("add", "--", name)
    assert {"other.py", "third.py"} <= set(scratch.git("diff", "--cached", "--name-only").split())
    move_agent(campaign.workspace, target.head)
    Repo(campaign.agent, init=False).write(files)
    place = agent(campaign.workspace)

    git(place, "add", "--", name)
    assert git(place, "diff", "--cached", "--name-only", "-z") == name.encode() + b"\0"
    settled = campaign.land({name: "1\n"})

    assert [target.changed(commit.sha) for commit in settled.landed] == [{name}]


GIT_BY_ANY_NAME = (".GIT", "git~1", ".git ", ".g\u200cit")


def test_g24_a_git_directory_in_another_spelling(scratch, target, campaign):
    """What an `add` of all would stop at, or take: the pass ends typed, and the next one lands."""
    blob = scratch.git("rev-parse", "HEAD:a.py")
    taken = ("update-index", "--add", "--cacheinfo")
    scratch.git(*taken, f"100644,{blob},.g\u200cit/config")
    with pytest.raises(GitCommandError, match=r"exit code\(128\)"):
        scratch.git(*taken, f"100644,{blob},.GIT/config")

    for name in GIT_BY_ANY_NAME:
        move_agent(campaign.workspace, target.head)
        agents = Repo(campaign.agent, init=False)
        agents.git("update-ref", "--no-deref", "HEAD", holding(agents, name, target.head))
        with pytest.raises(Broken, match="index-pack"):
            campaign.crossed()

    carry(campaign, lambda repo: None)


def holding(repo: Repo, name: str, parent: str) -> str:
    """A commit whose tree holds a file of that name, made past all checks."""
    blob = repo.git("hash-object", "-w", "a.py")
    (repo.folder / "list").write_bytes(b"100644 %s\0" % name.encode() + bytes.fromhex(blob))
    tree = repo.git("hash-object", "-w", "-t", "tree", "--literally", str(repo.folder / "list"))
    return repo.git("commit-tree", tree, "-p", parent, "-m", "x")


def test_g25_links_out_submodules_and_changed_modes(target, campaign):
    move_agent(campaign.workspace, target.head)
    agents = Repo(campaign.agent, init=False)

    def commit(subject: str, path: str) -> None:
        agents.git("add", path)
        agents.git("commit", "-q", "-m", subject)

    for path, leads in (("absolute", "/etc/passwd"), ("out", "../x"), ("inside", "a.py")):
        (agents.folder / path).symlink_to(leads)
        commit(path, path)
    agents.git("update-index", "--add", "--cacheinfo", f"160000,{target.head},sub")
    agents.git("commit", "-q", "-m", "submodule")
    (agents.folder / "pkg/b.py").chmod(0o755)
    commit("mode", "pkg/b.py")
    agents.write({".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ../x\n'})
    commit("modules", ".gitmodules")
    agents.write({"new.sh": "#!/bin/sh\n"})
    (agents.folder / "new.sh").chmod(0o755)
    commit("new", "new.sh")
    assert {"absolute", "out", "sub", ".gitmodules"} <= {*agents.tree("HEAD")}

    assert judged(campaign.crossed()) == {
        "absolute": "symlink out of the tree: absolute",
        "out": "symlink out of the tree: out",
        "submodule": "gitlink: sub",
        "mode": "mode change: pkg/b.py",
        "modules": "protected config: .gitmodules",
    }
