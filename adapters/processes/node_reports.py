"""Reporters for the runners of Node, laid where the target's Node finds them."""

import shutil
from pathlib import Path

HERE = Path(__file__).parent
LAID = {
    "node_junit.cjs": "junit.cjs",
    "node_reporter.mjs": "node.mjs",
    "jest_reporter.cjs": "jest.cjs",
}


def lay_reporters(folder: Path) -> None:
    """Copied: in a sandbox the target's commands see nothing of our own folder."""
    folder.mkdir(parents=True)
    for ours, name in LAID.items():
        shutil.copyfile(HERE / ours, folder / name)
