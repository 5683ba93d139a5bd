"""Where a benchmark works: a folder of its own, with `$SWATHE_HOME` in it."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch() -> Generator[Path]:
    """A folder outside of every repository, which goes at the end."""
    made = tempfile.TemporaryDirectory(prefix="swathe-bench-", ignore_cleanup_errors=True)
    with made as folder, home(Path(folder) / "home"):
        yield Path(folder).resolve()


@contextmanager
def home(folder: Path) -> Generator[Path]:
    """Let the engine keep its working files in `folder`: a new one knows no verdict."""
    before = os.environ.get("SWATHE_HOME")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["SWATHE_HOME"] = str(folder.resolve())
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["SWATHE_HOME"]
        else:
            os.environ["SWATHE_HOME"] = before
