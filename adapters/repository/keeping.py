"""What a set-up left in the gate's checkout (an egg-info, a compiled extension), as it left it, before every run.

A gate may write to these files: `make test` builds on the objects of `make`. What it does to them must not reach
the next verdict. So each has a copy out of every gate's reach, and is put back when its stamp is another one;
the time of a change of the inode, which is part of it, nobody sets who has no right to set the clock.
"""

import json
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from adapters.erasing import erase
from adapters.repository.workspaces import gate_folder
from adapters.whole import write_whole
from domain.target import Workspace

Stamp = tuple[int, int, int, int, int]


def save(workspace: Workspace, paths: Iterable[str]) -> None:
    """Copy what the set-up left, unless it is what was copied before."""
    folder, copies = gate_folder(workspace), _copies(workspace)
    stamps = {path: stamp for path in paths if (stamp := _stamp(folder / path)) is not None}
    if stamps == _stamps(workspace):
        return
    _list(workspace).unlink(missing_ok=True)
    erase(copies)
    for path in stamps:
        _copy(folder / path, copies / path)
    _write(workspace, stamps)


def restore(workspace: Workspace, paths: Iterable[str]) -> None:
    """Put back those of `paths` that are not as they were left. Folders that became links have been swept."""
    folder, copies, stamps = gate_folder(workspace), _copies(workspace), _stamps(workspace)
    changed = [path for path in paths if path in stamps and _stamp(folder / path) != stamps[path]]
    for path in changed:
        erase(folder / path)
        _copy(copies / path, folder / path)
        stamps[path] = _stamp(folder / path) or stamps[path]
    if changed:
        _write(workspace, stamps)


def _copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, to, follow_symlinks=False)


def _stamp(path: Path) -> Stamp | None:
    """None for what is not there, and for what is neither a file nor a link."""
    try:
        seen = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not (stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode)):
        return None
    return seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _copies(workspace: Workspace) -> Path:
    return Path(workspace.home) / "kept"


def _list(workspace: Workspace) -> Path:
    """Written last: without it there are no copies."""
    return Path(workspace.home) / "kept.json"


def _stamps(workspace: Workspace) -> dict[str, Stamp]:
    try:
        found: dict[str, list[int]] = json.loads(_list(workspace).read_text())
    except FileNotFoundError:
        return {}
    return {path: (one[0], one[1], one[2], one[3], one[4]) for path, one in found.items()}


def _write(workspace: Workspace, stamps: dict[str, Stamp]) -> None:
    write_whole(_list(workspace), json.dumps(stamps))
