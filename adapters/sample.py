"""The sample that ships with us: a small package in old idioms, with good tests."""

import shutil
from pathlib import Path

from domain.value import Refused

SAMPLE = Path(__file__).resolve().parent.parent / "deployments" / "sample"

AXIS = "ruff:UP,C4,SIM"
"""Every site of this axis lands."""

PARKING_AXIS = "ruff:F401"
"""Three of its ten sites break tests, and are parked."""


def create(folder: Path) -> None:
    """Copy the sample to `folder`, which must not exist yet. Git is not touched."""
    if not SAMPLE.is_dir():
        raise Refused(f"the sample is not at {str(SAMPLE)!r}. Install Swathe from a checkout.")
    leavings = shutil.ignore_patterns("__pycache__", ".*_cache", "*.pyc", "*.egg-info", ".venv")
    try:
        shutil.copytree(SAMPLE, folder, ignore=leavings)
    except FileExistsError:
        raise Refused(
            f"{str(folder)!r} exists already. Name a folder that does not exist yet."
        ) from None
    except OSError as error:
        raise Refused(
            f"cannot write the sample to {str(folder)!r}: {error.strerror or error}."
        ) from error
