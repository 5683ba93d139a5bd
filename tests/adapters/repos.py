"""Targets made by plain git, and the steps of a campaign on them without a flow, an executor or a gate."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from git import Git

from adapters.boxing import boxed
from adapters.repository import lock, workspaces
from adapters.repository.chains import read_chain
from adapters.repository.crossing import cross, cross_theirs
from adapters.repository.git import git
from adapters.repository.opening import open_target
from adapters.repository.recovery import Found, recover
from adapters.repository.settling import Settled, Signature, settle
from adapters.repository.workspaces import (
    agent,
    agent_folder,
    gate_folder,
    move_agent,
    store,
    tracked,
)
from adapters.repository.writing import Draft, write_commits
from domain.batch import Outcome
from domain.blame import Blame
from domain.commit import Chain, Commit
from domain.gate import Failure
from domain.state import State
from domain.target import Target

Files = Mapping[str, str | bytes | None]
"""Contents by path; None for a path that is to go."""

HOSTILE = tuple(
    os.fsdecode(name)
    for name in (
        b"a space.py", b"new\nline.py", b'quo"te.py', b"apos'trophe.py", b"-leading.py", b"--output=x", b"not utf8 \xff.py",
        b":(exclude)a", b"*", b"[a-z]?.py", b"\xe2\x80\xaereversed.py", b"n" * 255, b"back\\slash.py", b"tab\t.py",
        b"$(id).py", b"#hash.py", b"!bang.py", b"~tilde", b"d/e/caf\xc3\xa9.py",
    )
)  # fmt: skip
"""Nineteen file names (cases.md, F9)."""


class Repo:
    """A repository, worked on by plain git as its owner would."""

    def __init__(self, folder: Path, *options: str, init: bool = True) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if init:
            self.git("init", "-q", "-b", "main", *options)

    def raw(self, *words: str, env: Mapping[str, str] | None = None) -> bytes:
        done = Git(str(self.folder)).execute(
            ["git", *words],
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            env=env,
        )
        assert isinstance(done, bytes)
        return done

    def git(self, *words: str) -> str:
        return os.fsdecode(self.raw(*words)).removesuffix("\n")

    def write(self, files: Files) -> "Repo":
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def commit(self, files: Files, message: str = "change") -> str:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    @property
    def refs(self) -> dict[str, str]:
        rows = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(row.split() for row in rows)

    def tree(self, commit: str) -> dict[str, tuple[str, bytes]]:
        """Mode and content by path."""
        rows = [
            row.partition(b"\t")
            for row in self.raw("ls-tree", "-r", "-z", commit).split(b"\0")
            if row
        ]
        found: dict[str, tuple[str, bytes]] = {}
        for head, _, path in rows:
            mode, kind, blob = head.decode().split()
            found[os.fsdecode(path)] = (
                mode,
                self.raw("cat-file", "blob", blob) if kind == "blob" else b"",
            )
        return found

    def changed(self, commit: str) -> set[str]:
        """Paths that a commit touches."""
        listed = self.raw(
            "diff-tree", "-r", "-z", "--no-commit-id", "--name-only", "--root", commit
        )
        return {os.fsdecode(path) for path in listed.split(b"\0") if path}

    def snapshot(self) -> dict[str, tuple[bytes, int, int]]:
        """Bytes, mode and times of all files but git's objects and refs of ours."""
        found: dict[str, tuple[bytes, int, int]] = {}
        for above, _, names in os.walk(self.folder):
            for name in names:
                path = Path(above, name)
                short = str(path.relative_to(self.folder))
                if path.is_symlink() or "objects/" in short or "swathe" in short:
                    continue
                at = path.stat()
                found[short] = (path.read_bytes(), at.st_mode, at.st_mtime_ns)
        return found

    def plant(self, git_dir: Path, canary: Path) -> None:
        """Everything in a `.git` that makes git start a program, each leaving its name in `canary`."""
        canary.mkdir(exist_ok=True)

        def program(name: str) -> str:
            path = canary / f"{name}.sh"
            path.write_text(f"#!/bin/sh\ntouch {canary}/{name}.fired\ncat\n")
            path.chmod(0o755)
            return str(path)

        hooks = canary / "hooks"
        for folder in (git_dir / "hooks", hooks):
            folder.mkdir(exist_ok=True)
            for hook in (
                "pre-commit", "post-commit", "prepare-commit-msg", "commit-msg", "post-checkout", "reference-transaction",
                "post-index-change", "post-rewrite", "pre-auto-gc", "post-merge", "fsmonitor-watchman", "update",
                "pre-receive", "post-receive",
            ):  # fmt: skip
                shutil.copy(program(f"hook-{hook}"), folder / hook)
        config = {
            "core.hooksPath": str(hooks), "core.fsmonitor": program("fsmonitor"), "core.pager": program("pager"),
            "core.editor": program("editor"), "core.sshCommand": program("ssh"), "core.askPass": program("askpass"),
            "core.alternateRefsCommand": program("alternates"), "core.gitProxy": program("proxy"),
            "diff.external": program("external"), "diff.x.textconv": program("textconv"), "diff.x.command": program("command"),
            "merge.x.driver": program("merge"), "filter.x.clean": program("clean"), "filter.x.smudge": program("smudge"),
            "filter.x.process": program("process"), "filter.x.required": "true", "gpg.program": program("gpg"),
            "commit.gpgSign": "true", "log.showSignature": "true", "credential.helper": program("credential"),
            "protocol.ext.allow": "always", "remote.o.url": f"ext::{program('ext')}", "remote.o.promisor": "true",
            "uploadpack.packObjectsHook": program("packhook"), "gc.auto": "1", "interactive.diffFilter": program("filter"),
        }  # fmt: skip
        for name, value in config.items():
            self.git("config", "--file", str(git_dir / "config"), name, value)
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* filter=x diff=x merge=x\n")


def fired(canary: Path) -> list[str]:
    return sorted(path.stem for path in canary.glob("*.fired"))


def on_disk(folder: Path) -> dict[str, bytes]:
    """Everything in a checkout but its own `.git`: contents by path; links as where they point, folders if empty."""
    found: dict[str, bytes] = {}
    for above, folders, files in os.walk(folder):
        if Path(above) == folder:
            folders.remove(".git") if ".git" in folders else None
        for name in (*files, *(name for name in folders if Path(above, name).is_symlink())):
            path = Path(above, name)
            found[str(path.relative_to(folder))] = (
                os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            )
        if not folders and not files:
            found[f"{Path(above).relative_to(folder)}/"] = b""
    return found


class Campaign:
    """One run on a target, step by step."""

    def __init__(
        self, repo: str | Path, axis: str = "ruff-up", run: str = "r1", **target: object
    ) -> None:
        self.repo = Repo(Path(repo), init=False) if Path(repo).is_dir() else None
        asked = Target.model_validate({"repo": str(repo), "sandbox": "off", **target})
        self.workspace = boxed(open_target(asked, axis, run))
        assert lock.take(Path(self.workspace.home) / "lock", run) is None
        workspaces.prepare(self.workspace)
        self.number = 0

    @property
    def agent(self) -> Path:
        return agent_folder(self.workspace)

    @property
    def gate(self) -> Path:
        return gate_folder(self.workspace)

    def end(self) -> None:
        lock.release(Path(self.workspace.home) / "lock")

    def recover(self) -> Found:
        return recover(self.workspace, "ruff:UP")

    def chain(
        self,
        *edits: Files,
        base: str = "",
        message: str = "Fix UP006 in a.py:1",
        at: int = 1_700_000_000,
    ) -> Chain:
        """What a pass of ours makes: a commit for each of `edits`, across from the agent's checkout."""
        base = base or self.workspace.base
        move_agent(self.workspace, base)
        modes = tracked(self.workspace, base)
        drafts = [
            Draft(
                message,
                {
                    path: ("000000", "") if content is None else _bytes(content)
                    for path, content in edit.items()
                },
                None if number else base,
                modes=modes,
            )
            for number, edit in enumerate(edits)
        ]
        shas = write_commits(agent(self.workspace), drafts, at)
        if shas:
            git(agent(self.workspace), "update-ref", "--no-deref", "HEAD", shas[-1])
        head = shas[-1] if shas else base
        return self._read(base, cross(self.workspace, base, head), at)

    def theirs(self, *scripts: Sequence[str], base: str = "") -> Chain:
        """What an agent makes that commits by itself, with plain git in the `.git` it was given."""
        base = base or self.workspace.base
        move_agent(self.workspace, base)
        for words in scripts:
            Repo(self.agent, init=False).git(*words)
        return self.crossed(base)

    def crossed(self, base: str = "") -> Chain:
        """What lies in the agent's checkout, made there by whoever worked in it."""
        base = base or self.workspace.base
        return self._read(base, cross_theirs(self.workspace, base), 1_700_000_000)

    def _read(self, base: str, head: str, at: int) -> Chain:
        self.number += 1
        commits = tuple(
            commit.model_copy(
                update={"sites": (f"{commit.sha[:8]}",), "place": f"{(*commit.paths, '')[0]}:1"}
            )
            for commit in read_chain(store(self.workspace), base, head)
        )
        return Chain(number=self.number, base=base, commits=commits, at=at)

    def settle(
        self,
        chain: Chain,
        good: Sequence[Commit],
        bad: Sequence[Commit] = (),
        refused: Mapping[str, str] | None = None,
    ) -> Settled:
        failure = Failure(test="tests/test_a.py::test_a", message="boom")
        outcome = Outcome(
            good=tuple(commit.sha for commit in good),
            bad=tuple(Blame(commit=commit.sha, failures=(failure,)) for commit in bad),
            refused=dict(refused or {}),
        )
        before = State(axis="ruff:UP", base=self.workspace.base)
        return settle(
            self.workspace, chain, outcome, Signature(axis="ruff:UP", executor="codemod"), before
        )

    def land(self, *edits: Files, base: str = "", message: str = "Fix UP006 in a.py:1") -> Settled:
        chain = self.chain(*edits, base=base, message=message)
        return self.settle(chain, chain.commits)


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
