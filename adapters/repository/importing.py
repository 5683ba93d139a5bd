"""Which files of the repository a failing test imports, for the suspects."""

from collections.abc import Iterable

from adapters.repository.workspaces import read_files, tracked
from domain.gate import Failure
from domain.suspects import imported_paths
from domain.target import Workspace

MOST_TESTS = 50


def imports_of(
    workspace: Workspace, commit: str, failures: Iterable[Failure]
) -> dict[str, frozenset[str]]:
    """By failing test, the paths that its file imports in `commit`. Python only."""
    failures = tuple(failures)
    if not failures:
        return {}
    names = tracked(workspace, commit)
    files = {failure.test: path for failure in failures if (path := _file_of(failure.test, names))}
    chosen = sorted(set(files.values()))[:MOST_TESTS]
    if not chosen:
        return {}
    modules = _modules(names)
    contents = read_files(workspace, commit, chosen)
    found = {
        path: imported_paths(text.decode("utf-8", "replace"), modules, _package(path))
        for path, text in contents.items()
    }
    return {test: found[path] for test, path in files.items() if path in found}


def _file_of(test: str, names: dict[str, str]) -> str | None:
    """The file of a test id: `tests/test_a.py::name`, or JUnit's `tests.test_a.TestB::name`."""
    place = test.split("::", 1)[0]
    if place in names:
        return place
    parts = place.split(".")
    for length in range(len(parts), 0, -1):
        path = "/".join(parts[:length]) + ".py"
        if path in names:
            return path
    return None


def _modules(names: Iterable[str]) -> dict[str, str]:
    """Path by dotted name, as seen from the root and from a `src` or `lib` folder."""
    found: dict[str, str] = {}
    for path in names:
        if not path.endswith(".py"):
            continue
        dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found[dotted] = path
        for folder in ("src.", "lib."):
            if dotted.startswith(folder):
                found[dotted.removeprefix(folder)] = path
    return found


def _package(path: str) -> str:
    return path.rpartition("/")[0].replace("/", ".")
