"""Opening a target: where it is, what it stands on, and every reason not to start."""

import os
from pathlib import Path

from adapters.home import swathe_home
from adapters.repository.discovery import discover
from adapters.repository.git import Place, ask, git, object_id
from adapters.repository.mirrors import mirror
from adapters.repository.workspaces import folder_of
from domain.target import Target, Workspace, is_url
from domain.value import Refused


def absolute(repo: str) -> str:
    """The repository with its whole path; a URL as it is."""
    return repo if is_url(repo) else str(Path(repo).expanduser().absolute())


def open_target(target: Target, axis: str, run: str, *, offline: bool = False) -> Workspace:
    """Find the repository and its base. Nothing is written but our own mirror of a URL."""
    if is_url(target.repo):
        common = mirror(target.repo, offline=offline)
        base = _resolve(Place(git_dir=common), target, ("refs/remotes/origin/",))
    else:
        _, common, top = discover(Path(target.repo).expanduser())
        _refuse_bare(target.repo, common, top)
        base = _resolve(_here(target.repo, common), target, ("",))
        _refuse_partial(target.repo, common, base)
    return Workspace(
        target=target,
        axis=axis,
        run=run,
        git_dir=str(common),
        home=str(folder_of(common)),
        base=base,
    )


def _refuse_bare(repo: str, common: Path, top: Path | None) -> None:
    if top is None:
        raise Refused(
            f"{repo!r} is a bare repository. Give a clone with a work tree, or the URL "
            f"file://{common} (Swathe then works on a mirror of its own)."
        )
    home = swathe_home().resolve()
    if home == top.resolve() or top.resolve() in home.parents:
        raise Refused(
            f"$SWATHE_HOME ({home}) lies inside {top}. Working files never lie in the target: set it elsewhere."
        )


def _refuse_partial(repo: str, common: Path, base: str) -> None:
    """A clone made with `--filter` lacks objects, and ours that borrow from it cannot ask for them."""
    place = Place(git_dir=common)
    status, _, _ = ask(place, "config", "--get-regexp", r"^remote\..*\.promisor$")
    if status:
        return
    listed = git(place, "rev-list", "--objects", "--missing=print", "--no-walk", base)
    count = sum(row.startswith(b"?") for row in listed.splitlines())
    if count:
        raise Refused(
            f"{repo!r} is a partial clone, and {count} objects of the base {base[:12]} are not there. "
            f"Check it out whole once, or give a clone made without --filter."
        )


def _here(repo: str, common: Path) -> Place:
    """The repository as seen from where the operator stands, so that HEAD is their HEAD."""
    git_dir, _, _ = discover(Path(repo).expanduser())
    return Place(git_dir=git_dir, extra={"GIT_COMMON_DIR": str(common)})


def _resolve(place: Place, target: Target, prefixes: tuple[str, ...]) -> str:
    for prefix in (*prefixes, ""):
        found = object_id(place, prefix + target.base)
        if found:
            return found
    status, out, _ = ask(place, "for-each-ref", "--count=1")
    if status == 0 and not out.strip() and target.base == "HEAD":
        raise Refused(f"{target.repo!r} has no commit yet. Commit something, then run again.")
    names = git(
        place,
        "for-each-ref",
        "--format=%(refname:short)",
        "--count=8",
        "refs/heads",
        "refs/remotes",
    )
    known = ", ".join(names.decode(errors="replace").split())
    raise Refused(
        f"no commit {target.base!r} in {target.repo!r}. Branches: {known or 'none'}. Give --base."
    )


def touched_by_branch(workspace: Workspace) -> frozenset[str] | None:
    """Paths that changed between the merge base with `--branch` and the base; None without one."""
    name = workspace.target.branch
    if name is None:
        return None
    place = Place(git_dir=Path(workspace.git_dir))
    other = object_id(place, name) or object_id(place, f"refs/remotes/origin/{name}")
    if other is None:
        raise Refused(f"no branch {name!r} to compare with (--branch). Give one that exists.")
    status, out, _ = ask(place, "merge-base", other, workspace.base)
    if status:
        raise Refused(
            f"{name!r} and the base {workspace.base[:12]} have no common history (--branch)."
        )
    listed = git(
        place, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=AMT",
        out.decode().strip(), workspace.base,
    )  # fmt: skip
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)


def uncommitted(workspace: Workspace) -> int:
    """How many files of the operator's work tree differ from their HEAD; they are not seen by a run."""
    if is_url(workspace.target.repo):
        return 0
    git_dir, common, top = discover(Path(workspace.target.repo).expanduser())
    place = Place(git_dir=git_dir, work_tree=top, extra={"GIT_COMMON_DIR": str(common)})
    quiet = Place(git_dir=git_dir, work_tree=top, extra={**place.extra, **_without_filters(place)})
    status, out, _ = ask(quiet, "status", "--porcelain", "-z", "--no-renames")
    return sum(1 for item in out.split(b"\0") if item) if status == 0 else 0


def _without_filters(place: Place) -> dict[str, str]:
    """Every configured filter driver switched off: `git status` would run its clean command.

    In the environment, since a driver's name may have a `=` in it.
    """
    _, out, _ = ask(
        place,
        "config",
        "-z",
        "--name-only",
        "--get-regexp",
        r"^filter\..*\.(clean|process|required)$",
    )
    names = sorted({os.fsdecode(name) for name in out.split(b"\0") if name})
    settings = {"GIT_CONFIG_COUNT": str(len(names))}
    for number, name in enumerate(names):
        settings[f"GIT_CONFIG_KEY_{number}"] = name
        settings[f"GIT_CONFIG_VALUE_{number}"] = "false" if name.endswith(".required") else ""
    return settings
