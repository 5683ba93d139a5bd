"""What the gate asks of every pytest that a command starts, whatever starts it: a whole report of its own."""

import os
import shlex
import shutil
from pathlib import Path

from adapters.processes import reports

PLUGIN = Path(__file__).with_name("pytest_plugin.py")
"""Never imported here: it needs pytest, which the target has and we need not have."""

ASKED = "SWATHE_PYTEST_REPORT"
"""As the plugin spells it: the one path that every pytest of a command is given."""

NAME = "swathe_pytest_report"
METADATA = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1\n"
ENTRY_POINTS = f"[pytest11]\n{NAME} = {NAME}\n"


def lay_plugin(folder: Path) -> None:
    """Make `folder` one that, on PYTHONPATH, gives pytest our plugin.

    pytest is not told to load it, but finds it as it finds any installed one: a command that sets PYTHONPATH
    itself, or `python -I`, does not see the folder, and would fail on a plugin it was told to load. There,
    as before, of several pytests in one command the last one's report is kept.
    """
    about = folder / f"{NAME}-1.dist-info"
    about.mkdir(parents=True)
    shutil.copyfile(PLUGIN, folder / f"{NAME}.py")
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(ENTRY_POINTS)


def variables(plugin: Path, report: Path, cache: Path, python_path: str = "") -> dict[str, str]:
    """The environment of a command, for the pytests in it. `python_path` is what PYTHONPATH is without us."""
    return {
        "PYTHONPATH": os.pathsep.join(part for part in (str(plugin), python_path) if part),
        ASKED: str(report),
        "PYTEST_ADDOPTS": _options(report, cache),
    }


def _options(report: Path, cache: Path) -> str:
    """These win over the target's `addopts`, and lose to the command line.

    All tests are named, even behind a failure: finding the culprit needs names, not speed. xunit1 is the
    family that says which file a test is in. The cache is empty, so that `--lf` cannot choose the tests.
    """
    return shlex.join(
        [
            f"--junitxml={report}",
            *("-o", "junit_family=xunit1"),
            *("-o", f"cache_dir={cache}"),
            *("-o", f"junit_suite_name={reports.MARK}"),
            "--maxfail=0",
            "--continue-on-collection-errors",
        ]
    )
