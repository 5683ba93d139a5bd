"""Laying git directories by hand: a few small files, no template, nothing that could run."""

import os
import shutil
from pathlib import Path

from adapters.erasing import erase
from adapters.failpoints import reach
from adapters.repository.writing import quoted
from adapters.whole import write_whole

SHA256 = 64
"""Digits of an object id in a repository of that format."""


def lay(git_dir: Path, borrowed: Path, base: str, *, bare: bool) -> None:
    """Make a git directory that borrows objects, or mend it. `base` tells the format of object ids."""
    (git_dir / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (git_dir / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "config").write_text(_config(base, bare=bare))
    reach("git-dir-begun")
    if not (git_dir / "HEAD").exists():
        write_whole(git_dir / "HEAD", "ref: refs/heads/unborn\n")
    name = os.fsencode(borrowed)
    (git_dir / "objects" / "info" / "alternates").write_bytes(
        (quoted(os.fsdecode(name)) if b"\n" in name else name) + b"\n"
    )


def _config(base: str, *, bare: bool) -> str:
    core = f"[core]\n\trepositoryformatversion = {int(len(base) == SHA256)}\n\tbare = {str(bare).lower()}\n"
    return core + ("[extensions]\n\tobjectformat = sha256\n" if len(base) == SHA256 else "")


def lay_for_others(git_dir: Path, borrowed: Path, commit: str, index: Path) -> None:
    """A new `.git` for a folder that others write to. What was there is gone, links and all."""
    erase(git_dir)
    lay(git_dir, borrowed, commit, bare=False)
    (git_dir / "HEAD").write_text(f"{commit}\n")
    shutil.copyfile(index, git_dir / "index")


def reclaim(git_dir: Path, borrowed: Path, base: str, attributes: str) -> None:
    """Make a `.git` that others wrote to safe to read: only their refs and objects are left."""
    for name in (
        "config",
        "config.worktree",
        "commondir",
        "gitdir",
        "shallow",
        "info",
        "hooks",
        "index",
    ):
        erase(git_dir / name)
    erase(git_dir / "objects" / "info")
    lay(git_dir, borrowed, base, bare=False)
    (git_dir / "info" / "attributes").write_text(attributes)


def copy_shallow(source: Path, git_dir: Path) -> None:
    """Where the history ends in a shallow clone, it ends in what borrows from it."""
    if (source / "shallow").exists():
        shutil.copyfile(source / "shallow", git_dir / "shallow")
    else:
        (git_dir / "shallow").unlink(missing_ok=True)
